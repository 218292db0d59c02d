#include "collector/charts/specification.h"

#include <string_view>
#include <utility>

#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "https://vega.github.io/schema/vega-lite/v5.json";
constexpr size_t kSubtitleColumns = 100;

/// Lines of at most `columns` bytes, broken at spaces.
Json Lines(std::string_view text, size_t columns) {
  Json lines = Json::array();
  while (text.size() > columns) {
    size_t at = text.rfind(' ', columns);
    if (at == std::string_view::npos || at == 0) at = text.find(' ', columns);
    if (at == std::string_view::npos) break;
    lines.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  lines.push_back(text);
  return lines;
}

}  // namespace

Json SpecificationOf(const Chart& chart, const std::string& finding, const std::string& source_line, const Json& body) {
  Json subtitle = Lines(chart.subtitle, kSubtitleColumns);
  subtitle.push_back(source_line);
  Json spec;
  spec["$schema"] = kSchema;
  spec["usermeta"] = {{"crema", chart.name}};  // tells that crema wrote it
  spec["title"] = {{"text", chart.title}, {"subtitle", std::move(subtitle)}};
  spec["description"] = fmt::format("{} {}.", chart.title, finding);
  spec["config"] = ChartConfig(ChartTheme::kLight);
  spec.update(body);
  return spec;
}

}  // namespace crema
