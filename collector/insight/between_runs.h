// How much two runs of the same differ.
#ifndef CREMA_COLLECTOR_INSIGHT_BETWEEN_RUNS_H_
#define CREMA_COLLECTOR_INSIGHT_BETWEEN_RUNS_H_

namespace crema {

/// 90 % of equal runs on a machine that nobody else uses are within this part of their time of each other: clocks,
/// caches and where memory lies. It stands for what is not known where there is one run; several runs measure it.
inline constexpr double kBetweenRuns = 0.02;

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_BETWEEN_RUNS_H_
