// How far the measurement can be trusted (docs/metrics.md, "quality").
#ifndef CREMA_COLLECTOR_METRICS_QUALITY_H_
#define CREMA_COLLECTOR_METRICS_QUALITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/measurement/run_facts.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// What reading the sources came to; kept apart from the figures, which know no files.
struct ReadingQuality {
  int64_t records_read = 0;
  int64_t records_malformed = 0;
  int64_t records_torn = 0;
  int64_t records_unknown = 0;
  std::vector<std::string> warnings;
};

Quality JudgeQuality(const RunFigures& figures, ReadingQuality reading);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_QUALITY_H_
