// The document of a measurement, `crema.measurement/1`, from finished figures: docs/measurements.md,
// "What a measurement holds".
#ifndef CREMA_COLLECTOR_METRICS_DOCUMENT_H_
#define CREMA_COLLECTOR_METRICS_DOCUMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/attempt_tables.h"
#include "collector/metrics/document_tables.h"
#include "collector/metrics/quality.h"
#include "collector/metrics/run_figures.h"

namespace crema {

/// Where a measurement comes from and who made it.
struct Provenance {
  std::vector<std::string> sources;
  std::string host;        ///< on which it was made
  int64_t created_ns = 0;  ///< Unix time
  std::string run_name;
  std::string failure;  ///< the exception that ended the program or the block; empty: none
  std::optional<int64_t> exit_status;
};

/// Writes everything but verdicts, which insight adds. A document of the same records differs in `provenance` only.
Json WriteDocument(const RunFigures& figures, const Quality& quality, const std::vector<EntryRange>& straggler_ranges,
                   const Provenance& provenance);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_DOCUMENT_H_
