// What crema's plug-in on a Dask scheduler serves: NDJSON `crema.dask/1` (docs/dask_log.md).
#ifndef CREMA_COLLECTOR_ENGINES_DASK_DASK_LOG_H_
#define CREMA_COLLECTOR_ENGINES_DASK_DASK_LOG_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/engines/engine.h"

namespace crema {

inline constexpr std::string_view kDaskSchema = "crema.dask/1";

/// What the name of the scheduler's own lines ends with, beside record logs.
inline constexpr std::string_view kDaskLogSuffix = ".dask.ndjson";

/// Whether a file begins as such a log does.
bool IsDaskLog(const std::string& path);

/// Reads the scheduler's lines; the records among them are passed over. Errors: it cannot be read, or is of another
/// major schema.
absl::StatusOr<EngineReading> ReadDaskLog(const std::string& path);

/// Takes a log apart: `directory` gets the record logs that workers sent, each under its own name (as live copies where
/// the worker was still there), and the scheduler's lines as `<name>.dask.ndjson`. Pieces that came twice are written
/// once; where one is missing, the log goes on after it, and the missing bytes are counted in that file.
/// Errors: as `ReadDaskLog`; `directory` cannot be written.
absl::Status SplitDaskLog(const std::string& path, const std::string& directory, const std::string& name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_LOG_H_
