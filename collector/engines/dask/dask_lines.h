// The lines of a Dask log, with the bytes of records that follow some of them.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_DASK_LINES_H_
#define CREMA_COLLECTOR_ENGINES_DASK_DASK_LINES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace crema {

struct DaskLine {
  int64_t number = 0;      ///< from 1
  nlohmann::json fields;   ///< an object with a text `type`
  std::string_view text;   ///< without its newline
  std::string_view bytes;  ///< the records behind a line of type `records`
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_LINES_H_
