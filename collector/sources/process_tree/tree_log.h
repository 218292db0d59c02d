// The process-tree log (`*.tree.ndjson`, `crema.tree/1`): written line by line while the job runs, so that a killed
// `crema run` leaves what it saw; read, and what it comes to.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "collector/idioms/descriptor.h"
#include "collector/records/tree_facts.h"

namespace crema {

/// The larger one of those that are known.
inline std::optional<int64_t> Larger(std::optional<int64_t> a, std::optional<int64_t> b) { return std::max(a, b); }

/// nullopt where the whole is not known.
template <class Value>
std::optional<int64_t> Field(const std::optional<Value>& from, int64_t Value::*field) {
  return from.has_value() ? std::optional<int64_t>((*from).*field) : std::nullopt;
}

/// What samples of one GPU came to, while processes of the tree used it, or may have.
struct TreeGpuUse {
  std::string name;
  int64_t samples = 0;  ///< in which the tree used it, or somebody unknown did; 0: none
  int64_t utilization_sum = 0;
  int64_t utilization_samples = 0;
  std::optional<int64_t> peak_memory_bytes;  ///< of the tree; nullopt: whose memory it is was never known
  int64_t other_percent_sum = 0;
  int64_t other_percent_samples = 0;
  std::optional<int64_t> energy_mj;  ///< of whoever used it, while the run went on

  void Add(const TreeGpu& gpu);
};

/// One `crema run`, folded from its facts as they were written. A log cut short (crema was killed, or still runs)
/// gives what it had by then.
struct TreeRun {
  TreeRunFact run;
  TreeTotals totals;               ///< as of the last fact
  int64_t last_ns = 0;             ///< latest time stamp
  std::optional<TreeEndFact> end;  ///< absent: crema was killed or still runs
  bool running = false;            ///< its log is still locked
  int64_t samples = 0;
  int64_t largest_gap_ns = 0;        ///< between two samples in a row
  int64_t largest_rss_with_pss = 0;  ///< bytes, of the samples that have a PSS
  /// Core time: between two samples what threads waited for a CPU, at most the unused core time.
  std::optional<int64_t> cpu_wait_ns;
  /// Per (pid, start), by time: for `ProcessRow::samples`.
  std::map<std::pair<int64_t, int64_t>, std::vector<ProcessSample>> processes;

  /// Per (pid, start): the largest of each, with what `crema run` waited for.
  std::map<std::pair<int64_t, int64_t>, ProcessCounts> counts;

  std::map<int64_t, TreeReapFact> reaped;  ///< by pid, the last of it

  std::map<std::pair<int64_t, int64_t>, std::string> names;  ///< of those processes
  /// The tree as a whole, by time: every sample without its rows, of long runs every 2nd, 4th and so on.
  std::vector<TreeSampleFact> points;
  std::map<int64_t, TreeGpuUse> gpus;  ///< by index

  /// For a process that has a row, with what wait4(2) said of it.
  ProcessCounts CountsOf(const std::pair<int64_t, int64_t>& pid_and_start) const;

  void Add(const TreeSampleFact& sample);
  void Add(const TreeReapFact& fact);
  void Add(const TreeEndFact& end);

 private:
  void AddCpuWait(const TreeSampleFact& sample);

  int64_t reaped_user_ns_ = 0;
  int64_t reaped_system_ns_ = 0;
  int64_t last_sample_ns_ = 0;
  int64_t points_every_ = 1;
  std::optional<int64_t> pss_since_point_;  ///< the latest reading that no point has yet
};

/// One line of such a log; nothing: it is of a type, or another schema, that this reader does not know.
using TreeLine = std::variant<std::monostate, TreeRunFact, TreeSampleFact, TreeReapFact, TreeEndFact>;

/// Errors: DataLoss: not JSON; InvalidArgument: no type.
absl::StatusOr<TreeLine> ParseTreeLine(const std::string& text);

/// What was read, and what could not be.
struct TreeLogReading {
  TreeRun run;
  int64_t lines = 0;
  int64_t malformed = 0;
  int64_t torn = 0;                   ///< a last line without its end: the writer was killed in it, or is at it
  int64_t unknown = 0;                ///< lines of a type that this reader does not know
  std::vector<std::string> problems;  ///< `file:line: what`, the first ten

  /// Adds a problem of the line that was read last.
  void AddProblem(const std::string& path, std::string_view what);
};

/// Called for each sample, in the order of the log, where a series is wanted and not only what it comes to.
using OnTreeSample = std::function<void(const TreeSampleFact&)>;

/// Reads one log. Bad lines are counted and named, the rest is used. A log still locked by its writer is `running`.
/// Errors: it cannot be opened; its first line is no `run` line of this schema (another program's file, or torn).
absl::StatusOr<TreeLogReading> ReadTreeLog(const std::string& path, const OnTreeSample& on_sample = {});

/// Each appends one JSON object and a newline. Text that is not UTF-8 (a command line may be anything) is mended with
/// U+FFFD. `with_rows`: the processes of the sample one by one, too.
void AppendLine(const TreeRunFact& run, std::string* out);
void AppendLine(const TreeSampleFact& sample, bool with_rows, std::string* out);
void AppendLine(const TreeReapFact& reaped, std::string* out);
void AppendLine(const TreeEndFact& end, std::string* out);

/// One file, mode 0600, held with flock(2) while it lives. Each line is one write(2); a full disk costs lines, which
/// are counted, and never the job. SIGXFSZ must be ignored by the caller where RLIMIT_FSIZE is finite.
class TreeLogWriter {
 public:
  /// Creates `directory`/<host>-<pid>-<start_ns>.tree.ndjson; it must not exist yet.
  static absl::StatusOr<TreeLogWriter> Create(const std::string& directory, const std::string& host, int64_t pid,
                                              int64_t start_ns);

  /// The run, a process that was waited for, or the end.
  template <class Fact>
  void Write(const Fact& fact) {
    AppendLine(fact, &line_);
    WriteLine();
  }
  /// After 32 MiB, processes one by one are written with every tenth sample only.
  void Write(const TreeSampleFact& sample);

  const std::string& path() const { return path_; }
  /// Lines that could not be written.
  int64_t dropped() const { return dropped_; }

 private:
  TreeLogWriter(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  void WriteLine();

  std::string path_;
  Descriptor file_;
  std::string line_;
  int64_t written_bytes_ = 0;
  int64_t samples_ = 0;
  int64_t dropped_ = 0;
  bool torn_ = false;  // the last line is only partly there
};

}  // namespace crema
