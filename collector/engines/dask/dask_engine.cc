#include "collector/engines/dask/dask_engine.h"

#include <filesystem>
#include <system_error>

#include "collector/engines/dask/dask_client.h"
#include "collector/engines/dask/dask_feed.h"
#include "collector/engines/dask/dask_follower.h"
#include "collector/engines/dask/dask_log.h"

namespace crema {
namespace {

std::optional<std::string> FindDaskLog(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || !IsDaskLog(path)) return std::nullopt;
  return path;
}

std::unique_ptr<EngineFollower> Follow(const std::string& address) { return std::make_unique<DaskFollower>(address); }

std::unique_ptr<EngineFeed> MakeFeed(const std::string&, LiveRun* run) { return std::make_unique<DaskFeed>(run); }

// configuration `distributed.worker.memory.spill` and `.pause`
constexpr EngineMemory kMemory = {
    0.70, 0.80, "the same under Dask",
    "largest worker against its limit: Dask spills to disk from 70 % and pauses a worker at 80 %",
    "spills and pauses earlier"};

constexpr EngineTraits kTraits = {
    "Dask", "scheduler", "task", "Dask logs saved by crema_hep (*.ndjson)", "dask://HOST:PORT", kMemory,
};

}  // namespace

const Engine kDask = {kTraits,      kDaskScheme, kDaskLogSuffix, FindDaskLog, ReadDaskLog,
                      SplitDaskLog, PullDaskLog, Follow,         MakeFeed};

}  // namespace crema
