#include "collector/engines/taskvine/taskvine_engine.h"

#include <memory>

#include "collector/engines/taskvine/vine_feed.h"
#include "collector/engines/taskvine/vine_log.h"
#include "collector/engines/taskvine/worker_directory.h"

namespace crema {
namespace {

constexpr EngineTraits kTraits = {
    "TaskVine", "manager", "task", "TaskVine run directories (vine-run-info)", {}, {}, "taskvine",
};

absl::StatusOr<EngineReading> Read(const std::string& log) { return ReadVineLog(log); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string& log, LiveRun* run) {
  return std::make_unique<VineFeed>("TaskVine", TaskNames(), log, run);
}

}  // namespace

const Engine kTaskVine = {kTraits,     "",      kVineLogSuffix, FindVineLog, Read,
                          KeepVineLog, nullptr, nullptr,        MakeFeed,    PidOfWorkerDirectory};

}  // namespace crema
