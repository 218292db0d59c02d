// A measurement from finished figures.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/measurement/run_facts.h"
#include "collector/metrics/read_records.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// `quality`: what reading the sources came to, up to `logs_missing`, and its warnings. The figures know no files.
Quality JudgeQuality(const RunFigures& figures, Quality quality);

/// Where a measurement comes from.
struct RunProvenance {
  std::vector<std::string> sources;
  std::string host;        ///< on which it was made
  int64_t created_ns = 0;  ///< Unix time
  std::string run_name;
  std::string failure;  ///< the exception that ended the program or the block; empty: none
  std::optional<int64_t> exit_status;
};

/// Everything but verdicts, which a judge adds. Measurements of the same records differ in `provenance` only.
/// `straggler_ranges`: of the stragglers that get a row.
Measurement Assemble(RunFigures figures, Quality quality, const std::vector<EntryRange>& straggler_ranges,
                     const RunProvenance& provenance);

// What no figure can be, however the records came about: docs/metrics.md, "Rules".

/// Makes figures null that contradict others, with the reason: a share outside 0 to 1, an ideal above the elapsed time.
/// What clocks and rounding explain is put on the limit.
void RefuseImpossible(MetricSet* metrics);

}  // namespace crema
