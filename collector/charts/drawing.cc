#include "collector/charts/drawing.h"

#include <cstdlib>

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

}  // namespace

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
