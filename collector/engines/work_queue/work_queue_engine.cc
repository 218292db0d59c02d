#include "collector/engines/work_queue/work_queue_engine.h"

#include <memory>

#include "collector/engines/taskvine/vine_feed.h"
#include "collector/engines/taskvine/vine_log.h"
#include "collector/engines/taskvine/worker_directory.h"

namespace crema {
namespace {

constexpr EngineTraits kTraits = {
    "Work Queue", "manager", "task", "transaction logs of Work Queue", {}, {}, "work_queue",
};

constexpr TaskNames kNames = {"work_queue", "t."};

std::optional<std::string> Find(const std::string& path) {
  return BeginsWithLine(path, "# time manager_pid MANAGER START|END") ? std::optional(path) : std::nullopt;
}

// TaskVine came out of Work Queue: its manager writes the same lines, and the times of workers besides.
absl::StatusOr<EngineReading> Read(const std::string& log) { return ReadVineLog(log, kNames); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string& log, LiveRun* run) {
  return std::make_unique<VineFeed>("Work Queue", kNames, log, run);
}

}  // namespace

const Engine kWorkQueue = {kTraits, "",      ".work-queue.log", Find,     Read,
                           nullptr, nullptr, nullptr,           MakeFeed, PidOfWorkerDirectory};

}  // namespace crema
