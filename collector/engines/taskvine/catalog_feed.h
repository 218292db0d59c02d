// What a catalog tells of managers, for whoever shows the run.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FEED_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FEED_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "collector/engines/engine.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Takes lines of `ManagersIn`. Between two of them it tells which tasks were done, by category; a catalog does not
/// know on which worker, how long they took, or at what rate they end: it hears of them once a minute.
class CatalogFeed : public EngineFeed {
 public:
  /// `engine` is what people call it: `TaskVine`. `run` outlives this.
  CatalogFeed(std::string engine, LiveRun* run);
  void Add(std::string_view bytes) override;
  void Tick() override;

 private:
  struct Told {
    int64_t lost = 0;
    std::map<std::string, int64_t> done;  ///< by category
    SchedulerFact scheduler;              ///< as it was told last, without what ended
    int64_t heard_s = 0;                  ///< when the catalog heard of it
    bool is_late = false;
  };
  void AddManager(const nlohmann::json& manager);
  void Tell(Told* told);
  static void TellTasks(const nlohmann::json& manager, bool is_known, Told* told, SchedulerFact* scheduler);

  std::string engine_;
  LiveRun* run_;
  std::string held_;                      ///< of a line that is not whole yet
  std::map<std::string, Told> managers_;  ///< by address, and when each began
  bool has_begun_ = false;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FEED_H_
