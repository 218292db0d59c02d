// A measurement from finished figures.
#ifndef CREMA_COLLECTOR_METRICS_ASSEMBLE_H_
#define CREMA_COLLECTOR_METRICS_ASSEMBLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/metrics/entry_ranges.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// Where a measurement comes from.
struct RunProvenance {
  std::vector<std::string> sources;
  std::string host;        ///< on which it was made
  int64_t created_ns = 0;  ///< Unix time
  std::string run_name;
};

/// Everything but verdicts, which insight adds. Measurements of the same records differ in `provenance` only.
/// `straggler_ranges`: of the stragglers that get a row.
Measurement Assemble(RunFigures figures, Quality quality, const std::vector<EntryRange>& straggler_ranges,
                     const RunProvenance& provenance);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ASSEMBLE_H_
