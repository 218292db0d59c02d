// Dask clusters among the sources: pulled or read, and taken apart into record logs.
#ifndef CREMA_COLLECTOR_CLI_DASK_SOURCES_H_
#define CREMA_COLLECTOR_CLI_DASK_SOURCES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/cli/temporary_directory.h"

namespace crema {

/// Replaces each `dask://HOST:PORT` and each saved Dask log by a directory with what it holds, below the directory that
/// is returned; null where there was none. Errors: as those of `PullDaskLog` and `SplitDaskLog`.
absl::StatusOr<std::shared_ptr<TemporaryDirectory>> UnpackDaskSources(std::vector<std::string>* sources);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_DASK_SOURCES_H_
