#include "collector/charts/drawing.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct TimeFormat {
  std::string_view title;
  std::string_view label;  ///< an expression over `datum.value`, in seconds
};

TimeFormat FormatFor(double seconds) {
  if (seconds < 120) return {"time since the start [s]", ""};
  if (seconds < 7200) {
    return {"time since the start [min:s]",
            "floor(datum.value / 60) + ':' + pad(toString(round(datum.value % 60)), 2, '0', 'left')"};
  }
  if (seconds < 172800) {
    return {"time since the start [h:min]",
            "floor(datum.value / 3600) + ':' + pad(toString(round(datum.value % 3600 / 60)), 2, '0', 'left')"};
  }
  return {"time since the start [days]", "format(datum.value / 86400, '.3~f')"};
}

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
  spec["usermeta"] = {{"crema", chart.name}};  // shows that crema wrote it
  spec["title"] = {{"text", chart.title}, {"subtitle", std::move(subtitle)}};
  spec["description"] = fmt::format("{} {}.", chart.title, finding);
  spec["config"] = ChartConfig(ChartTheme::kLight);
  spec.update(body);
  return spec;
}

std::string WhyNoChunks(const ChartInput& input, const std::string& otherwise) {
  if (input.detail == nullptr) return "the single chunks are not known: this is a measurement without its records";
  return input.detail->why_no_attempts.empty() ? otherwise : input.detail->why_no_attempts;
}

Json TimeAxis(double seconds, int most_ticks) {
  const TimeFormat format = FormatFor(seconds);
  const double step = RoundTimeStep(seconds, most_ticks);
  Json ticks = Json::array();
  for (int i = 0; i * step <= seconds * (1 + 1e-9); ++i) ticks.push_back(Rounded(i * step));
  Json axis = {{"values", std::move(ticks)}, {"grid", false}};
  if (!format.label.empty()) axis["labelExpr"] = format.label;
  return {{"type", "quantitative"},
          {"title", format.title},
          {"scale", {{"domain", {0, Rounded(seconds)}}, {"nice", false}}},
          {"axis", std::move(axis)}};
}

Json NumberLabels(double largest) {
  if (largest < kExactBelow) return {{"format", ",~r"}};
  return {{"labelExpr", "replace(format(datum.value, '~s'), regexp('([a-zA-Zµ])$'), ' $1')"}};
}

Json ColourScale(const std::vector<std::string>& names, const std::vector<std::string_view>& colours) {
  Json range = Json::array();
  for (const std::string_view colour : colours) range.push_back({{"expr", std::string(colour) + "Colour"}});
  return {{"domain", names}, {"range", std::move(range)}};
}

Json RealOf(const Number& number) { return number.has_value() ? Json(*number) : Json(); }

double Rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

}  // namespace crema
