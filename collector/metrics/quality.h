// How far the measurement can be trusted (docs/metrics.md, "quality").
#ifndef CREMA_COLLECTOR_METRICS_QUALITY_H_
#define CREMA_COLLECTOR_METRICS_QUALITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/run_figures.h"

namespace crema {

/// What reading the sources came to; kept apart from the figures, which know no files.
struct ReadingQuality {
  int64_t records_read = 0;
  int64_t records_malformed = 0;
  int64_t records_torn = 0;
  int64_t records_unknown = 0;
  int64_t logs_left_out = 0;  ///< whole
  int64_t logs_damaged = 0;   ///< not read to their end
  int64_t logs_missing = 0;   ///< gone since their measurement was made
  std::vector<std::string> warnings;
};

struct Quality {
  ReadingQuality reading;
  int64_t records_dropped = 0;
  int64_t records_lost = 0;                  ///< chunks that ended and have no record
  int64_t guards_misused = 0;                ///< of these, as the next two
  std::optional<int64_t> records_unwritten;  ///< nullopt: a log does not tell, written before the record log's minor 10
  std::optional<int64_t> values_outside_chunks;  ///< the same
  int64_t tasks_left_out = 0;
  std::optional<int64_t> lost_samples;  ///< nullopt: no process took native stacks
  int64_t summed_chunks = 0;            ///< attempts without a line
  int64_t sections_dropped = 0;
  int64_t chunks_without_events = 0;  ///< results
  int64_t processes_ended = 0;
  int64_t processes_running = 0;
  int64_t processes_lost = 0;
  std::optional<double> event_coverage;
  std::optional<double> clock_offset_max_s;
  std::optional<double> clock_step_max_s;
  std::optional<double> sampling_gap_max_s;
  std::optional<int64_t> tree_cpu_sampled;
  std::optional<int64_t> processes_left_running;
  std::vector<std::string> warnings;  ///< one line each
};

Quality JudgeQuality(const RunFigures& figures, ReadingQuality reading);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_QUALITY_H_
