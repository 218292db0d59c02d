// From sources to a judged measurement: what `run`, `collect` and `show` have in common.
#ifndef CREMA_COLLECTOR_CLI_MEASURED_SOURCE_H_
#define CREMA_COLLECTOR_CLI_MEASURED_SOURCE_H_

#include "absl/status/statusor.h"
#include "collector/metrics/measurement.h"

namespace crema {

/// `Measure`, then headline and verdicts; with a note on a terminal where it takes over a second, unless `quiet`.
absl::StatusOr<Measurement> MeasureAndJudge(const MeasureOptions& options, bool quiet);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_MEASURED_SOURCE_H_
