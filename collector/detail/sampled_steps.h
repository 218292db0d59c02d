// A worker's timeline as steps that pictures draw.
#ifndef CREMA_COLLECTOR_DETAIL_SAMPLED_STEPS_H_
#define CREMA_COLLECTOR_DETAIL_SAMPLED_STEPS_H_

#include <map>
#include <string>
#include <string_view>

#include "collector/measurement/measurement.h"

namespace crema {

/// The points of `timelines[key]` whose value is known, by time: each value holds until the next one. A rate is
/// recorded at the end of the time over which it was measured (docs/metrics.md, "`timelines`"), so its step begins at
/// the sample before.
class SampledSteps {
 public:
  SampledSteps(const Measurement& measurement, std::string_view key);

  /// `points`: that series of `worker`.
  Timeline Of(const std::string& worker, const Timeline& points) const;

 private:
  std::map<std::string_view, const Timeline*> samples_;  ///< of workers, where the values are rates
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_SAMPLED_STEPS_H_
