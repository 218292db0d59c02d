// A measurement as roastcoffea saves it: `metrics.json`, `start_end_time.txt`, `metadata.json`.
#ifndef CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_DIRECTORY_H_
#define CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_DIRECTORY_H_

#include <string>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace crema {

struct RoastcoffeaMeasurement {
  std::string name;                ///< the directory's
  nlohmann::ordered_json metrics;  ///< an object; keys are roastcoffea's
  double elapsed_seconds = 0;      ///< difference of the two readings in start_end_time.txt
  bool has_section_paths = false;  ///< crema exported it: names of sections are paths
};

/// Whether the directory holds such a measurement, and not one of crema's own.
bool IsRoastcoffea(const std::string& directory);

/// Errors: a file that is not there or not readable; not JSON (a NaN in it is); two times that are none.
absl::StatusOr<RoastcoffeaMeasurement> ReadRoastcoffea(const std::string& directory);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_DIRECTORY_H_
