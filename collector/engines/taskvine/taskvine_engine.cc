// TaskVine (https://ccl.cse.nd.edu/software/taskvine/), and Work Queue, from which it came
// (https://ccl.cse.nd.edu/software/workqueue/): the logs that their managers write. Those of TaskVine have the same
// lines, and the times of workers besides; a program asks Work Queue's manager for its log of transactions.
#include <memory>

#include "collector/engines/engines.h"
#include "collector/engines/taskvine/catalog_feed.h"
#include "collector/engines/taskvine/vine_log.h"

namespace crema {
namespace {

constexpr EngineTraits kVineTraits = {
    "TaskVine", "manager", "task", "TaskVine run directories (vine-run-info)", "taskvine://CATALOG:PORT/NAME",
    {},         "taskvine"};
constexpr EngineTraits kQueueTraits = {
    "Work Queue", "manager",   "task", "transaction logs of Work Queue", "workqueue://CATALOG:PORT/NAME",
    {},           "work_queue"};
constexpr TaskNames kVineNames, kQueueNames = {"work_queue", "t."};

std::optional<std::string> FindQueueLog(const std::string& path) {
  return BeginsWithLine(path, "# time manager_pid MANAGER START|END") ? std::optional(path) : std::nullopt;
}

template <const TaskNames& kNames>
absl::StatusOr<EngineReading> Read(const std::string& log) {
  return ReadVineLog(log, kNames);
}

/// `log` is an address where a catalog is followed.
template <const EngineTraits& kTraits, const TaskNames& kNames>
std::unique_ptr<EngineFeed> MakeFeed(const std::string& log, LiveRun* run) {
  const std::string name(kTraits.name);
  const bool is_address = EngineOfAddress(log) != nullptr;
  return is_address ? MakeCatalogFeed(name, run) : MakeVineFeed(name, kNames, log, run);
}

std::unique_ptr<EngineFollower> FollowVine(const std::string& address) {
  return FollowCatalog(address, "vine_manager");
}
std::unique_ptr<EngineFollower> FollowQueue(const std::string& address) { return FollowCatalog(address, "wq_master"); }

}  // namespace

const Engine kTaskVine = {kVineTraits,
                          "taskvine://",
                          kVineLogSuffix,
                          FindVineLog,
                          Read<kVineNames>,
                          nullptr,
                          nullptr,
                          FollowVine,
                          MakeFeed<kVineTraits, kVineNames>,
                          PidOfWorkerDirectory,
                          KeepVineLog};
const Engine kWorkQueue = {kQueueTraits,
                           "workqueue://",
                           ".work-queue.log",
                           FindQueueLog,
                           Read<kQueueNames>,
                           nullptr,
                           nullptr,
                           FollowQueue,
                           MakeFeed<kQueueTraits, kQueueNames>,
                           PidOfWorkerDirectory};

}  // namespace crema
