// The keys of roastcoffea's metrics.json that a measurement fills, under roastcoffea's names and in its units.
#ifndef CREMA_COLLECTOR_EXPORTS_ROASTCOFFEA_DOCUMENT_H_
#define CREMA_COLLECTOR_EXPORTS_ROASTCOFFEA_DOCUMENT_H_

#include <cstdint>
#include <string>

#include "collector/measurement/measurement.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// roastcoffea's chunk records count every attempt that ended, not the chunks with a result.
struct RoastcoffeaChunkCounts {
  int64_t ended = 0;
  int64_t ok = 0;
  int64_t events = 0;  ///< of ok attempts
};

/// Throughput, workers, efficiency, fine metrics and statistics of chunks. What was not measured is 0 where the package
/// expects a number, null where it knows "not available", and left out where it does.
nlohmann::ordered_json RoastcoffeaFigures(const Measurement& measurement, const RoastcoffeaChunkCounts& chunks);

/// `sections`: name, calls, seconds. Those of memory guards carry their mean difference in MiB.
nlohmann::ordered_json RoastcoffeaSections(const Measurement& measurement);

/// `tracking_data`: null unless the memory of a worker was sampled. Times are naive local ones, as the package's own.
nlohmann::ordered_json RoastcoffeaTrackingData(const Measurement& measurement);

/// `raw_span_metrics`: keys are the text of Python tuples.
nlohmann::ordered_json RoastcoffeaSpanMetrics(const Measurement& measurement);

/// A text as Python's `repr` writes it.
std::string PythonRepr(const std::string& text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_ROASTCOFFEA_DOCUMENT_H_
