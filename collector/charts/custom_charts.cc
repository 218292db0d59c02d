// What the user's code recorded: metrics of its own, and the cut flow; and one metric of two runs.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "collector/insight/figure_change.h"
#include "collector/measurement/catalog.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 40;

void AddRow(const std::string& name, const CustomMetricFigures& figures, Json* values) {
  if (!figures.min.has_value() || !figures.max.has_value()) return;
  values->push_back({{"name", name},
                     {"min", *figures.min},
                     {"max", *figures.max},
                     {"p50", RealOf(figures.p50)},
                     {"p95", RealOf(figures.p95)},
                     {"mean", RealOf(figures.mean)},
                     {"sum", RealOf(figures.sum)},
                     {"count", RealOf(figures.count)}});
}

// How often values of about one size came; null where the records do not say.
Json HistogramPanel(const CustomMetricRow& metric, const std::string& title) {
  if (!metric.histogram.has_value() || metric.histogram->counts.size() < 2) return {};
  const auto& [edges, counts] = *metric.histogram;
  const bool logarithmic = edges[0] > 0 && edges.back() - edges[edges.size() - 2] > 2 * (edges[1] - edges[0]);
  Json values = {{"title", title}, {"scale", logarithmic ? "log" : "linear"}};
  for (size_t i = 0; i < counts.size(); ++i) {
    values["bins"].push_back({{"from", edges[i]}, {"to", edges[i + 1]}, {"count", counts[i]}});
  }
  for (const Number& value : {metric.p50, metric.p95}) {
    if (value.has_value()) values["quantiles"].push_back({{"at", *value}});
  }
  return FilledTemplate("custom_histogram", values);
}

/// Every cut has to keep this share of the first cut's events. A smaller bar would look like a line.
constexpr double kLeastSeenShare = 0.01;

void AddRun(const Measurement& measurement, std::string_view role, std::string_view metric, std::string_view unit,
            Json* rows) {
  const double value = measurement.Metric(metric).value_or(0);
  const Text& name = measurement.run.name;
  Json row = {{"run", fmt::format("{} ({})", ShownName(name.empty() ? "run" : name.str()), role)},
              {"role", role},
              {"v", value},
              {"words", HumanQuantity(metric, value, unit)},
              {"end", value}};
  if (const auto half = HalfIntervalOfMean(measurement, metric)) {
    row["low"] = value - *half;
    row["high"] = row["end"] = value + *half;
    row["words"] = fmt::format("{} ± {}", HumanQuantity(metric, value, unit), HumanQuantity(metric, *half, unit));
  }
  rows->push_back(std::move(row));
}

}  // namespace

Drawing DrawCustomMetric(const ChartInput& input, std::string_view metric) {
  const auto& metrics = input.measurement->custom_metrics;
  const auto row = std::find_if(metrics.begin(), metrics.end(),
                                [&](const CustomMetricRow& candidate) { return candidate.name == metric; });
  if (row == metrics.end()) return NotDrawn(fmt::format("no metric `{}` was recorded", ShownName(metric)));
  Json values = Json::array();
  AddRow("all datasets", *row, &values);
  ShownNames names;
  names.Of("all datasets");
  if (row->by_dataset.size() > 1) {
    for (const auto& [dataset, figures] : row->by_dataset) {
      if (values.size() < kMostRows) AddRow(names.Of(dataset), figures, &values);
    }
  }
  if (values.empty()) return NotDrawn("every value of the metric was without a number");
  const std::string title = row->unit.empty() ? "value" : fmt::format("value [{}]", ShownName(row->unit));
  const bool is_one_row = values.size() == 1;
  Json body = FilledTemplate("custom_ranges", {{"ranges", std::move(values)}, {"title", title}});
  std::string how = "; line: least to most, bar: median to p95, dot: mean";
  if (row->quantiles_of == "chunk means") how += "; median and p95 are of chunk means";
  Json histogram = HistogramPanel(*row, title);
  if (!histogram.is_null()) {
    how = "; lines: median and p95";
    if (!is_one_row) how += "; below, line: least to most, bar: median to p95, dot: mean";
    body = is_one_row ? std::move(histogram)
                      : Json{{"vconcat", Json::array({std::move(histogram), std::move(body)})}, {"spacing", 14}};
  }
  std::string finding = Counted(row->count.value_or(0), "value", "values");
  if (row->sum.has_value()) finding += ", sum " + HumanCount(*row->sum);
  return {std::move(body), finding + how, ""};
}

Drawing DrawCutFlow(const ChartInput& input) {
  Json values = Json::array();
  ShownNames names;
  double first = 0, last = 0, least = 0;
  const std::vector<CutRow>& cuts = input.measurement->cuts;
  const bool is_list = CutRow::AreList(cuts);
  for (const CutRow& row : cuts) {
    if (!row.events.has_value()) continue;
    const Number& step = row.step_efficiency;
    last = *row.events;
    std::string words = HumanCount(last);
    if (!values.empty() && step.has_value())
      words += fmt::format(" · {} of {}", HumanPercent(*step), is_list ? "the step before" : "its input");
    first = values.empty() ? last : std::max(first, last);
    if (last > 0) least = least > 0 ? std::min(least, last) : last;
    values.push_back({{"cut", names.Of(row.Label())},
                      {"events", last},
                      {"drawn", last},
                      {"step", RealOf(step)},
                      {"total", RealOf(row.total_efficiency)},
                      {"words", words}});
  }
  if (values.empty()) return NotDrawn("no cut was recorded; call RecordCut where events are selected");
  const bool is_logarithmic = least > 0 && least < kLeastSeenShare * first;
  Json filled = {{"title", "events after the cut"}, {"event labels", NumberLabels(first)}, {"dx", 5}};
  filled["mark"] = {{"type", "bar"}, {"style", "events"}, {"height", {{"band", 0.7}}}};
  if (is_logarithmic) {
    constexpr double kBelowOne = 0.5;  // such an axis has no 0
    for (Json& value : values) value["drawn"] = std::max(value["drawn"].get<double>(), kBelowOne);
    filled["title"] = "events after the cut (logarithmic)";
    filled["scale"] = {{"type", "log"}, {"domainMin", kBelowOne}, {"nice", false}};
    // a bar's length says nothing there
    filled["mark"] = {{"type", "point"}, {"style", "events"}, {"filled", true}, {"size", 70}};
    filled["dx"] = 9;
  }
  const std::string count = Counted(static_cast<double>(values.size()), "cut", "cuts");
  filled["cuts"] = std::move(values);
  return {FilledTemplate("cut_flow", filled),
          !is_list ? count + ", each of its own input"
                   : fmt::format("{} of {} events are left{}", HumanCount(last), HumanCount(first),
                                 first > 0 ? fmt::format(" ({})", HumanPercent(last / first)) : ""),
          ""};
}

Drawing DrawComparedMetric(const ChartInput& input, std::string_view metric) {
  if (input.baseline == nullptr) return NotDrawn("there is no second run; give one with --baseline");
  const auto value = input.measurement->Metric(metric), other = input.baseline->Metric(metric);
  if (!value.has_value()) return NotDrawn("this run: " + input.measurement->WhyNotMeasured(metric));
  if (!other.has_value()) return NotDrawn("baseline: " + input.baseline->WhyNotMeasured(metric));
  Json rows = Json::array();
  const MetricDefinition* definition = FindMetric(metric);
  const std::string unit = definition == nullptr ? "" : definition->unit;
  AddRun(*input.baseline, "baseline", metric, unit, &rows);
  AddRun(*input.measurement, "this run", metric, unit, &rows);
  std::string finding = "no change in per cent: the baseline is 0";
  if (*other != 0) finding = HumanChange((*value - *other) / std::fabs(*other)) + " against the baseline";
  const bool has_interval = HalfIntervalOfMean(*input.measurement, metric).has_value();
  finding += has_interval ? "; lines: 95 % interval of the mean" : "; no interval: one value a run";
  return {FilledTemplate("compared_metric",
                         {{"runs", std::move(rows)},
                          {"title", unit.empty() ? std::string(metric) : fmt::format("{} [{}]", metric, unit)},
                          {"value labels", NumberLabels(std::max(std::fabs(*value), std::fabs(*other)))}}),
          finding, ""};
}

}  // namespace crema
