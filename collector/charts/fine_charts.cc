// What tasks and transfers spent their time and bytes on: Dask's fine metrics, and activities that the SDK recorded.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/appearance/colours.h"
#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostFunctions = 20;
constexpr size_t kMostActivities = 12;
constexpr char kNoFine[] =
    "no fine metrics and no activities: they come from a Dask scheduler with crema's plug-in, or from the SDK";
constexpr char kTransfers[] = "between workers";
constexpr char kInTasks[] = "inside tasks";

/// Sum over spans and workers of what one function spent on one activity.
struct FineSum {
  std::string place;  ///< inside tasks, or between workers
  std::string function;
  std::string activity;
  double value = 0;
};

struct FineFilter {
  std::string_view unit;
  bool transfers_too = false;
  std::set<std::string> activities;  ///< empty: all
};

std::vector<FineSum> ReadFine(const Measurement& measurement, const FineFilter& filter) {
  std::map<std::pair<std::string, std::string>, FineSum> sums;
  std::vector<std::pair<std::string, std::string>> order;
  for (const FineRow& row : measurement.fine) {
    const std::string& context = row.context;
    const bool is_transfer = context == "get-data" || context == "gather-dep" || context == "p2p";
    if (!row.value.has_value() || row.unit != filter.unit || (is_transfer && !filter.transfers_too)) continue;
    const std::string activity = row.activity.has_value() ? row.activity.str() : "(no name)";
    if (!filter.activities.empty() && filter.activities.count(activity) == 0) continue;
    const std::string function = row.function.has_value() ? row.function.str() : context;
    // what Dask counts beside all spans is no task's
    if (function == "N/A") continue;
    const auto [found, is_new] = sums.try_emplace({function, activity});
    if (is_new) {
      found->second = {is_transfer ? kTransfers : kInTasks, function, activity, 0};
      order.push_back(found->first);
    }
    found->second.value += *row.value;
  }
  std::vector<FineSum> read;
  for (const auto& key : order) {
    if (sums[key].value > 0) read.push_back(sums[key]);
  }
  return read;
}

using NameOfSum = std::string FineSum::*;

/// Names by their sums, largest first; beyond `most` all others share one.
struct Ranking {
  std::vector<std::string> names;
  double total = 0;

  Ranking(const std::vector<FineSum>& sums, NameOfSum name, size_t most) {
    std::map<std::string, double> totals;
    for (const FineSum& sum : sums) {
      totals[sum.*name] += sum.value;
      total += sum.value;
    }
    std::vector<std::pair<double, std::string>> ranked;
    ranked.reserve(totals.size());
    for (const auto& [key, value] : totals) ranked.emplace_back(-value, key);
    std::sort(ranked.begin(), ranked.end());
    for (const auto& [value, key] : ranked) {
      if (names.size() < most) names.push_back(key);
    }
    has_others = ranked.size() > most;
    if (has_others) names.back() = kOthers;
  }

  std::string Of(const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end() || !has_others ? name : std::string(kOthers);
  }

  bool has_others = false;
  static constexpr char kOthers[] = "(others)";
};

/// The two that everybody looks for have the budget's colours; all others come after them.
Json ActivityColours(const std::vector<std::string>& ranked, ShownNames* names) {
  static const std::vector<std::string_view> kFurther = {"overhead", "opening", "events", "strongest", "limit",
                                                         "baseline", "others",  "data",   "muted",     "watch"};
  std::vector<std::string> domain;
  std::vector<std::string_view> colours;
  for (const auto& [activity, colour] : {std::pair<std::string, std::string_view>{"thread-cpu", "cpu"},
                                         std::pair<std::string, std::string_view>{"thread-noncpu", "wait"}}) {
    if (std::find(ranked.begin(), ranked.end(), activity) == ranked.end()) continue;
    domain.push_back(names->Of(activity));
    colours.push_back(colour);
  }
  size_t next = 0;
  for (const std::string& activity : ranked) {
    if (activity == "thread-cpu" || activity == "thread-noncpu") continue;
    domain.push_back(names->Of(activity));
    colours.push_back(activity == Ranking::kOthers ? "idle" : kFurther[next++ % kFurther.size()]);
  }
  Json colour = NamedColours("activity", domain, colours);
  colour["legend"] = {{"columns", 4}};
  return colour;
}

/// Computing comes first, waiting next, then the largest.
size_t StackOrder(std::string_view activity, size_t rank) {
  return activity == "thread-cpu" ? 0 : activity == "thread-noncpu" ? 1 : rank + 2;
}

struct FineBars {
  std::string_view unit;   ///< in the measurement
  std::string_view title;  ///< of the axis, with its unit
  double factor = 1;       ///< from that unit to the axis's
  std::string (*words)(double value) = HumanDuration;
};

/// A bar for each function, split by activity.
Drawing BarsByFunction(const std::vector<FineSum>& sums, const FineBars& bars) {
  const Ranking functions(sums, &FineSum::function, kMostFunctions);
  const Ranking activities(sums, &FineSum::activity, kMostActivities);
  ShownNames function_names, activity_names;
  Json values = Json::array();
  for (const std::string& function : functions.names) {
    std::map<std::string, double> of_function;
    for (const FineSum& sum : sums) {
      if (functions.Of(sum.function) == function) of_function[activities.Of(sum.activity)] += sum.value;
    }
    for (size_t i = 0; i < activities.names.size(); ++i) {
      const auto found = of_function.find(activities.names[i]);
      if (found == of_function.end()) continue;
      values.push_back({{"function", function_names.Of(function)},
                        {"activity", activity_names.Of(activities.names[i])},
                        {"order", StackOrder(activities.names[i], i)},
                        {"v", found->second * bars.factor}});
    }
  }
  Json body = {
      {"width", 560},
      {"height", {{"step", 26}}},
      {"data", InlineData(std::move(values))},
      {"mark", {{"type", "bar"}, {"height", {{"band", 0.7}}}}},
      {"encoding",
       {{"y", Names("function", "")},
        {"x", Quantity("v", bars.title)},
        {"order", {{"field", "order"}, {"type", "quantitative"}}},
        {"color", ActivityColours(activities.names, &activity_names)},
        {"tooltip",
         Tooltip({{"function", "function", "nominal"}, {"activity", "activity", "nominal"}, {"v", bars.title}})}}}};
  return {std::move(body),
          fmt::format("{} in all; most in {}", bars.words(functions.total), ShownName(functions.names.front())), ""};
}

std::string WithCoverage(const Measurement& measurement, const std::string& finding) {
  const auto coverage = measurement.quality.fine_metrics_coverage;
  return coverage.has_value() ? finding + fmt::format("; covers {} of task time", HumanPercent(*coverage)) : finding;
}

Drawing TimeByFunction(const ChartInput& input, const std::set<std::string>& activities, const std::string& reason) {
  const std::vector<FineSum> sums = ReadFine(*input.measurement, {"seconds", false, activities});
  if (sums.empty()) return NotDrawn(reason);
  Drawing drawing = BarsByFunction(sums, {"seconds", "time, all workers together [s]"});
  drawing.finding = WithCoverage(*input.measurement, drawing.finding);
  return drawing;
}

}  // namespace

Drawing DrawFineByFunction(const ChartInput& input) { return TimeByFunction(input, {}, kNoFine); }

Drawing DrawFineByActivity(const ChartInput& input) {
  const std::vector<FineSum> sums = ReadFine(*input.measurement, {"seconds", true, {}});
  if (sums.empty()) return NotDrawn(kNoFine);
  const Ranking activities(sums, &FineSum::activity, 2 * kMostActivities);
  ShownNames names;
  Json values = Json::array();
  for (const std::string& activity : activities.names) {
    std::map<std::string, double> by_place;
    for (const FineSum& sum : sums) {
      if (activities.Of(sum.activity) == activity) by_place[sum.place] += sum.value;
    }
    for (const auto& [place, value] : by_place) {
      values.push_back({{"activity", names.Of(activity)}, {"place", place}, {"v", value}});
    }
  }
  Json body = {{"width", 560},
               {"height", {{"step", 22}}},
               {"data", InlineData(std::move(values))},
               {"mark", {{"type", "bar"}, {"height", {{"band", 0.7}}}}},
               {"encoding",
                {{"y", Names("activity", "")},
                 {"x", Quantity("v", "time, all workers together [s]")},
                 {"color", NamedColours("place", {kInTasks, kTransfers}, {"cpu", "overhead"})},
                 {"tooltip",
                  Tooltip({{"activity", "activity", "nominal"}, {"place", "where", "nominal"}, {"v", "time [s]"}})}}}};
  return {std::move(body),
          WithCoverage(*input.measurement, fmt::format("{} in all; most in {}", HumanDuration(activities.total),
                                                       ShownName(activities.names.front()))),
          ""};
}

}  // namespace crema
