// What was sampled of workers over time, from the measurement's timelines, in few enough points to draw.
#ifndef CREMA_COLLECTOR_DETAIL_SAMPLE_SERIES_H_
#define CREMA_COLLECTOR_DETAIL_SAMPLE_SERIES_H_

#include <vector>

#include "collector/detail/run_detail.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// The points whose value is known, by time; each value holds until the next one.
Timeline PointsOf(const Timeline& points);

/// Every timeline of the measurement that has one series a worker, reduced to `options.series_bins` bins.
std::vector<SampledQuantity> ReadSamples(const Measurement& measurement, double seconds, const DetailOptions& options);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_SAMPLE_SERIES_H_
