// Charts as Vega-Lite specifications: the standard ones of a run, which `crema plot` draws and the report page shows,
// and those of what `crema history` and other commands found.
#pragma once

#include "absl/status/statusor.h"
#include "collector/measurement/measurement.h"
#include "nlohmann/json.hpp"

namespace crema {

struct Drawing;
struct Prediction;
struct RunDetail;
struct RunHistory;
struct ScalingStudy;
struct SectionDifference;

/// What a chart is made from. A chart takes its figures from here and nowhere else.
struct ChartInput {
  /// The measurement, never null.
  const Measurement* measurement = nullptr;
  /// The single chunks and the series in fine steps; null where the records are not there.
  const RunDetail* detail = nullptr;
  /// Another measurement, drawn behind where a chart can, and what `compare_<metric>` compares with; may be null.
  const Measurement* baseline = nullptr;
  /// The other measurement's; may be null.
  const RunDetail* baseline_detail = nullptr;
};

/// One figure. Either `spec` is a specification or `reason` says in a sentence why there is nothing to draw.
struct Chart {
  std::string name;
  std::string title;     ///< the question that it answers
  std::string subtitle;  ///< the run and the figures that answer it
  /// Complete and self-contained: schema v5 in the subset that v6 reads too, data inline, title and description, the
  /// light theme as its `config`. Null where there is nothing to draw.
  Json spec;
  std::string reason;
};

/// A row of the table of charts (docs/plots.md).
struct ChartKind {
  std::string_view name;      ///< `custom_<name>` and `compare_<metric>` stand for one chart each of their names
  std::string_view family;    ///< the block of the page it belongs to: `Workers`, `Chunks` ...
  std::string_view question;  ///< its title
  std::string_view text;      ///< marks and encodings, one line
  Drawing (*draw)(const ChartInput& input);  ///< null: the name stands for many charts, drawn by MakeChart
};

/// In the order of docs/plots.md.
const std::vector<ChartKind>& ChartKinds();

/// Charts that are gone, each with the one that answers its question.
inline constexpr std::pair<std::string_view, std::string_view> kFormerCharts[] = {
    {"resource_utilization", "concurrency_timeline"},
    {"section_cpu_vs_wait", "section_icicle"},
    {"worker_count_timeline", "concurrency_timeline"},
    {"cpu_utilization_mean_timeline", "cpu_heatmap"},
    {"cpu_utilization_per_worker_timeline", "cpu_heatmap"},
    {"memory_utilization_mean_timeline", "memory_small_multiples"},
    {"memory_utilization_per_worker_timeline", "memory_small_multiples"},
    {"duration_by_dataset", "runtime_distribution"},
    {"branch_access_per_chunk", "data_access_percentage"},
    {"compression_ratio_distribution", "bytes_accessed_per_chunk"},
    {"per_task_cpu_io", "fine_by_function"},
    {"per_task_bytes_read", "fine_by_function"},
    {"per_task_overhead", "fine_by_function"},
    {"executing_tasks_timeline", "total_active_tasks_timeline"},
    {"worker_activity_timeline", "cpu_heatmap"},
    {"occupancy_timeline", "total_active_tasks_timeline"}};

/// The names that can be asked of this input: all kinds, the custom metrics and compared metrics by their names.
std::vector<std::string> ChartNames(const ChartInput& input);

/// Pure. What cannot be drawn has a reason. Errors: NotFound, in one line, where no chart has that name.
absl::StatusOr<Chart> MakeChart(std::string_view name, const ChartInput& input);

enum class ChartTheme { kLight, kDark };

/// The `config` of a specification in one theme: swap it for `spec["config"]`. Colours of data are ranges in it, so a
/// specification names none.
Json ChartConfig(ChartTheme theme);

// Charts of what `crema history`, `predict`, `scaling` and `compare` found.

/// One figure of an analysis, run by run. Named `history`; it has a reason where there are no runs.
Chart MakeHistoryChart(const RunHistory& history);

/// What changes would bring; rows come in their order. Named `prediction`; it has a reason where nothing is predicted.
Chart MakePredictionChart(const Prediction& prediction);

/// Speed-up over cores. Named `scaling`; it has a reason where there are no points.
Chart MakeScalingChart(const ScalingStudy& scaling);

/// Which sections took longer in the other run, or on the other side, as a tree. Named `section_differences`; it has a
/// reason where neither has sections.
Chart MakeSectionTreeChart(const std::vector<SectionDifference>& tree);

}  // namespace crema
