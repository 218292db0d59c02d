// Many measurements, of each only what a history needs.
#ifndef CREMA_COLLECTOR_HISTORY_HISTORY_RUNS_H_
#define CREMA_COLLECTOR_HISTORY_HISTORY_RUNS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

/// The time in chunks without the time in which their threads waited for a CPU: `busy_time` - `chunk_cpu_wait`. Other
/// programs on the machine do not change it.
inline constexpr std::string_view kWorkOfRun = "work";

/// What `measurement.json` says of one run.
struct HistoryRun {
  std::string directory;  ///< as it was found
  std::string name, id, commit, host;
  std::string why_not;  ///< not empty: it cannot be compared with others, for this reason
  int64_t start_ns = 0;
  std::optional<double> events, cores;
  std::vector<std::string> datasets;                  ///< sorted
  std::map<std::string, double, std::less<>> values;  ///< of the metrics that were asked for, where measured
  std::map<std::string, std::string, std::less<>> units;
};

/// `metrics`: keys of the document, or `kWorkOfRun`. Each directory is a measurement, or holds measurements one level
/// below; one that is reached twice counts once. Read by `jobs` threads, in order of their starts (equal ones: of their
/// directories). What is damaged has a reason. Errors: a directory cannot be listed, or holds no measurement.
absl::StatusOr<std::vector<HistoryRun>> ReadHistory(const std::vector<std::string>& directories,
                                                    const std::vector<std::string>& metrics, int jobs);

}  // namespace crema

#endif  // CREMA_COLLECTOR_HISTORY_HISTORY_RUNS_H_
