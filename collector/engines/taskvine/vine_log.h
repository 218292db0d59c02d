// What a TaskVine manager writes into its run directory: `vine-run-info/<date>/vine-logs/`.
#pragma once

#include <cstddef>
#include <set>

#include "collector/engines/engines.h"
#include "collector/records/cluster_facts.h"

namespace crema {

/// The lines of `transactions`: what happened to workers and tasks, each with the manager's time in microseconds.
enum class VineLine { kTaken, kUnknown, kMalformed, kTorn };

/// Which engine's manager wrote the lines: what processes say of themselves in its tasks.
struct TaskNames {
  std::string_view engine = "taskvine";  ///< `process.engine.name`
  std::string_view directory = "task.";  ///< a task's directory, but for the task's number
};

/// What happened to a manager's tasks since the last report.
struct VineNews {
  const ClusterFact* cluster = nullptr;  ///< with all its workers, and the tasks that ended since; until the next call
  int64_t ready = 0;                     ///< tasks that no worker has
  int64_t running = 0;                   ///< tasks that a worker has, output that waits there included
  int64_t pid = 0;                       ///< of the manager
};

/// Takes lines in order, and makes a cluster of each manager. Work Queue's older forms of the lines are taken too.
class VineTransactions {
 public:
  explicit VineTransactions(const TaskNames& names = {}) : names_(names) {}
  VineLine Add(std::string_view line);
  std::vector<ClusterFact> Finish() &&;

  /// For who follows the lines while they grow: calls `visit` for each manager. It forgets the tasks that it reported,
  /// so nothing is left to `Finish`.
  void ReportNews(const std::function<void(const VineNews&)>& visit);

 private:
  /// One attempt at a task, as far as it came. Times are the manager's, but those of the worker.
  struct Attempt {
    std::string category;
    int64_t number = 0;
    int64_t ready_ns = 0;
    std::string worker;
    int32_t cores = 0;                  ///< that it was given; 0: not known
    std::optional<int64_t> commit_ns;   ///< these were held from here; nullopt: it was not sent
    std::optional<int64_t> sent_ns;     ///< all that it needs was there
    std::optional<int64_t> waiting_ns;  ///< the manager heard that it ended
    std::optional<int64_t> worker_start_ns;
    std::optional<int64_t> worker_stop_ns;
  };
  struct Manager {
    ClusterFact cluster;
    int64_t pid = 0;
    std::map<int64_t, Attempt> attempts;  // open ones, by task
    std::set<int64_t> libraries;
    std::map<int64_t, size_t> last_tries;       // by task: index of the last in `cluster`; not of cancelled ones
    std::map<std::string, size_t> workers;      // by id: index of the last
    std::map<std::string, std::string> ids;     // Work Queue names workers by their address in lines of tasks
    std::vector<std::optional<Attempt>> timed;  // by task in `cluster`: those with times of the worker
  };
  struct Event;

  Manager& ManagerOf(int64_t pid, int64_t time_ns);
  static VineLine AddWorker(const Event& event, Manager* manager);
  VineLine AddTask(const Event& event, Manager* manager) const;
  void EndAttempt(int64_t task, int64_t time_ns, bool failed, Manager* manager) const;
  static void AlignClocks(Manager* manager);

  TaskNames names_;
  std::vector<Manager> managers_;
};

/// The manager's own sums, `performance`: rows of numbers under a line that names them.
/// Columns differ from version to version, so each is found by its name.
class VinePerformance {
 public:
  /// False: the line is none of this log's.
  bool Add(std::string_view line);

  /// The last row, by column; empty: there was none.
  const std::map<std::string, double, std::less<>>& last() const { return last_; }

  /// Names what the transactions lack of what was counted here: in complaints of the last of `clusters`.
  void Compare(std::vector<ClusterFact>* clusters) const;

 private:
  std::vector<std::string> columns_;
  std::map<std::string, double, std::less<>> last_;
};

/// What the name of a kept log ends with: the manager's transactions, and after them its performance log.
inline constexpr std::string_view kVineLogSuffix = ".taskvine.log";

/// The transactions of a run: `path` is the file, the directory that holds it, that of the run, or `vine-run-info` with
/// its runs. Of several runs the one that `most-recent` names, else the last by name. nullopt: it is none of these.
std::optional<std::string> FindVineLog(const std::string& path);

/// Whether the first line of a file begins so; false: it cannot be read.
bool BeginsWithLine(const std::string& path, std::string_view beginning);

/// Reads transactions of an engine with these names for its tasks, and the performance log that lies beside them or
/// follows in the same file. Errors: the file cannot be read.
absl::StatusOr<EngineReading> ReadVineLog(const std::string& path, const TaskNames& names = {});

/// Keeps both as `<name>.taskvine.log` in `directory`. Errors: a file cannot be read or written.
absl::Status KeepVineLog(const std::string& path, const std::string& directory, const std::string& name);

/// The process of the worker whose directory stands in a path; nullopt: none does.
std::optional<int64_t> PidOfWorkerDirectory(std::string_view path);

/// Follows transactions. `engine` is what people call it: `TaskVine`. `log` is the file of the transactions. `run`
/// outlives it.
std::unique_ptr<EngineFeed> MakeVineFeed(std::string engine, const TaskNames& names, std::string log, LiveRun* run);

}  // namespace crema
