// TaskVine (https://ccl.cse.nd.edu/software/taskvine/): the logs that its manager writes.
#include <memory>

#include "collector/engines/engines.h"
#include "collector/engines/taskvine/catalog_feed.h"
#include "collector/engines/taskvine/vine_log.h"

namespace crema {
namespace {

constexpr EngineTraits kTraits = {
    "TaskVine", "manager", "task", "TaskVine run directories (vine-run-info)", "taskvine://CATALOG:PORT/NAME",
    {},         "taskvine"};
constexpr std::string_view kScheme = "taskvine://";

absl::StatusOr<EngineReading> Read(const std::string& log) { return ReadVineLog(log); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string& log, LiveRun* run) {
  if (log.compare(0, kScheme.size(), kScheme) == 0) return std::make_unique<CatalogFeed>("TaskVine", run);
  return std::make_unique<VineFeed>("TaskVine", TaskNames(), log, run);
}

std::unique_ptr<EngineFollower> Follow(const std::string& address) {
  return std::make_unique<CatalogFollower>(address, "vine_manager");
}

}  // namespace

const Engine kTaskVine = {kTraits, kScheme, kVineLogSuffix, FindVineLog,          Read,       nullptr,
                          nullptr, Follow,  MakeFeed,       PidOfWorkerDirectory, KeepVineLog};

}  // namespace crema
