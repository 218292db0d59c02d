// Datasets and files beside one another.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDatasets = 40;
constexpr size_t kMostFiles = 30;
constexpr int kWidestLabel = 420;  // pixels: it is the end of a file's name that tells files apart

struct NamedValue {
  std::string name;
  double value = 0;
  std::optional<double> baseline;
  std::string words;
};

/// Horizontal bars with their figures; the baseline's as grey ticks.
Json Bars(const std::vector<NamedValue>& rows, std::string_view title, std::string_view style) {
  Json values = Json::array();
  bool has_baseline = false;
  ShownNames names;
  for (const NamedValue& row : rows) {
    Json value = {{"name", names.Of(row.name)}, {"v", row.value}, {"words", row.words}};
    value["end"] = std::max(row.value, row.baseline.value_or(0));
    if (row.baseline.has_value()) value["baseline"] = *row.baseline;
    has_baseline |= row.baseline.has_value();
    values.push_back(std::move(value));
  }
  Json y = Names("name", "");
  y["axis"] = {{"labelLimit", kWidestLabel}};
  const Json x = Quantity("v", title);
  Json layers = Json::array();
  layers.push_back(
      {{"mark", {{"type", "bar"}, {"style", style}, {"height", {{"band", 0.7}}}}},
       {"encoding", {{"y", y}, {"x", x}, {"tooltip", Tooltip({{"name", "name", "nominal"}, {"v", title}})}}}});
  if (has_baseline) {
    layers.push_back({{"mark", {{"type", "tick"}, {"style", "baseline"}, {"thickness", 3}}},
                      {"encoding", {{"y", y}, {"x", Quantity("baseline", title)}}}});
  }
  layers.push_back(
      {{"mark", {{"type", "text"}, {"style", "label"}, {"align", "left"}, {"dx", 5}}},
       {"encoding", {{"y", y}, {"x", Quantity("end", title)}, {"text", {{"field", "words"}, {"type", "nominal"}}}}}});
  return {{"width", 520},
          {"height", {{"step", 24}}},
          {"data", InlineData(std::move(values))},
          {"layer", std::move(layers)}};
}

}  // namespace

Drawing DrawDatasetRates(const ChartInput& input) {
  std::map<std::string, Number> baseline;
  if (input.baseline != nullptr) {
    for (const BreakdownRow& row : input.baseline->datasets) {
      if (row.event_rate.has_value()) baseline[row.name] = row.event_rate;
    }
  }
  std::vector<NamedValue> rows;
  for (const BreakdownRow& row : input.measurement->datasets) {
    if (!row.event_rate.has_value()) continue;
    const auto other = baseline.find(row.name);
    rows.push_back(
        {row.name, *row.event_rate, other == baseline.end() ? Number() : other->second, HumanRate(*row.event_rate)});
  }
  if (rows.empty()) return NotDrawn("no chunk told its number of events");
  std::stable_sort(rows.begin(), rows.end(),
                   [](const NamedValue& a, const NamedValue& b) { return a.value > b.value; });
  if (rows.size() > kMostDatasets) rows.erase(rows.begin(), rows.end() - kMostDatasets);
  return {Bars(rows, "events per second of a busy lane [1/s]", "events"),
          fmt::format("fastest {} in {}, slowest {} in {}", rows.front().words, ShownName(rows.front().name),
                      rows.back().words, ShownName(rows.back().name)),
          ""};
}

Drawing DrawFileReadRates(const ChartInput& input) {
  std::vector<NamedValue> rows;
  for (const BreakdownRow& row : input.measurement->files) {
    const Number &bytes = row.bytes_read, &seconds = row.duration_sum;
    if (!bytes.has_value() || !seconds.has_value() || !(*seconds > 0)) continue;
    const double rate = *bytes / *seconds / 1e6;
    const std::string& path = row.name;
    rows.push_back({path.substr(path.find_last_of('/', path.size() < 2 ? 0 : path.size() - 2) + 1), rate, std::nullopt,
                    fmt::format("{}/s · {}", HumanData(rate * 1e6), HumanData(*bytes))});
  }
  if (rows.empty()) return NotDrawn("no chunk told how many bytes it read");
  std::stable_sort(rows.begin(), rows.end(),
                   [](const NamedValue& a, const NamedValue& b) { return a.value < b.value; });
  const size_t all = rows.size();
  if (all > kMostFiles) rows.resize(kMostFiles);
  std::string finding = fmt::format("slowest: {} of chunk time from {}",
                                    HumanData(rows.front().value * 1e6) + " a second", ShownName(rows.front().name));
  if (all > kMostFiles) finding += fmt::format("; the {} slowest of {} files", kMostFiles, all);
  return {Bars(rows, "data read per second of chunk time [MB/s]", "data"), finding, ""};
}

}  // namespace crema
