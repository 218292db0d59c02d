#include "collector/charts/history_chart.h"

#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/drawing.h"
#include "collector/charts/shown_names.h"
#include "collector/records/loose_json.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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
  return FilledTemplate("history", {{"title", TextField(history, "metric") + (unit.empty() ? "" : " (" + unit + ")")},
                                    {"runs", RunRows(history)},
                                    {"levels", LevelRows(history)},
                                    {"changes", ChangeRows(history)}});
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
