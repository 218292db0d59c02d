// What managers tell a catalog, the server of the Cooperative Computing Tools at which they are found by name.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FOLLOWER_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FOLLOWER_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"
#include "collector/engines/engine.h"

namespace crema {

/// `taskvine://HOST:PORT/NAME`: a catalog, and the name that a manager has there.
struct CatalogAddress {
  std::string server;   ///< `HOST:PORT`; the usual port where none was given
  std::string project;  ///< empty: all managers of the engine
};
CatalogAddress ParseCatalogAddress(std::string_view address);

/// Of an answer to `/query.json`: the managers of this `type` and name, as one JSON list in a line. Errors: it is none.
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_CATALOG_FOLLOWER_H_
