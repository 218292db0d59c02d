// The lines of `transactions`: what happened to workers and tasks, each with the manager's time in microseconds.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_TRANSACTIONS_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_TRANSACTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/records/cluster_facts.h"

namespace crema {

enum class VineLine { kTaken, kUnknown, kMalformed, kTorn };

/// Which engine's manager wrote the lines: what processes say of themselves in its tasks.
struct TaskNames {
  std::string_view engine = "taskvine";  ///< `process.engine.name`
  std::string_view directory = "task.";  ///< a task's directory, but for the task's number
};

/// What happened to a manager's tasks since it was told last.
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

  /// For who follows the lines while they grow: calls `visit` for each manager. Its tasks that were told are forgotten,
  /// so nothing is left to `Finish`.
  void TellNews(const std::function<void(const VineNews&)>& visit);

 private:
  /// One attempt at a task, as far as it came. Times are the manager's, but those of the worker.
  struct Attempt {
    std::string category;
    int64_t number = 0;
    int64_t ready_ns = 0;
    std::string worker;
    int32_t cores = 0;                  ///< that it was given; 0: not told
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_TRANSACTIONS_H_
