// The engines that the collector knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/engines/engine.h"

namespace crema {

/// Each in a folder of its own.
extern const Engine kDask, kTaskVine, kWorkQueue, kSlurm, kHtcondor;

/// All of them, in the order in which each source is shown to them.
const std::vector<const Engine*>& Engines();

/// Makes one more engine known for as long as this lives. For tests, and for these before anything is read.
class AddedEngine {
 public:
  explicit AddedEngine(const Engine& engine);
  ~AddedEngine();
  AddedEngine(const AddedEngine&) = delete;
  AddedEngine& operator=(const AddedEngine&) = delete;
};

/// The engine to whose scheme an address belongs; nullptr: it is none, or a path.
const Engine* EngineOfAddress(std::string_view source);

/// The engine whose log is kept under such a name beside record logs; nullptr: none.
const Engine* EngineOfLogName(std::string_view path);

/// The engine that `run.engine` names: `Dask 2025.11.0`; nullptr: none that is known.
const Engine* EngineNamed(std::string_view text);

/// The process of the worker below whose directory a task ran; nullopt: no engine knows such a path.
std::optional<int64_t> PidOfEngineWorker(std::string_view directory);

/// A path that an engine takes for its own.
struct EngineLog {
  const Engine* engine;
  std::string path;  ///< of the log
};

/// nullopt: no engine does.
std::optional<EngineLog> FindEngineLog(const std::string& path);

}  // namespace crema
