#include "collector/charts/heat_map.h"

#include <algorithm>
#include <utility>

#include "collector/charts/drawing.h"
#include "collector/charts/encodings.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 256;
constexpr size_t kMostBins = 200;   // cells of 3 pixels and more
constexpr size_t kMostLabels = 40;  // beyond that they would overlap
constexpr double kOverlap = 0.5;    // of a cell

}  // namespace

size_t HeatMap::BinsFor(size_t rows) {
  const size_t drawn = std::clamp<size_t>(rows, 1, kMostRows);
  return std::min(kMostBins, (kMostMarks - kMostRows) / drawn);
}

void HeatMap::AddRow(const std::string& name, const std::vector<std::optional<double>>& bins) {
  AddRow(name, bins, 0, bins.empty() ? 0 : wall_seconds_ / static_cast<double>(bins.size()));
}

void HeatMap::AddRow(const std::string& name, const std::vector<std::optional<double>>& bins, double start_seconds,
                     double bin_seconds) {
  if (++rows_ > kMostRows) return;
  names_.push_back({{"name", name}, {"from", 0}, {"to", Rounded(wall_seconds_)}});
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    if (!bins[bin].has_value()) continue;
    const double from = start_seconds + static_cast<double>(bin) * bin_seconds;
    // what follows is drawn over it: edges between pixels would be seams
    const bool is_followed = bin + 1 < bins.size() && bins[bin + 1].has_value();
    const double to = from + bin_seconds * (is_followed ? 1 + kOverlap : 1);
    cells_.push_back({{"name", name},
                      {"from", Rounded(std::max(0.0, from))},
                      {"to", Rounded(std::min(wall_seconds_, to))},
                      {"v", Rounded(*bins[bin])}});
  }
}

std::string HeatMap::LeftOut() const {
  return rows_ > kMostRows ? fmt::format("; {} of {} workers", kMostRows, rows_) : "";
}

Json HeatMap::Take() {
  const size_t rows = std::min(rows_, kMostRows);
  Json y = Names("name", "");
  y["axis"] = {{"labels", rows <= kMostLabels}, {"ticks", false}, {"domain", false}};
  y["scale"] = {{"paddingInner", rows <= kMostLabels ? 0.12 : 0.0}};
  const Json x = TimeAxis("from", wall_seconds_), x2 = {{"field", "to"}};
  Json colour = Quantity("v", what_);
  colour["scale"] = {{"domainMin", 0}};
  if (top_.has_value()) colour["scale"] = {{"domain", {0, *top_}}, {"clamp", true}};
  colour["legend"] = {{"gradientLength", 220}, {"gradientThickness", 10}, {"titleLimit", 320}};
  Json cells = {{"data", InlineData(std::move(cells_))},
                {"mark", {{"type", "rect"}, {"strokeWidth", 0}}},
                {"encoding",
                 {{"x", x},
                  {"x2", x2},
                  {"y", y},
                  {"color", std::move(colour)},
                  {"tooltip", Tooltip({{"name", "worker", "nominal"}, {"from", "from [s]"}, {"v", what_}})}}}};
  Json there = {{"data", InlineData(std::move(names_))},
                {"mark", {{"type", "rect"}, {"style", "idle"}, {"opacity", 0.45}}},
                {"encoding", {{"x", x}, {"x2", x2}, {"y", y}}}};
  Json layers = Json::array();
  layers.push_back(std::move(there));
  layers.push_back(std::move(cells));
  return {{"width", 640},
          {"height", {{"step", std::clamp(480.0 / static_cast<double>(std::max<size_t>(rows, 1)), 2.0, 22.0)}}},
          {"layer", std::move(layers)}};
}

}  // namespace crema
