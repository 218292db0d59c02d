// What a manager writes while its run goes on.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_FEED_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_FEED_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "collector/engines/engine.h"
#include "collector/engines/taskvine/vine_performance.h"
#include "collector/engines/taskvine/vine_transactions.h"

namespace crema {

/// Follows transactions: once a second it tells of each manager how many workers, cores and tasks it has, which tasks
/// ended, and which workers were lost.
class VineFeed : public EngineFeed {
 public:
  /// `engine` is what people call it: `TaskVine`. `log` is the file of the transactions. `run` outlives this.
  VineFeed(std::string engine, const TaskNames& names, std::string log, LiveRun* run);
  void Add(std::string_view bytes) override;
  void Tick() override;

 private:
  /// What was told of a manager.
  struct Told {
    bool is_followed = false;  ///< from the second time on: what the log held at first happened before
    bool is_closed = false;
    std::set<size_t> lost;                  ///< of its workers, by index
    std::map<std::string, double> seconds;  ///< of its tasks, by category
  };
  void AddLine(std::string_view line);
  void Tell(const VineNews& news);
  void TellWorkers(const ClusterFact& cluster, const std::string& address, Told* told, SchedulerFact* scheduler);

  std::string engine_;
  std::string log_;
  LiveRun* run_;
  VineTransactions transactions_;
  VinePerformance performance_;
  std::string held_;                      ///< of a line that is not whole yet
  std::map<std::string, Told> managers_;  ///< by epoch
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_VINE_FEED_H_
