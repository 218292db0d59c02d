// What the user's code recorded: metrics of its own, and the cut flow.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
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

// How often values of about one size came; null where the records do not tell.
Json HistogramPanel(const CustomMetricRow& metric, const std::string& title) {
  if (!metric.histogram.has_value() || metric.histogram->counts.size() < 2) return {};
  const auto& [edges, counts] = *metric.histogram;
  Json values = Json::array();
  for (size_t i = 0; i < counts.size(); ++i) {
    values.push_back({{"from", edges[i]}, {"to", edges[i + 1]}, {"count", counts[i]}});
  }
  const bool logarithmic = edges[0] > 0 && edges.back() - edges[edges.size() - 2] > 2 * (edges[1] - edges[0]);
  Json x = Quantity("from", title);
  x["scale"] = {{"type", logarithmic ? "log" : "linear"}, {"zero", false}, {"nice", false}};
  x["axis"] = {{"grid", false}, {"tickCount", 8}};
  Json layers = Json::array();
  layers.push_back({{"data", InlineData(std::move(values))},
                    {"mark", {{"type", "bar"}, {"style", "events"}}},
                    {"encoding",
                     {{"x", x},
                      {"x2", {{"field", "to"}}},
                      {"y", Quantity("count", "values")},
                      {"tooltip", Tooltip({{"from", "from"}, {"to", "to"}, {"count", "values"}})}}}});
  for (const Number& value : {metric.p50, metric.p95}) {
    if (!value.has_value()) continue;
    Json at = Quantity("at", title);
    at["scale"] = x["scale"];
    at["axis"] = x["axis"];
    layers.push_back({{"data", InlineData(Json::array({{{"at", *value}}}))},
                      {"mark", {{"type", "rule"}, {"style", "ink"}}},
                      {"encoding", {{"x", at}}}});
  }
  return {{"width", 560}, {"height", 160}, {"layer", std::move(layers)}};
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
  const Json y = Names("name", "");
  const auto x = [&](std::string_view field) {
    Json encoding = Quantity(field, title);
    encoding["scale"] = {{"zero", false}};
    return encoding;
  };
  Json layers = Json::array();
  layers.push_back({{"mark", {{"type", "rule"}, {"style", "others"}, {"strokeWidth", 2}}},
                    {"encoding", {{"y", y}, {"x", x("min")}, {"x2", {{"field", "max"}}}}}});
  layers.push_back({{"mark", {{"type", "bar"}, {"style", "cpu"}, {"height", {{"band", 0.5}}}}},
                    {"encoding",
                     {{"y", y},
                      {"x", x("p50")},
                      {"x2", {{"field", "p95"}}},
                      {"tooltip", Tooltip({{"name", "dataset", "nominal"},
                                           {"count", "values"},
                                           {"sum", "sum"},
                                           {"mean", "mean"},
                                           {"min", "least"},
                                           {"p50", "median"},
                                           {"p95", "95 % are below"},
                                           {"max", "most"}})}}}});
  layers.push_back(
      {{"mark", {{"type", "tick"}, {"style", "ink"}, {"thickness", 2}}}, {"encoding", {{"y", y}, {"x", x("p50")}}}});
  layers.push_back({{"mark", {{"type", "point"}, {"style", "wait"}, {"filled", true}, {"size", 40}}},
                    {"encoding", {{"y", y}, {"x", x("mean")}}}});
  Json body = {{"width", 560},
               {"height", {{"step", 28}}},
               {"data", InlineData(std::move(values))},
               {"layer", std::move(layers)}};
  std::string how = "; line: least to most, bar: median to p95, dot: mean";
  if (row->quantiles_of == "chunk means") how += "; median and p95 are of chunk means";
  Json histogram = HistogramPanel(*row, title);
  if (!histogram.is_null()) {
    how = "; lines: median and p95";
    if (body["data"]["values"].size() > 1) {
      body = {{"vconcat", Json::array({std::move(histogram), std::move(body)})}, {"spacing", 14}};
      how += "; below, line: least to most, bar: median to p95, dot: mean";
    } else {
      body = std::move(histogram);
    }
  }
  std::string finding = Counted(row->count.value_or(0), "value", "values");
  if (row->sum.has_value()) finding += ", sum " + HumanCount(*row->sum);
  return {std::move(body), finding + how, ""};
}

namespace {

/// Of the first cut's events, that every cut has to keep for bars to be seen: a bar of less is a line.
constexpr double kLeastSeenShare = 0.01;

/// On a logarithmic axis a bar's length says nothing, so it has points.
Json CutMark(bool is_logarithmic) {
  if (is_logarithmic) return {{"type", "point"}, {"style", "events"}, {"filled", true}, {"size", 70}};
  return {{"type", "bar"}, {"style", "events"}, {"height", {{"band", 0.7}}}};
}

}  // namespace

Drawing DrawCutFlow(const ChartInput& input) {
  Json values = Json::array();
  ShownNames names;
  double first = 0, last = 0, least = 0;
  for (const CutRow& row : input.measurement->cuts) {
    if (!row.events.has_value()) continue;
    const Number& step = row.step_efficiency;
    last = *row.events;
    std::string words = HumanCount(last);
    if (!values.empty() && step.has_value()) words += fmt::format(" · {} of the step before", HumanPercent(*step));
    if (values.empty()) first = last;
    if (last > 0) least = least > 0 ? std::min(least, last) : last;
    values.push_back({{"cut", names.Of(row.name)},
                      {"events", last},
                      {"drawn", last},
                      {"step", RealOf(step)},
                      {"total", RealOf(row.total_efficiency)},
                      {"words", words}});
  }
  if (values.empty()) return NotDrawn("no cut was recorded; call RecordCut where events are selected");
  const bool is_logarithmic = least > 0 && least < kLeastSeenShare * first;
  const Json y = Names("cut", "");
  Json x = Quantity("drawn", is_logarithmic ? "events after the cut (logarithmic)" : "events after the cut");
  if (is_logarithmic) {
    constexpr double kBelowOne = 0.5;  // such an axis has no 0
    for (Json& value : values) value["drawn"] = std::max(value["drawn"].get<double>(), kBelowOne);
    x["scale"] = {{"type", "log"}, {"domainMin", kBelowOne}, {"nice", false}};
  }
  x["axis"] = {{"tickCount", 6}};
  LabelNumbers(first, &x["axis"]);
  Json layers = Json::array();
  layers.push_back({{"mark", CutMark(is_logarithmic)},
                    {"encoding",
                     {{"y", y},
                      {"x", x},
                      {"tooltip", Tooltip({{"cut", "cut", "nominal"},
                                           {"events", "events"},
                                           {"step", "of the step before"},
                                           {"total", "of all"}})}}}});
  layers.push_back({{"mark", {{"type", "text"}, {"style", "label"}, {"align", "left"}, {"dx", is_logarithmic ? 9 : 5}}},
                    {"encoding", {{"y", y}, {"x", x}, {"text", {{"field", "words"}, {"type", "nominal"}}}}}});
  Json body = {{"width", 520},
               {"height", {{"step", 28}}},
               {"data", InlineData(std::move(values))},
               {"layer", std::move(layers)}};
  return {std::move(body),
          fmt::format("{} of {} events are left{}", HumanCount(last), HumanCount(first),
                      first > 0 ? fmt::format(" ({})", HumanPercent(last / first)) : ""),
          ""};
}

}  // namespace crema
