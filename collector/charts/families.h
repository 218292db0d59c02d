// The drawing functions of all charts, by the file that has them, and the boxes of the timeline. Names are those of
// docs/plots.md.
#pragma once

#include "collector/charts/chart.h"
#include "collector/charts/drawing.h"
#include "collector/plot_data/run_detail.h"

namespace crema {

// worker_charts.cc: the processes of a command, and workers beside one another
Drawing DrawProcessTimeline(const ChartInput& input);
Drawing DrawCpuHeatmap(const ChartInput& input);
Drawing DrawMemorySmallMultiples(const ChartInput& input);
Drawing DrawWorkerBalance(const ChartInput& input);
Drawing DrawReadRateHeatmap(const ChartInput& input);

// budget_charts.cc: where the core-seconds went, sections, the key figures, and what chunks wait for together
Drawing DrawActivityBreakdown(const ChartInput& input);
Drawing DrawEfficiencySummary(const ChartInput& input);
Drawing DrawContention(const ChartInput& input);
Drawing DrawSectionIcicle(const ChartInput& input);
Drawing DrawSectionSelfTime(const ChartInput& input);

// time_charts.cc: chunks, tasks, events and data as time went on
Drawing DrawConcurrency(const ChartInput& input);
Drawing DrawTotalActiveTasks(const ChartInput& input);
Drawing DrawThroughput(const ChartInput& input);
Drawing DrawProgressTail(const ChartInput& input);
Drawing DrawActivityTimeline(const ChartInput& input);

// chunk_charts.cc: every attempt, durations and memory; the latency of events that go from thread to thread
Drawing DrawChunkTimeline(const ChartInput& input);
Drawing DrawFailuresTimeline(const ChartInput& input);
Drawing DrawRuntimeDistribution(const ChartInput& input);
Drawing DrawRuntimeVsEvents(const ChartInput& input);
Drawing DrawMemoryVsEvents(const ChartInput& input);
Drawing DrawSlowestChunks(const ChartInput& input);
Drawing DrawEventLatencies(const ChartInput& input);
Drawing DrawEventLatencyTimeline(const ChartInput& input);

// metric_charts.cc: datasets, files and what was read; activities inside tasks; what the user recorded
Drawing DrawDatasetRates(const ChartInput& input);
Drawing DrawFileReadRates(const ChartInput& input);
Drawing DrawBytesAccessed(const ChartInput& input);
Drawing DrawDataAccess(const ChartInput& input);
Drawing DrawFineByFunction(const ChartInput& input);
Drawing DrawFineByActivity(const ChartInput& input);
Drawing DrawCustomMetric(const CustomMetricRow& metric);
Drawing DrawCutFlow(const ChartInput& input);
Drawing DrawComparedMetric(const ChartInput& input, std::string_view metric);

// The timeline of chunks for a picture of fixed size: boxes of one dataset each, as many as can be seen.

/// A box in a row of the timeline.
struct LaneCell {
  uint32_t row = 0;
  double start_seconds = 0;
  double stop_seconds = 0;
  uint32_t slot = 0;           ///< of its dataset (`SlotOf`)
  double waiting_seconds = 0;  ///< of it; 0 where it is not known
  double busy_share = 1;       ///< of the row, in this time
};

struct LaneCells {
  std::vector<LaneCell> cells;
  bool is_exact = true;  ///< every attempt that ended has its own cell
};

/// Each attempt where there are at most `most`; else equal parts of time, each with the dataset that was busy longest
/// in it, equal neighbours merged, in parts as fine as `most` allows.
LaneCells LaneCellsOf(const RunDetail& detail, size_t most);

}  // namespace crema
