// A measurement as roastcoffea saves it: its chunk records become a record log, the rest completes what that says.
#pragma once

#include "absl/status/statusor.h"
#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {

/// roastcoffea's fine metrics of Dask: its name, ours.
inline constexpr std::pair<const char*, const char*> kRoastcoffeaFine[] = {
    {"processor_cpu_time_seconds", "processor_cpu_time_seconds"},
    {"processor_io_wait_time_seconds", "processor_noncpu_time_seconds"},
    {"processor_cpu_percent", "processor_cpu_percentage"},
    {"processor_io_wait_percent", "processor_noncpu_percentage"},
    {"overhead_cpu_time_seconds", "overhead_cpu_time_seconds"},
    {"overhead_io_wait_time_seconds", "overhead_noncpu_time_seconds"},
    {"total_bytes_memory_read", "total_bytes_memory_read_dask"},
    {"disk_read_bytes", "disk_read_bytes"},
    {"disk_write_bytes", "disk_write_bytes"},
    {"decompression_time_seconds", "decompression_time_seconds"},
    {"compression_time_seconds", "compression_time_seconds"},
    {"total_compression_overhead_seconds", "total_compression_overhead_seconds"},
    {"deserialization_time_seconds", "deserialization_time_seconds"},
    {"serialization_time_seconds", "serialization_time_seconds"},
    {"total_serialization_overhead_seconds", "total_serialization_overhead_seconds"},
};

/// Its timelines of workers, which have the names of ours.
inline constexpr const char* kRoastcoffeaSeries[] = {"worker_memory",    "worker_memory_limit", "worker_active_tasks",
                                                     "worker_cores",     "worker_nbytes",       "worker_occupancy",
                                                     "worker_executing", "worker_last_seen",    "worker_cpu"};

/// A measurement as roastcoffea saves it: `metrics.json`, `start_end_time.txt`, `metadata.json`.
struct RoastcoffeaMeasurement {
  std::string name;                ///< the directory's
  Json metrics;                    ///< an object; keys are roastcoffea's
  double elapsed_seconds = 0;      ///< difference of the two readings in start_end_time.txt
  bool has_section_paths = false;  ///< crema exported it: names of sections are paths
};

/// Whether the directory holds such a measurement, and not one of crema's own.
bool IsRoastcoffea(const std::string& directory);

/// Errors: a file that is not there or not readable; not JSON (a NaN in it is); two times that are none.
absl::StatusOr<RoastcoffeaMeasurement> ReadRoastcoffea(const std::string& directory);

/// What did not come over.
struct RoastcoffeaRecords {
  int64_t chunks = 0;
  int64_t malformed = 0;  ///< records without start and duration
  int64_t overlapping_timings =
      0;  ///< chunks whose `timing` adds up to more than the chunk: they nest, and how is lost
};

/// Writes one log into the directory (which exists). The records do not say which worker a chunk ran on: all are of one
/// process, `unknown:0`, that has the cores of all workers and lives as long as the measurement, up to the last chunk.
/// Names of sections stand for themselves; bytes of 0 are what roastcoffea writes where it does not know, and are null.
absl::StatusOr<RoastcoffeaRecords> WriteRoastcoffeaRecords(const RoastcoffeaMeasurement& measurement,
                                                           const std::string& directory);

/// Seconds since the first sample of all, and the value from there on; by time.
using SampledSteps = std::vector<std::pair<double, double>>;

struct RoastcoffeaTimelines {
  SampledSteps worker_counts;
  std::map<std::string, std::map<std::string, SampledSteps>> by_worker;  ///< by series, then worker
  double stop = 0;                                                       ///< time of the last sample of all
};

/// Times are naive local ones: only their differences are used. Samples that are none are left out.
RoastcoffeaTimelines ReadRoastcoffeaTimelines(const Json& tracking_data);

/// Integral of the last value held, from the first sample to `stop`.
double StepIntegral(const SampledSteps& steps, double stop);

/// Completes what was measured from the chunk records alone. Figures of the catalog are computed anew from
/// the samples (step integrals where roastcoffea has trapezoids); what its files do not have becomes null with the
/// reason, also where the one process that stands for all workers gave a value.
void AddRoastcoffeaFigures(const RoastcoffeaMeasurement& measurement, const RoastcoffeaRecords& records,
                           Measurement* measured);

}  // namespace crema
