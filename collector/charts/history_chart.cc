#include "collector/charts/history_chart.h"

#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/shown_names.h"
#include "collector/charts/specification.h"
#include "collector/records/loose_json.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kX = "run, oldest first";

double Value(const Json& row, std::string_view key) { return NumberField(row, key).value_or(0); }

std::string Written(const Json& history, double value) {
  return HumanQuantity(TextField(history, "metric"), value, TextField(history, "unit"));
}

Json RunRows(const Json& history) {
  Json rows = Json::array();
  for (const Json& run : ListField(history, "runs")) {
    rows.push_back({{"run", rows.size() + 1},
                    {"value", Rounded(Value(run, "value"))},
                    {"start", TextField(run, "start")},
                    {"directory", ShownName(TextField(run, "directory"))},
                    {"commit", ShownName(TextField(run, "commit"))},
                    {"text", Written(history, Value(run, "value"))}});
  }
  return rows;
}

Json LevelRows(const Json& history) {
  Json rows = Json::array();
  for (const Json& level : ListField(history, "levels")) {
    const double first = Value(level, "first") + 1;
    rows.push_back({{"run", first - 0.5},
                    {"last", first + Value(level, "runs") - 0.5},
                    {"value", Rounded(Value(level, "value"))},
                    {"text", Written(history, Value(level, "value"))}});
  }
  return rows;
}

/// In which runs a level may have begun.
Json ChangeRows(const Json& history) {
  Json rows = Json::array();
  for (const Json& change : ListField(history, "changes")) {
    rows.push_back({{"run", Value(change, "earliest") + 0.5},
                    {"last", Value(change, "latest") + 1.5},
                    {"start", TextField(change, "start")},
                    {"commit", ShownName(TextField(change, "commit"))}});
  }
  return rows;
}

Json Body(const Json& history) {
  const std::string unit = TextField(history, "unit");
  const std::string title = TextField(history, "metric") + (unit.empty() ? "" : " (" + unit + ")");
  Json x = Quantity("run", kX), y = Quantity("value", title);
  y["scale"] = {{"zero", false}};
  Json layers = Json::array();
  layers.push_back({{"data", InlineData(ChangeRows(history))},
                    {"mark", {{"type", "rect"}, {"opacity", 0.25}, {"color", ColourNamed("wait")}}},
                    {"encoding",
                     {{"x", x},
                      {"x2", {{"field", "last"}}},
                      {"tooltip", Tooltip({{"start", "changed at", "nominal"}, {"commit", "commit", "nominal"}})}}}});
  layers.push_back({{"data", InlineData(RunRows(history))},
                    {"mark", {{"type", "point"}, {"filled", true}, {"size", 40}, {"color", ColourNamed("cpu")}}},
                    {"encoding",
                     {{"x", x},
                      {"y", y},
                      {"tooltip", Tooltip({{"start", "began", "nominal"},
                                           {"directory", "run", "nominal"},
                                           {"commit", "commit", "nominal"},
                                           {"text", "value", "nominal"}})}}}});
  layers.push_back(
      {{"data", InlineData(LevelRows(history))},
       {"mark", {{"type", "rule"}, {"strokeWidth", 2}, {"color", ColourNamed("baseline")}}},
       {"encoding",
        {{"x", x}, {"x2", {{"field", "last"}}}, {"y", y}, {"tooltip", Tooltip({{"text", "level", "nominal"}})}}}});
  return {{"width", 640}, {"height", 320}, {"layer", std::move(layers)}};
}

}  // namespace

Chart MakeHistoryChart(const Json& history) {
  Chart chart;
  chart.name = "history";
  chart.title = "When did it change?";
  const Json& runs = ListField(history, "runs");
  if (runs.empty()) {
    chart.reason = "no run can be used";
    return chart;
  }
  const Json& sentences = ListField(history, "sentences");
  if (!sentences.empty() && sentences.front().is_string()) chart.subtitle = sentences.front().get<std::string>();
  std::string finding = chart.subtitle;
  if (!finding.empty()) finding.pop_back();  // its full stop
  const std::string source = "crema · " + Counted(static_cast<double>(runs.size()), "run", "runs");
  chart.spec = SpecificationOf(chart, finding, source, Body(history));
  return chart;
}

}  // namespace crema
