// Work Queue (https://ccl.cse.nd.edu/software/workqueue/): the log of transactions that a program asks its manager for.
#include <memory>

#include "collector/engines/engines.h"
#include "collector/engines/taskvine/catalog_feed.h"
#include "collector/engines/taskvine/vine_log.h"

namespace crema {
namespace {

constexpr EngineTraits kTraits = {
    "Work Queue", "manager",   "task", "transaction logs of Work Queue", "workqueue://CATALOG:PORT/NAME",
    {},           "work_queue"};
constexpr std::string_view kScheme = "workqueue://";

constexpr TaskNames kNames = {"work_queue", "t."};

std::optional<std::string> Find(const std::string& path) {
  return BeginsWithLine(path, "# time manager_pid MANAGER START|END") ? std::optional(path) : std::nullopt;
}

// TaskVine came out of Work Queue: its manager writes the same lines, and the times of workers besides.
absl::StatusOr<EngineReading> Read(const std::string& log) { return ReadVineLog(log, kNames); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string& log, LiveRun* run) {
  if (log.compare(0, kScheme.size(), kScheme) == 0) return std::make_unique<CatalogFeed>("Work Queue", run);
  return std::make_unique<VineFeed>("Work Queue", kNames, log, run);
}

std::unique_ptr<EngineFollower> Follow(const std::string& address) {
  return std::make_unique<CatalogFollower>(address, "wq_master");
}

}  // namespace

const Engine kWorkQueue = {kTraits, kScheme,  ".work-queue.log",   Find, Read, nullptr, nullptr,
                           Follow,  MakeFeed, PidOfWorkerDirectory};

}  // namespace crema
