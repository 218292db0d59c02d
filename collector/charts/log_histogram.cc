#include "collector/charts/log_histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/charts/encodings.h"
#include "collector/charts/shown_names.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

Json StackedBars(const ValueShape& shape, double factor, const std::vector<std::string>& slots) {
  Json values = Json::array();
  for (size_t bin = 0; bin < shape.bins(); ++bin) {
    int64_t below = 0;
    for (size_t slot = 0; slot < shape.counts.size(); ++slot) {
      const int64_t count = shape.counts[slot][bin];
      if (count == 0) continue;
      values.push_back({{"from", Rounded(shape.Edge(bin) * factor)},
                        {"to", Rounded(shape.Edge(bin + 1) * factor)},
                        {"dataset", slot < slots.size() ? slots[slot] : ""},
                        {"count", count},
                        {"below", below},
                        {"above", below + count}});
      below += count;
    }
  }
  return values;
}

Json Outline(const ValueShape& shape, double factor) {
  Json values = Json::array();
  for (size_t bin = 0; bin < shape.bins(); ++bin) {
    int64_t count = 0;
    for (const std::vector<int64_t>& counts : shape.counts) count += counts[bin];
    values.push_back({{"from", Rounded(shape.Edge(bin) * factor)}, {"count", count}});
  }
  return values;
}

int64_t Tallest(const ValueShape& shape) {
  int64_t tallest = 0;
  for (size_t bin = 0; bin < shape.bins(); ++bin) {
    int64_t count = 0;
    for (const std::vector<int64_t>& counts : shape.counts) count += counts[bin];
    tallest = std::max(tallest, count);
  }
  return tallest;
}

/// Of the logarithmic axis: words to the right of what is beyond would run out of a chart of half the page's width.
constexpr double kRoomForWords = 0.65;

Json MarkLayers(const std::vector<HistogramMark>& marks, const ValueShape& shape, double factor, const Json& x) {
  const double first = std::log(shape.Edge(0) * factor), span = std::log(shape.Edge(shape.bins()) * factor) - first;
  Json left = Json::array(), right = Json::array();
  // words that would stand on one another take turns in height
  int turn = 0;
  for (const HistogramMark& mark : marks) {
    Json& values = std::log(mark.value) - first > kRoomForWords * span ? left : right;
    values.push_back({{"v", Rounded(mark.value)}, {"words", mark.words}, {"top", 2 + 14 * (turn++ % 4)}});
  }
  Json at = x;
  at["field"] = "v";
  Json layers = Json::array();
  const auto add = [&](Json values, const char* align, int dx) {
    if (values.empty()) return;
    layers.push_back(
        {{"data", InlineData(values)}, {"mark", {{"type", "rule"}, {"style", "mean"}}}, {"encoding", {{"x", at}}}});
    layers.push_back(
        {{"data", InlineData(std::move(values))},
         {"mark", {{"type", "text"}, {"style", "strong-label"}, {"align", align}, {"dx", dx}, {"baseline", "top"}}},
         {"encoding",
          {{"x", at},
           {"y", {{"field", "top"}, {"type", "quantitative"}, {"scale", nullptr}, {"axis", nullptr}}},
           {"text", {{"field", "words"}, {"type", "nominal"}}}}}});
  };
  add(std::move(right), "left", 4);
  add(std::move(left), "right", -4);
  return layers;
}

}  // namespace

std::vector<std::string> SlotNames(const RunDetail& detail) {
  std::vector<std::string> shown;
  ShownNames names;
  for (uint32_t slot = 0; slot < SlotCount(detail); ++slot) shown.push_back(names.Of(SlotName(detail, slot)));
  return shown;
}

Json SlotColours(const std::vector<std::string>& names, std::string_view field) {
  return {{"field", field},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", names}}},
          {"legend", {{"columns", 4}, {"labelLimit", 150}}}};
}

Json LogHistogram(const RunDetail& detail, const ValueShape& shape, double factor, const std::string& title,
                  const std::vector<HistogramMark>& marks, const ValueShape* baseline) {
  const std::vector<std::string> slots = SlotNames(detail);
  Json x = Quantity("from", title);
  x["scale"] = {{"type", "log"}, {"nice", false}};
  x["axis"] = {{"grid", false}, {"tickCount", 6}, {"format", ",.3~r"}};
  Json y = Quantity("below", "chunks");
  // room for the words above the bars
  y["scale"] = {{"domain", {0, 1.3 * static_cast<double>(Tallest(shape))}}, {"nice", false}};
  Json layers = Json::array();
  layers.push_back(
      {{"data", InlineData(StackedBars(shape, factor, slots))},
       {"mark", {{"type", "rect"}}},
       {"encoding",
        {{"x", x},
         {"x2", {{"field", "to"}}},
         {"y", y},
         {"y2", {{"field", "above"}}},
         {"color", SlotColours(slots, "dataset")},
         {"tooltip",
          Tooltip({{"dataset", "dataset", "nominal"}, {"from", "from"}, {"to", "to"}, {"count", "chunks"}})}}}});
  if (baseline != nullptr && baseline->per_decade == shape.per_decade) {
    layers.push_back({{"data", InlineData(Outline(*baseline, factor))},
                      {"mark", {{"type", "line"}, {"style", "baseline"}, {"interpolate", "step-after"}}},
                      {"encoding", {{"x", x}, {"y", Quantity("count", "chunks")}}}});
  }
  for (Json& layer : MarkLayers(marks, shape, factor, x)) layers.push_back(std::move(layer));
  return {{"width", 640}, {"height", 260}, {"layer", std::move(layers)}};
}

}  // namespace crema
