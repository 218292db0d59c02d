#include "collector/engines/engines.h"

#include "absl/algorithm/container.h"
#include "collector/compression/decompressed_file.h"

namespace crema {
namespace {

std::vector<const Engine*>& Table() {
  static std::vector<const Engine*> table = {
      &kDask,      // docs/dask_log.md
      &kTaskVine,  // docs/engines.md
      &kWorkQueue, &kSlurm, &kHtcondor,
  };
  return table;
}

template <class Passes>
const Engine* FirstThat(const Passes& passes) {
  const auto found = absl::c_find_if(Table(), [&](const Engine* engine) { return passes(*engine); });
  return found == Table().end() ? nullptr : *found;
}

}  // namespace

const std::vector<const Engine*>& Engines() { return Table(); }

AddedEngine::AddedEngine(const Engine& engine) { Table().push_back(&engine); }

AddedEngine::~AddedEngine() { Table().pop_back(); }

const Engine* EngineOfAddress(std::string_view source) {
  return FirstThat([&](const Engine& engine) {
    return !engine.scheme.empty() && source.substr(0, engine.scheme.size()) == engine.scheme;
  });
}

const Engine* EngineOfLogName(std::string_view path) {
  return FirstThat([&](const Engine& engine) { return HasSuffixBeforeCompression(path, engine.log_suffix); });
}

const Engine* EngineNamed(std::string_view text) {
  return FirstThat([&](const Engine& engine) {
    const std::string_view name = engine.traits.name;
    return text.substr(0, name.size()) == name && (text.size() == name.size() || text[name.size()] == ' ');
  });
}

std::optional<int64_t> PidOfEngineWorker(std::string_view directory) {
  for (const Engine* engine : Table()) {
    if (engine->pid_of_worker == nullptr) continue;
    if (const std::optional<int64_t> pid = engine->pid_of_worker(directory)) return pid;
  }
  return std::nullopt;
}

std::optional<EngineLog> FindEngineLog(const std::string& path) {
  for (const Engine* engine : Table()) {
    if (std::optional<std::string> log = engine->find_log(path)) return EngineLog{engine, *std::move(log)};
  }
  return std::nullopt;
}

}  // namespace crema
