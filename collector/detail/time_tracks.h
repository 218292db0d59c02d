// Memory, CPU and reading of the whole run over time: what stands below the timeline, on its axis.
#ifndef CREMA_COLLECTOR_DETAIL_TIME_TRACKS_H_
#define CREMA_COLLECTOR_DETAIL_TIME_TRACKS_H_

#include <algorithm>

#include "collector/detail/run_detail.h"
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

struct BinAxis {
  double start = 0;
  double width = 1;  ///< of a bin
  int bins = 1;

  /// The bin of a moment; moments outside fall into the first or last.
  int At(double moment) const {
    const double bin = (moment - start) / width;
    return bin <= 0 ? 0 : bin >= bins ? bins - 1 : static_cast<int>(bin);
  }

  /// Calls `add(bin, share)` for the bins that [from, to) touches; shares add up to 1. What lies outside the axis goes
  /// into its first or last bin.
  template <class Add>
  void Spread(double from, double to, const Add& add) const {
    const int first = At(from);
    const int last = std::max(first, At(to));
    if (first == last || !(to > from)) {
      add(first, 1.0);
      return;
    }
    double left = 1;
    for (int bin = first; bin < last; ++bin) {
      const double begin = bin == first ? from : start + width * bin;
      const double clipped = std::clamp((start + width * (bin + 1) - begin) / (to - from), 0.0, left);
      add(bin, clipped);
      left -= clipped;
    }
    add(last, left);
  }
};

/// The mean of a sum of step functions in each bin: `timelines[key]` has one function a worker, on change, which holds
/// until its worker stops. Empty: there is none.
std::vector<double> MeanSteps(const Measurement& measurement, std::string_view key, const BinAxis& axis);

/// Each quantity once, by the best source that the run has: samples of the workers, else records of chunks.
std::vector<TimeTrack> TracksOf(const Measurement& measurement, const TimeBins& over_time);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_TIME_TRACKS_H_
