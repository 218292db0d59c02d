// What a catalog tells of managers, for whoever shows the run.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FEED_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FEED_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "collector/engines/engine.h"
#include "nlohmann/json.hpp"

namespace crema {

/// `taskvine://HOST:PORT/NAME`: a catalog, and the name that a manager has there.
struct CatalogAddress {
  std::string server;   ///< `HOST:PORT`; the usual port where none was given
  std::string project;  ///< empty: all managers of the engine
};
CatalogAddress ParseCatalogAddress(std::string_view address);

/// The managers of this `type` and name in an answer to `/query.json`, as one line with a JSON list. Fails if the text
/// is no such answer.
absl::StatusOr<std::string> ManagersIn(const std::string& answer, std::string_view type, const std::string& project);

/// Asks a catalog, which hears of its managers once a minute, every ten seconds, on a thread of its own.
class CatalogFollower : public EngineFollower {
 public:
  /// `type`: what the catalog calls the engine's managers, `vine_manager`.
  CatalogFollower(const std::string& address, std::string type);
  ~CatalogFollower() override;
  CatalogFollower(const CatalogFollower&) = delete;
  CatalogFollower& operator=(const CatalogFollower&) = delete;

  EngineNews Take() override;

 private:
  void Follow();

  CatalogAddress address_;
  std::string type_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  EngineNews news_;
  std::thread thread_;
};

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
