// Datasets and files beside one another, and what was read of them.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDatasets = 40;
constexpr size_t kMostFiles = 30;

struct NamedRate {
  std::string name;
  double value = 0;
  std::optional<double> baseline;
  std::string words;
};

/// Horizontal bars with their figures; the baseline's as grey ticks.
Json Bars(const std::vector<NamedRate>& rates, std::string_view title, std::string_view style) {
  Json values = {{"title", title}, {"style", style}};
  ShownNames names;
  for (const NamedRate& rate : rates) {
    Json row = {{"name", names.Of(rate.name)},
                {"v", rate.value},
                {"words", rate.words},
                {"end", std::max(rate.value, rate.baseline.value_or(0))}};
    if (rate.baseline.has_value()) {
      row["baseline"] = *rate.baseline;
      values["has baseline"] = true;
    }
    values["rates"].push_back(std::move(row));
  }
  return FilledTemplate("rates", values);
}

}  // namespace

Drawing DrawDatasetRates(const ChartInput& input) {
  std::map<std::string, Number> baseline;
  if (input.baseline != nullptr) {
    for (const BreakdownRow& row : input.baseline->datasets) baseline[row.name] = row.event_rate;
  }
  std::vector<NamedRate> rates;
  for (const BreakdownRow& row : input.measurement->datasets) {
    if (!row.event_rate.has_value()) continue;
    rates.push_back({row.name, *row.event_rate, baseline[row.name], HumanRate(*row.event_rate)});
  }
  if (rates.empty()) return NotDrawn("no chunk recorded its number of events");
  std::stable_sort(rates.begin(), rates.end(),
                   [](const NamedRate& a, const NamedRate& b) { return a.value > b.value; });
  if (rates.size() > kMostDatasets) rates.erase(rates.begin(), rates.end() - kMostDatasets);
  return {Bars(rates, "events per second of a busy lane [1/s]", "events"),
          fmt::format("fastest {} in {}, slowest {} in {}", rates.front().words, ShownName(rates.front().name),
                      rates.back().words, ShownName(rates.back().name)),
          ""};
}

Drawing DrawFileReadRates(const ChartInput& input) {
  std::vector<NamedRate> rates;
  std::vector<std::string_view> paths;
  for (const BreakdownRow& row : input.measurement->files) {
    paths.push_back(row.name.str());
    const Number &bytes = row.bytes_read, &seconds = row.duration_sum;
    if (!bytes.has_value() || !seconds.has_value() || !(*seconds > 0)) continue;
    const double rate = *bytes / *seconds / 1e6;
    rates.push_back({row.name, rate, std::nullopt, fmt::format("{}/s · {}", HumanData(rate * 1e6), HumanData(*bytes))});
  }
  if (rates.empty()) return NotDrawn("no chunk recorded how many bytes it read");
  std::stable_sort(rates.begin(), rates.end(),
                   [](const NamedRate& a, const NamedRate& b) { return a.value < b.value; });
  const size_t all = rates.size();
  if (all > kMostFiles) rates.resize(kMostFiles);
  for (NamedRate& rate : rates) rate.name = std::string(ShortestUniqueEnd(rate.name, paths));
  std::string finding = fmt::format("slowest: {} a second of chunk time from {}", HumanData(rates.front().value * 1e6),
                                    ShownName(rates.front().name));
  if (all > kMostFiles) finding += fmt::format("; the {} slowest of {} files", kMostFiles, all);
  return {Bars(rates, "data read per second of chunk time [MB/s]", "data"), finding, ""};
}

Drawing DrawBytesAccessed(const ChartInput& input) {
  Json values = {{"values", Json::array()}};
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  std::string finding;
  // sorted values: the x axis is the share of chunks that have at most this much
  const auto add = [&](std::string_view quantity, const std::string& name, std::string_view colour) {
    const ValueShape* shape = input.detail == nullptr ? nullptr : input.detail->FindDistribution(quantity);
    if (shape == nullptr) return;
    const auto count = static_cast<double>(shape->sorted.size());
    double rank = 0.5;
    for (const double value : shape->sorted) {
      values["values"].push_back({{"rank", Rounded(100 * rank / count)}, {"v", Rounded(value * 1e-6)}, {"name", name}});
      ++rank;
    }
    const std::string mean = HumanData(shape->sum / static_cast<double>(shape->count));
    finding +=
        finding.empty() ? fmt::format("{} {} a chunk on average", name, mean) : fmt::format(", {} {}", name, mean);
    names.push_back(name);
    colours.push_back(colour);
  };
  add("bytes_read", "as stored", "data");
  add("bytes_uncompressed", "uncompressed", "wait");
  if (names.empty()) return NotDrawn(WhyNoChunks(input, "no chunk recorded how many bytes it read"));
  values["are few"] = values["values"].size() <= 20 * names.size();
  values["names"] = ColourScale(names, colours);
  values["legend"] = names.size() < 2 ? Json() : Json({{"symbolType", "stroke"}, {"symbolStrokeWidth", 3}});
  return {FilledTemplate("bytes_accessed_per_chunk", values), finding, ""};
}

Drawing DrawDataAccess(const ChartInput& input) {
  Json shares = Json::array();
  std::string finding;
  for (const auto& [key, label] : {std::pair<std::string_view, std::string_view>{"branches_read_share", "branches"},
                                   {"bytes_read_share", "bytes"}}) {
    const auto share = input.measurement->Metric(key);
    if (!share.has_value()) continue;
    shares.push_back(
        {{"what", label}, {"share", Rounded(100 * *share)}, {"words", HumanPercent(*share, 1)}, {"all", 100}});
    finding += fmt::format("{}{} of all {}", finding.empty() ? "" : ", ", HumanPercent(*share, 1), label);
  }
  if (shares.empty())
    return NotDrawn("how much of the files was read is not known: " +
                    input.measurement->WhyNotMeasured("bytes_read_share"));
  return {FilledTemplate("data_access_percentage", {{"shares", std::move(shares)}}),
          finding + " were read, mean over files", ""};
}

}  // namespace crema
