// What a specification looks like in a theme (templates/theme.json): the colours by their names.
#include <string>
#include <string_view>

#include "collector/appearance/colours.h"
#include "collector/charts/chart.h"
#include "collector/charts/chart_template.h"

namespace crema {

using Json = nlohmann::ordered_json;

Json ChartConfig(ChartTheme theme) {
  Json values;
  const auto add = [&](const Colour& colour) -> std::string_view {
    const std::string_view value = theme == ChartTheme::kLight ? colour.light : colour.dark;
    values["params"].push_back({{"name", std::string(colour.name) + "Colour"}, {"value", value}});
    return value;
  };
  for (const Colour& colour : Colours()) {
    // a mark takes its colour by `"style": "limit"`
    values["styles"][std::string(colour.name)]["color"] = values[std::string(colour.name)] = add(colour);
  }
  for (const Colour& colour : DatasetColours()) values["datasets"].push_back(add(colour));
  values["map"] = {values["palest"], values["cpu"], values["strongest"]};
  return FilledTemplate("theme", values);
}

}  // namespace crema
