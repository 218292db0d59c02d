// The forms in which sacct writes its rows: with a delimiter (`--parsable2`, `--delimiter`), as a table of fixed width,
// or as JSON (`--json`).
#pragma once

#include "collector/engines/log_lines.h"

namespace crema {

/// Unix time of `1795576651` (SLURM_TIME_FORMAT=%s), `2026-11-25T03:20:00+0100`, or `2026-11-25T03:20:00`, which is
/// this machine's local time. nullopt: `Unknown`, `None`, or anything else.
std::optional<LogTime> ParseSacctTime(std::string_view text);

/// `[days-][hours:]minutes:seconds[.fraction]`. nullopt: `UNLIMITED`, `Partition_Limit`, or anything else.
std::optional<int64_t> SacctDurationNs(std::string_view text);

/// What `ReqMem` asks for.
struct SacctMemory {
  enum class Of { kJob, kNode, kCore };
  int64_t bytes = 0;
  Of of = Of::kJob;  ///< until Slurm 21.08 a letter said it: `n`, `c`
};

/// `4G`, `1523.5M`, `812K`, `2000Mc`; without a unit they are bytes. nullopt: anything else.
std::optional<SacctMemory> ParseSacctMemory(std::string_view text);

/// One resource out of `cpu=2,mem=200M,node=1`; empty: it is not there.
std::string_view SacctResource(std::string_view text, std::string_view name);

struct SacctExit {
  int64_t code = 0;
  int64_t signal = 0;  ///< that ended it; 0: none
};

/// `0:9`, the code and the signal.
std::optional<SacctExit> ParseSacctExit(std::string_view text);

/// The nodes of `node[01-03,7],gpu1`, in order. Empty: there is none, or there are more than `most`.
std::vector<std::string> SacctNodes(std::string_view text, size_t most);

using SacctCells = std::vector<std::string>;

/// Which column holds what, from the line that names them.
class SacctHeader {
 public:
  SacctHeader() = default;
  explicit SacctHeader(std::string_view line);
  explicit SacctHeader(const SacctCells& names) { Name(names); }
  /// For rows without a header: nothing has a name before `Name`. `places`: offset and width of a table's columns.
  SacctHeader(char delimiter, size_t columns) : delimiter_(delimiter), columns_(columns) {}
  explicit SacctHeader(std::vector<std::pair<size_t, size_t>> places)
      : delimiter_(' '), columns_(places.size()), places_(std::move(places)) {}
  /// One name for each column; empty: it is not known.
  void Name(const SacctCells& names);
  /// It names jobs, and something of them.
  bool is_sacct() const;
  /// When jobs ran can be read from these columns.
  bool has_times() const { return Has("Start") ? Has("End") || Has("Elapsed") : Has("End") && Has("Elapsed"); }
  bool is_table() const { return delimiter_ == ' '; }
  bool Has(std::string_view name) const { return column_of_.count(name) > 0; }
  /// Empty if there is no column of this name.
  std::string_view Of(const SacctCells& row, std::string_view name) const;

  /// For a table: takes the widths of its columns from the line of dashes below. False if the line has none.
  bool TakeWidths(std::string_view dashes);
  /// Cells of a line; nullopt: it is none of this header. One cell of a free text or a list (a job's name, a command,
  /// nodes) may hold the delimiter, where the other cells then make sense.
  std::optional<SacctCells> Split(std::string_view line) const;

 private:
  bool MakesSense(const SacctCells& row) const;

  char delimiter_ = '|';
  std::map<std::string, size_t, std::less<>> column_of_;
  size_t columns_ = 0;
  std::vector<std::pair<size_t, size_t>> places_;  // of a table's columns
};

/// The state that a cell begins with: CANCELLED of `CANCELLED by 1000`, and OUT_OF_MEMORY of `OUT_OF_ME+`, which a
/// column of a table cut. Empty: it begins with none.
std::string_view SacctState(std::string_view text);

/// What `sacct --json` wrote, as rows below `*header`. Errors: it is not JSON, or of another form.
absl::StatusOr<std::vector<SacctCells>> ReadSacctJson(const std::string& text, SacctHeader* header);

/// What sacct wrote with --noheader: which column is which, by what the cells hold.
/// The columns that nothing else can be: JobID, JobIDRaw, State, ExitCode, Start, End. Others stay without a name.
/// `text` begins with the first row. nullopt: not all of JobID, State, Start and End can be recognised.
std::optional<SacctHeader> RecogniseSacctColumns(std::string_view text);

}  // namespace crema
