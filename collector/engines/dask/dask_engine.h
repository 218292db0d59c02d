// What crema's plug-in on a Dask scheduler serves: NDJSON `crema.dask/1` (docs/dask_log.md).
#pragma once

#include "collector/engines/engines.h"
#include "nlohmann/json.hpp"

namespace crema {

struct DaskLine {
  int64_t number = 0;             ///< from 1
  nlohmann::ordered_json fields;  ///< an object with a text `type`
  std::string_view text;          ///< without its newline
  std::string_view bytes;         ///< the records behind a line of type `records`
};

struct DaskLineFault {
  int64_t number = 0;
  bool torn = false;  ///< the file ends inside it
  std::string what;
};

/// Calls `on_line` for each line, `on_fault` for each that is none. Errors: the file cannot be read; its first line
/// names another schema.
absl::Status ForEachDaskLine(const std::string& path, const std::function<void(const DaskLine&)>& on_line,
                             const std::function<void(const DaskLineFault&)>& on_fault);

inline constexpr std::string_view kDaskSchema = "crema.dask/1";

/// What the name of the scheduler's own lines ends with, beside record logs.
inline constexpr std::string_view kDaskLogSuffix = ".dask.ndjson";

/// Reads the scheduler's lines; the records among them are passed over. Errors: it cannot be read, or is of another
/// major schema.
absl::StatusOr<EngineReading> ReadDaskLog(const std::string& path);

/// Takes a log apart: `directory` gets the record logs that workers sent, each under its own name (as live copies where
/// the worker was still there), and the scheduler's lines as `<name>.dask.ndjson`. Pieces that came twice are written
/// once; where one is missing, the log goes on after it, and the missing bytes are counted in that file.
/// Errors: as `ReadDaskLog`; `directory` cannot be written.
absl::Status SplitDaskLog(const std::string& path, const std::string& directory, const std::string& name);

}  // namespace crema
