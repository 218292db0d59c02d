// roastcoffea's chunk records as a record log: from there on they are read like any other.
#ifndef CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_RECORDS_H_
#define CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_RECORDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "collector/sources/roastcoffea/roastcoffea_directory.h"

namespace crema {

/// What did not come over.
struct RoastcoffeaRecords {
  int64_t chunks = 0;
  int64_t malformed = 0;  ///< records without start and duration
  int64_t overlapping_timings =
      0;  ///< chunks whose `timing` adds up to more than the chunk: they nest, and how is lost
};

/// Writes one log into the directory (which exists). The records do not say which worker a chunk ran on: all are of one
/// process, `unknown:0`, that has the cores of all workers and lives as long as the measurement, up to the last chunk.
/// Names of sections stand for themselves; bytes of 0 are what roastcoffea writes where it cannot tell, and are null.
absl::StatusOr<RoastcoffeaRecords> WriteRoastcoffeaRecords(const RoastcoffeaMeasurement& measurement,
                                                           const std::string& directory);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_RECORDS_H_
