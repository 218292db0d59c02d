// What the user's code recorded: metrics of its own, and the cut flow.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "collector/document/document_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 40;

const Json* FindMetric(const Json& document, std::string_view name) {
  for (const Json& row : ListField(document, "custom_metrics")) {
    if (TextField(row, "name") == name) return &row;
  }
  return nullptr;
}

void AddRow(const std::string& name, const Json& figures, Json* values) {
  const auto minimum = NumberField(figures, "min"), maximum = NumberField(figures, "max");
  if (!minimum.has_value() || !maximum.has_value()) return;
  Json row = {{"name", name}, {"min", *minimum}, {"max", *maximum}};
  for (const char* key : {"p50", "p95", "mean", "sum", "count"}) {
    const auto value = NumberField(figures, key);
    row[key] = value.has_value() ? Json(*value) : Json();
  }
  values->push_back(std::move(row));
}

// How often values of about one size came; null where the records do not tell.
Json HistogramPanel(const Json& metric, const std::string& title) {
  const Json& histogram = Field(metric, "histogram");
  const Json &edges = ListField(histogram, "edges"), &counts = ListField(histogram, "counts");
  if (counts.size() < 2 || edges.size() != counts.size() + 1) return {};
  Json values = Json::array();
  for (size_t i = 0; i < counts.size(); ++i) {
    values.push_back({{"from", edges[i]}, {"to", edges[i + 1]}, {"count", counts[i]}});
  }
  const double first = edges[0].get<double>(), second = edges[1].get<double>(), last = edges.back().get<double>();
  const bool logarithmic = first > 0 && last - edges[edges.size() - 2].get<double>() > 2 * (second - first);
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
  for (const char* quantile : {"p50", "p95"}) {
    const auto value = NumberField(metric, quantile);
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
  const Json* row = FindMetric(*input.document, metric);
  if (row == nullptr) return NotDrawn(fmt::format("no metric `{}` was recorded", ShownName(metric)));
  Json values = Json::array();
  AddRow("all datasets", *row, &values);
  const Json& by_dataset = Field(*row, "by_dataset");
  ShownNames names;
  names.Of("all datasets");
  if (by_dataset.is_object() && by_dataset.size() > 1) {
    for (const auto& [dataset, figures] : by_dataset.items()) {
      if (values.size() < kMostRows) AddRow(names.Of(dataset), figures, &values);
    }
  }
  if (values.empty()) return NotDrawn("every value of the metric was without a number");
  const std::string unit = ShownName(TextField(*row, "unit"));
  const std::string title = TextField(*row, "unit").empty() ? "value" : fmt::format("value [{}]", unit);
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
  if (TextField(*row, "quantiles_of") == "chunk means") how += "; median and p95 are of chunk means";
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
  std::string finding = Counted(NumberField(*row, "count").value_or(0), "value", "values");
  if (const auto sum = NumberField(*row, "sum")) finding += ", sum " + HumanCount(*sum);
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
  for (const Json& row : ListField(*input.document, "cuts")) {
    const auto events = NumberField(row, "events");
    if (!events.has_value()) continue;
    const auto step = NumberField(row, "step_efficiency"), total = NumberField(row, "total_efficiency");
    std::string words = HumanCount(*events);
    if (!values.empty() && step.has_value()) words += fmt::format(" · {} of the step before", HumanPercent(*step));
    if (values.empty()) first = *events;
    last = *events;
    if (*events > 0) least = least > 0 ? std::min(least, *events) : *events;
    values.push_back({{"cut", names.Of(TextField(row, "name"))},
                      {"events", *events},
                      {"drawn", *events},
                      {"step", step.has_value() ? Json(*step) : Json()},
                      {"total", total.has_value() ? Json(*total) : Json()},
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
