// Memory, CPU and reading of the whole run over time: what stands below the timeline, on its axis.
#ifndef CREMA_COLLECTOR_DETAIL_TIME_TRACKS_H_
#define CREMA_COLLECTOR_DETAIL_TIME_TRACKS_H_

#include <string_view>
#include <vector>

#include "collector/detail/bin_axis.h"
#include "collector/detail/run_detail.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// The mean of a sum of step functions in each bin: `timelines[key]` has one function a worker, on change, which holds
/// until its worker stops. Empty: there is none.
std::vector<double> MeanSteps(const Measurement& measurement, std::string_view key, const BinAxis& axis);

/// Each quantity once, by the best source that the run has: samples of the workers, else records of chunks.
std::vector<TimeTrack> TracksOf(const Measurement& measurement, const TimeBins& over_time);

}  // namespace crema

#endif  // CREMA_COLLECTOR_DETAIL_TIME_TRACKS_H_
