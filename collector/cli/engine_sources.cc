#include "collector/cli/engine_sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "collector/engines/engines.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

/// What the run is called where nobody names it: the address, or the log without its ending.
std::string NameOf(const std::string& source, const Engine& engine) {
  if (EngineOfAddress(source) != nullptr) return source.substr(source.rfind('/') + 1);
  fs::path path = fs::path(source).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  std::string name = path.filename().string();
  for (const std::string_view ending : {engine.log_suffix, std::string_view(".ndjson")}) {
    if (name.size() <= ending.size()) continue;
    const size_t rest = name.size() - ending.size();
    if (name.compare(rest, ending.size(), ending) == 0) return name.substr(0, rest);
  }
  return name;
}

/// The engine whose address or log it is; of an address the path is empty.
std::optional<EngineLog> FindEngine(const std::string& source) {
  const Engine* engine = EngineOfAddress(source);
  return engine == nullptr ? FindEngineLog(source) : EngineLog{engine, ""};
}

/// The folder with what it holds.
absl::StatusOr<std::string> UnpackInto(const fs::path& directory, EngineLog log, const std::string& source) {
  const std::string name = NameOf(source, *log.engine);
  const fs::path folder = directory / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(fmt::format("{}: {}", folder.string(), error.message()));
  if (log.path.empty()) {
    if (log.engine->pull == nullptr) {
      return absl::InvalidArgumentError(
          fmt::format("{}: it tells of this moment only, which crema serve and crema top follow; collect {} instead",
                      source, log.engine->traits.logs));
    }
    log.path = (directory / "pulled").string();
    if (absl::Status pulled = log.engine->pull(source, log.path); !pulled.ok()) return pulled;
  }
  if (absl::Status unpacked = log.engine->unpack(log.path, folder.string(), name); !unpacked.ok()) return unpacked;
  return folder.string();
}

/// Of the engines that have addresses; of those that can be collected from, or of all.
std::string JoinOver(bool all, const std::function<std::string(const EngineTraits&)>& text) {
  std::vector<std::string> texts;
  for (const Engine* engine : Engines()) {
    if (engine->traits.dashboard.empty() || !(all || engine->pull != nullptr)) continue;
    texts.push_back(text(engine->traits));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

absl::StatusOr<std::shared_ptr<TemporaryDirectory>> UnpackEngineSources(std::vector<std::string>* sources) {
  std::shared_ptr<TemporaryDirectory> directory;
  int number = 0;
  for (std::string& source : *sources) {
    const std::optional<EngineLog> log = FindEngine(source);
    if (!log.has_value() || (log->engine->unpack == nullptr && !log->path.empty())) continue;
    if (directory == nullptr) {
      absl::StatusOr<std::unique_ptr<TemporaryDirectory>> made = TemporaryDirectory::Make();
      if (!made.ok()) return made.status();
      directory = *std::move(made);
    }
    const fs::path folder = fs::path(directory->path()) / std::to_string(number++);
    const absl::StatusOr<std::string> unpacked = UnpackInto(folder, *log, source);
    if (!unpacked.ok()) return unpacked.status();
    source = *unpacked;
  }
  return directory;
}

std::string EngineSourcesHelp() {
  std::string logs;
  for (const Engine* engine : Engines()) logs += fmt::format(", {}", engine->traits.logs);
  return JoinOver(false,
                  [](const EngineTraits& traits) {
                    return fmt::format("{} (a {}'s dashboard)", traits.dashboard, traits.scheduler);
                  }) +
         logs;
}

std::string EngineAddressesHelp() {
  return JoinOver(true, [](const EngineTraits& traits) { return std::string(traits.dashboard); });
}

std::string EngineSchedulersHelp() {
  return JoinOver(false,
                  [](const EngineTraits& traits) { return fmt::format("a {} {}", traits.name, traits.scheduler); });
}

}  // namespace crema
