// What was sampled of workers over time, from the document's timelines, in few enough points to draw.
#ifndef CREMA_COLLECTOR_DETAIL_SAMPLE_SERIES_H_
#define CREMA_COLLECTOR_DETAIL_SAMPLE_SERIES_H_

#include <vector>

#include "collector/detail/run_detail.h"

namespace crema {

/// A value that holds until the next one.
struct SamplePoint {
  double seconds = 0;  ///< since the run's start
  double value = 0;
};

/// A list of `[seconds, value]`; what is no such pair is left out.
std::vector<SamplePoint> PointsOf(const nlohmann::ordered_json& points);

/// Every timeline of the document that has one series a worker, reduced to `options.series_bins` bins.
std::vector<SampledQuantity> ReadSamples(const nlohmann::ordered_json& document, double seconds,
                                         const DetailOptions& options);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_SAMPLE_SERIES_H_
