#include "collector/charts/section_tree_chart.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/chart_template.h"
#include "collector/charts/drawing.h"
#include "collector/charts/shown_names.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 40;
constexpr double kLeastShown = 0.001;  // of the time before, in sum

double Value(const Json& row, const char* key) { return NumberField(row, key).value_or(0); }

/// Sections that differ by something, with those they are in; the largest where there are too many.
std::vector<const Json*> ShownRows(const Json& tree) {
  double all = 0;
  for (const Json& row : tree) all += Value(row, "depth") == 0 ? Value(row, "before") : 0;
  std::vector<double> sizes;
  for (const Json& row : tree) sizes.push_back(std::fabs(Value(row, "difference")));
  std::sort(sizes.rbegin(), sizes.rend());
  const double least = std::max(kLeastShown * all, sizes.size() > kMostRows ? sizes[kMostRows] : 0);
  std::vector<const Json*> shown;
  for (const Json& row : tree) {
    if (shown.size() < kMostRows && std::fabs(Value(row, "difference")) >= least) shown.push_back(&row);
  }
  return shown;
}

Json Body(const std::vector<const Json*>& shown) {
  Json values = Json::array();
  for (const Json* row : shown) {
    const double difference = Value(*row, "difference");
    values.push_back({{"path", ShownName(TextField(*row, "path"))},
                      {"difference", Rounded(difference)},
                      {"self", Rounded(Value(*row, "self_difference"))},
                      {"kind", difference < 0 ? "less" : "more"},
                      {"before", HumanDuration(Value(*row, "before"))},
                      {"after", HumanDuration(Value(*row, "after"))}});
  }
  return FilledTemplate("section_differences", {{"sections", std::move(values)}});
}

}  // namespace

Chart MakeSectionTreeChart(const Json& comparison) {
  Chart chart;
  chart.name = "section_differences";
  chart.title = "Which sections took longer?";
  const std::vector<const Json*> shown = ShownRows(ListField(comparison, "section_tree"));
  if (shown.empty()) {
    chart.reason = "no section differs by a thousandth of the time in chunks";
    return chart;
  }
  std::string finding;
  for (const Json* row : shown) {
    if (Value(*row, "depth") > 0) continue;
    const double difference = Value(*row, "difference");
    finding = fmt::format("{} took {} {}", TextField(*row, "path"), HumanDuration(std::fabs(difference)),
                          difference < 0 ? "less" : "more");
    break;
  }
  chart.subtitle = finding;
  chart.spec = SpecificationOf(chart, finding, "crema · compare", Body(shown));
  return chart;
}

}  // namespace crema
