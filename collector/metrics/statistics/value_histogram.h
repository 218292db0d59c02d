// A histogram of recorded values, for a chart.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_VALUE_HISTOGRAM_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_VALUE_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/quantile_sketch.h"

namespace crema {

/// At most 40 bins from `min` to `max`. Where all values are positive and span more than a factor of 100, bins are
/// equal on a logarithmic axis, else on a linear one. Bins are not narrower than the sketch can tell; those of whole
/// numbers
/// (`whole`) that are few are one wide, with the number in their middle.
ValueHistogram HistogramOf(const QuantileSketch& values, double min, double max, bool whole);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_VALUE_HISTOGRAM_H_
