#include "collector/charts/prediction_chart.h"

#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/drawing.h"
#include "collector/charts/shown_names.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

double Value(const Json& row, std::string_view key) { return NumberField(row, key).value_or(0); }

Json Rows(const Json& prediction) {
  Json rows = Json::array();
  for (const Json& row : ListField(prediction, "predicted")) {
    if (!NumberField(row, "wall_time").has_value()) continue;
    rows.push_back(
        {{"change", ShownName(TextField(row, "change"))},
         {"wall_time", Rounded(Value(row, "wall_time"))},
         {"low", Rounded(Value(row, "low"))},
         {"high", Rounded(Value(row, "high"))},
         {"time", HumanDuration(Value(row, "wall_time"))},
         {"range", fmt::format("{} to {}", HumanDuration(Value(row, "low")), HumanDuration(Value(row, "high")))}});
  }
  return rows;
}

}  // namespace

Chart MakePredictionChart(const Json& prediction) {
  Chart chart;
  chart.name = "prediction";
  chart.title = "What would help?";
  const Json rows = Rows(prediction);
  if (rows.empty()) {
    const std::string refused = TextField(prediction, "refused");
    chart.reason = refused.empty() ? "no change can be predicted" : refused;
    return chart;
  }
  const double measured = Value(Field(prediction, "measured"), "wall_time");
  const std::string finding = fmt::format("{} {} instead of {} (dashed)", TextField(rows.front(), "change"),
                                          TextField(rows.front(), "time"), HumanDuration(measured));
  chart.subtitle = finding + ". Predicted by replaying the run's own chunks; bars: 90 % of such runs.";
  chart.spec = SpecificationOf(
      chart, finding, "crema · predicted from one run",
      FilledTemplate("prediction",
                     {{"changes", rows}, {"measured", Rounded(measured)}, {"measured time", HumanDuration(measured)}}));
  return chart;
}

}  // namespace crema
