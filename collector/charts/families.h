// The drawing functions of all charts, family by family: one file each. Names are those of docs/plots.md.
#ifndef CREMA_COLLECTOR_CHARTS_FAMILIES_H_
#define CREMA_COLLECTOR_CHARTS_FAMILIES_H_

#include <string_view>

#include "collector/charts/chart.h"
#include "collector/charts/drawing.h"

namespace crema {

// cluster_charts.cc: how many workers, tasks and cores there were
Drawing DrawConcurrency(const ChartInput& input);
Drawing DrawTotalActiveTasks(const ChartInput& input);

// tree_charts.cc: the processes of a command
Drawing DrawProcessTimeline(const ChartInput& input);

// worker_charts.cc: workers beside one another
Drawing DrawCpuHeatmap(const ChartInput& input);
Drawing DrawMemorySmallMultiples(const ChartInput& input);
Drawing DrawWorkerBalance(const ChartInput& input);
Drawing DrawReadRateHeatmap(const ChartInput& input);

// budget_charts.cc: where the core-seconds went, and the key figures
Drawing DrawActivityBreakdown(const ChartInput& input);
Drawing DrawEfficiencySummary(const ChartInput& input);

// rate_charts.cc: events, data and chunks as time went on
Drawing DrawThroughput(const ChartInput& input);
Drawing DrawProgressTail(const ChartInput& input);
Drawing DrawActivityTimeline(const ChartInput& input);

// attempt_charts.cc: every attempt
Drawing DrawChunkTimeline(const ChartInput& input);
Drawing DrawFailuresTimeline(const ChartInput& input);

// chunk_charts.cc: durations and memory
Drawing DrawRuntimeDistribution(const ChartInput& input);
Drawing DrawRuntimeVsEvents(const ChartInput& input);
Drawing DrawMemoryVsEvents(const ChartInput& input);
Drawing DrawSlowestChunks(const ChartInput& input);

// input_charts.cc: what was read
Drawing DrawBytesAccessed(const ChartInput& input);
Drawing DrawDataAccess(const ChartInput& input);

// contention_chart.cc: what chunks wait for together
Drawing DrawContention(const ChartInput& input);

// section_charts.cc
Drawing DrawSectionIcicle(const ChartInput& input);
Drawing DrawSectionSelfTime(const ChartInput& input);

// fine_charts.cc: activities inside tasks and transfers
Drawing DrawFineByFunction(const ChartInput& input);
Drawing DrawFineByActivity(const ChartInput& input);

// dataset_charts.cc: datasets and files
Drawing DrawDatasetRates(const ChartInput& input);
Drawing DrawFileReadRates(const ChartInput& input);

// custom_charts.cc: what the user recorded
Drawing DrawCustomMetric(const ChartInput& input, std::string_view metric);
Drawing DrawCutFlow(const ChartInput& input);

// comparison_charts.cc
Drawing DrawComparedMetric(const ChartInput& input, std::string_view metric);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_FAMILIES_H_
