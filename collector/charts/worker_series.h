// The measurement's timelines (`worker -> [[seconds, value], ...]`, on change), averaged over equal parts of the run.
#ifndef CREMA_COLLECTOR_CHARTS_WORKER_SERIES_H_
#define CREMA_COLLECTOR_CHARTS_WORKER_SERIES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

/// Part of a timeline: the integral of the value and the seconds over which there was one.
struct SeriesBin {
  double integral = 0;
  double covered_seconds = 0;

  std::optional<double> mean() const {
    return covered_seconds > 0 ? std::optional<double>(integral / covered_seconds) : std::nullopt;
  }
};

struct WorkerSeries {
  std::string worker;
  std::vector<SeriesBin> bins;
  double peak = 0;  ///< the largest value, exact
};

/// One quantity of all workers that have it.
struct SeriesOfWorkers {
  double bin_seconds = 0;
  std::vector<WorkerSeries> workers;  ///< in the measurement's order

  bool empty() const { return workers.empty(); }
  size_t bins() const { return workers.empty() ? 0 : workers.front().bins.size(); }
  double CentreOf(size_t bin) const { return (static_cast<double>(bin) + 0.5) * bin_seconds; }
  /// Mean of the sum over the workers; nullopt where none had a value.
  std::optional<double> SumAt(size_t bin) const;
  const WorkerSeries* Find(std::string_view worker) const;
};

/// `timelines[key]` in `bins` equal parts of the wall time; a value holds until the next one, or until its worker
/// stopped. Empty where the series or the wall time was not measured.
SeriesOfWorkers ReadWorkerSeries(const Measurement& measurement, std::string_view key, size_t bins);

/// Sum over workers of `timelines[key]` as a step function, exact: each value holds until the next one. Empty where
/// there is none.
Timeline SumOfSteps(const Measurement& measurement, std::string_view key);

double LargestOf(const Timeline& steps);

/// The same where there are more than `most` steps: means over equal parts of the run, which keep the integral.
Timeline Reduced(Timeline steps, double wall_seconds, size_t most);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_WORKER_SERIES_H_
