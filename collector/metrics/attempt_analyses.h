// The analyses that go through all attempts: on many chunks they take longer than anything but reading.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPT_ANALYSES_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPT_ANALYSES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/chunk_distributions.h"
#include "collector/metrics/attempts/rss_slope.h"
#include "collector/metrics/run_figures.h"
#include "collector/metrics/side_by_side.h"

namespace crema {

/// What single metrics are made from.
struct AttemptAnalyses {
  std::array<std::vector<ChunkDistribution>, kDistributionPasses> distributions;
  std::optional<RssSlope> rss_slope;
  std::optional<double> load_imbalance;
  std::optional<int64_t> max_open_chunks;
};

/// Runs the analyses side by side: each needs the attempts, their processes and nothing of another. Fills stragglers,
/// expected times, slow spells, contention and the breakdowns of `figures`. `measure_time` runs beside them: what is
/// known of the run's time; it touches neither these nor the metrics.
AttemptAnalyses AnalyseAttempts(const WorkLimits& limits, const std::function<void()>& measure_time,
                                RunFigures* figures);

void SetDistributions(const AttemptAnalyses& analyses, RunFigures* figures);
/// Stragglers, growth of memory, imbalance, open chunks.
void SetAnalyses(const AttemptAnalyses& analyses, RunFigures* figures);
/// Each of an engine's workers stands in the table, whether it had chunks or not.
void AddWorkersWithoutChunks(RunFigures* figures);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPT_ANALYSES_H_
