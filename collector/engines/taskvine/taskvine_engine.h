// What a catalog knows of managers, for whoever shows the run.
#pragma once

#include "collector/engines/engines.h"

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

/// Asks a catalog, which hears of its managers once a minute, every ten seconds, on a thread of its own. `type`: what
/// the catalog calls the engine's managers, `vine_manager`.
std::unique_ptr<EngineFollower> FollowCatalog(const std::string& address, std::string type);

/// Takes lines of `ManagersIn`. `engine` is what people call it: `TaskVine`. `run` outlives it.
std::unique_ptr<EngineFeed> MakeCatalogFeed(std::string engine, LiveRun* run);

}  // namespace crema
