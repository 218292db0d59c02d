#include "collector/charts/chart.h"

#include "absl/status/status.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/measurement/catalog.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kCustom = "custom_", kCompare = "compare_";

/// The metrics that two runs are compared in when nobody says which.
constexpr std::string_view kComparedMetrics[] = {
    "wall_time",           "event_rate_wall_khz",       "cpu_efficiency",    "core_seconds",
    "chunk_duration_mean", "chunk_time_per_event_mean", "peak_memory_bytes", "io_overhead_pct"};

std::string RunName(const Measurement& measurement) {
  return measurement.run.name.empty() ? "run" : ShownName(measurement.run.name);
}

/// Where a figure that somebody finds in a talk comes from.
std::string SourceLine(const Measurement& measurement) {
  std::string line = "crema " + measurement.provenance.crema.str();
  const std::string& start = measurement.run.start;
  if (start.size() >= 16) line += " · run of " + start.substr(0, 10) + " " + start.substr(11, 5) + " UTC";
  if (!measurement.run.id.empty()) line += " · " + ShownName(measurement.run.id);
  return line;
}

std::string LabelOf(std::string_view metric) {
  const MetricDefinition* definition = FindMetric(metric);
  return definition == nullptr ? std::string(metric) : definition->label;
}

/// The row of one chart; null where the name is none, or stands for many.
const ChartKind* FindChartKind(std::string_view name) {
  const ChartKind* kind = FindBy(ChartKinds(), &ChartKind::name, name);
  return kind == nullptr || kind->draw == nullptr ? nullptr : kind;
}

/// A chart before it has figures: what it is called and what it asks.
absl::StatusOr<Chart> NamedChart(std::string_view name, const ChartInput& input) {
  Chart chart;
  chart.name = name;
  if (const ChartKind* kind = FindChartKind(name)) {
    chart.title = kind->question;
  } else if (BeginsWith(name, kCustom)) {
    chart.title = fmt::format("What values did {} have?", ShownName(name.substr(kCustom.size())));
  } else if (BeginsWith(name, kCompare)) {
    chart.title = fmt::format("{}: do the runs differ?", LabelOf(name.substr(kCompare.size())));
  } else {
    for (const auto& [former, answer] : kFormerCharts) {
      if (name != former) continue;
      return absl::NotFoundError(fmt::format("the chart `{}` is gone; `{}` answers its question", former, answer));
    }
    const std::vector<std::string> names = ChartNames(input);
    return absl::NotFoundError(fmt::format("no chart is called `{}`{}; `crema plot --list` names them", ShownName(name),
                                           DidYouMean(name, {names.begin(), names.end()})));
  }
  return chart;
}

absl::StatusOr<Drawing> Draw(std::string_view name, const ChartInput& input) {
  if (const ChartKind* kind = FindChartKind(name)) return kind->draw(input);
  if (BeginsWith(name, kCustom)) {
    const std::string_view metric = name.substr(kCustom.size());
    for (const CustomMetricRow& row : input.measurement->custom_metrics) {
      if (row.name == metric) return DrawCustomMetric(row);
    }
    return absl::NotFoundError(fmt::format(
        "no metric `{}` was recorded{}; `crema show SOURCE --table metrics` names them", ShownName(metric),
        DidYouMean(metric, Mapped<std::string_view>(input.measurement->custom_metrics, &CustomMetricRow::name))));
  }
  const std::string_view metric = name.substr(kCompare.size());
  if (input.measurement->metrics.Find(metric) == nullptr) {
    const auto keys = Mapped<std::string_view>(MetricCatalog(), &MetricDefinition::key);
    return absl::NotFoundError(fmt::format("no metric is called `{}`{}; docs/metrics.md names them", ShownName(metric),
                                           DidYouMean(metric, keys)));
  }
  return DrawComparedMetric(input, metric);
}

}  // namespace

std::vector<std::string> ChartNames(const ChartInput& input) {
  std::vector<std::string> names;
  const auto add = [&names](std::string name) {
    if (absl::c_find(names, name) == names.end()) names.push_back(std::move(name));
  };
  for (const ChartKind& kind : ChartKinds()) {
    if (kind.draw != nullptr) add(std::string(kind.name));
  }
  for (const CustomMetricRow& metric : input.measurement->custom_metrics) add(std::string(kCustom) + metric.name.str());
  if (input.baseline == nullptr) return names;
  for (std::string_view metric : kComparedMetrics) {
    if (input.measurement->metrics.Find(metric) != nullptr) add(fmt::format("{}{}", kCompare, metric));
  }
  return names;
}

absl::StatusOr<Chart> MakeChart(std::string_view name, const ChartInput& input) {
  absl::StatusOr<Chart> chart = NamedChart(name, input);
  if (!chart.ok()) return chart;
  absl::StatusOr<Drawing> drawing = Draw(name, input);
  if (!drawing.ok()) return drawing.status();
  if (drawing->body.is_null()) {
    chart->reason = drawing->reason;
    chart->subtitle = RunName(*input.measurement);
    return chart;
  }
  chart->subtitle = fmt::format("{} · {}", RunName(*input.measurement), drawing->finding);
  chart->spec = SpecificationOf(*chart, drawing->finding, SourceLine(*input.measurement), drawing->body);
  return chart;
}

}  // namespace crema
