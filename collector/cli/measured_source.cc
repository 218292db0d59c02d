#include "collector/cli/measured_source.h"

#include "collector/cli/progress_note.h"
#include "collector/insight/verdicts.h"

namespace crema {

absl::StatusOr<Measurement> MeasureAndJudge(const MeasureOptions& options, bool quiet) {
  const ProgressNote note("reading the records", quiet);
  absl::StatusOr<Measurement> measurement = Measure(options);
  if (measurement.ok()) AddInsight(&measurement->document);
  return measurement;
}

}  // namespace crema
