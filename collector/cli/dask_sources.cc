#include "collector/cli/dask_sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "collector/sources/dask/dask_client.h"
#include "collector/sources/dask/dask_log.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

bool IsDask(const std::string& source) {
  std::error_code error;
  return IsDaskAddress(source) || (fs::is_regular_file(source, error) && IsDaskLog(source));
}

/// What the run is called where nobody names it: the address, or the file without its ending.
std::string NameOf(const std::string& source) {
  if (IsDaskAddress(source)) return source.substr(source.rfind('/') + 1);
  std::string name = fs::path(source).filename().string();
  for (const std::string& ending : {std::string(kDaskLogSuffix), std::string(".ndjson")}) {
    if (name.size() <= ending.size()) continue;
    const size_t rest = name.size() - ending.size();
    if (name.compare(rest, ending.size(), ending) == 0) return name.substr(0, rest);
  }
  return name;
}

absl::Status Unpack(const std::string& source, const fs::path& directory, std::string* unpacked) {
  const std::string name = NameOf(source);
  const fs::path folder = directory / name;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return absl::UnavailableError(fmt::format("{}: {}", folder.string(), error.message()));
  std::string log = source;
  if (IsDaskAddress(source)) {
    log = (directory / "pulled").string();
    absl::Status pulled = PullDaskLog(source, log);
    if (absl::IsNotFound(pulled)) pulled = DescribeBareScheduler(source, log);
    if (!pulled.ok()) return pulled;
  }
  if (absl::Status split = SplitDaskLog(log, folder.string(), name); !split.ok()) return split;
  *unpacked = folder.string();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<TemporaryDirectory>> UnpackDaskSources(std::vector<std::string>* sources) {
  std::shared_ptr<TemporaryDirectory> directory;
  int number = 0;
  for (std::string& source : *sources) {
    if (!IsDask(source)) continue;
    if (directory == nullptr) {
      absl::StatusOr<std::unique_ptr<TemporaryDirectory>> made = TemporaryDirectory::Make();
      if (!made.ok()) return made.status();
      directory = *std::move(made);
    }
    const fs::path folder = fs::path(directory->path()) / std::to_string(number++);
    if (absl::Status status = Unpack(std::string(source), folder, &source); !status.ok()) return status;
  }
  return directory;
}

}  // namespace crema
