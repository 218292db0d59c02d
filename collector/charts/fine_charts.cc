// What tasks and transfers spent their time on: Dask's fine metrics, and activities that the SDK recorded.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostFunctions = 20;
constexpr size_t kMostActivities = 12;
constexpr char kNoFine[] =
    "no fine metrics and no activities: they come from a Dask scheduler with crema's plug-in, or from the SDK";
constexpr std::string_view kTransfers = "between workers";
constexpr std::string_view kInTasks = "inside tasks";
constexpr char kOthers[] = "(others)";

/// Sum over spans and workers of what one function spent on one activity.
struct FineSum {
  std::string_view place;  ///< inside tasks, or between workers
  std::string function;
  std::string activity;
  double seconds = 0;
};

std::vector<FineSum> ReadFine(const Measurement& measurement, bool with_transfers) {
  std::vector<FineSum> sums;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const FineRow& row : measurement.fine) {
    const std::string& context = row.context;
    const bool is_transfer = context == "get-data" || context == "gather-dep" || context == "p2p";
    if (!row.value.has_value() || row.unit != "seconds" || (is_transfer && !with_transfers)) continue;
    const std::string activity = row.activity.has_value() ? row.activity.str() : "(no name)";
    const std::string function = row.function.has_value() ? row.function.str() : context;
    // what Dask counts beside all spans is no task's
    if (function == "N/A") continue;
    const auto [place, is_new] = places.try_emplace({function, activity}, sums.size());
    if (is_new) sums.push_back({is_transfer ? kTransfers : kInTasks, function, activity, 0});
    sums[place->second].seconds += *row.value;
  }
  sums.erase(std::remove_if(sums.begin(), sums.end(), [](const FineSum& sum) { return !(sum.seconds > 0); }),
             sums.end());
  return sums;
}

double TotalOf(const std::vector<FineSum>& sums) {
  double total = 0;
  for (const FineSum& sum : sums) total += sum.seconds;
  return total;
}

/// Names by their sums, largest first. Beyond `most` all others share one name, which replaces theirs in `sums`.
std::vector<std::string> RankedNames(std::string FineSum::*name, size_t most, std::vector<FineSum>* sums) {
  std::map<std::string, double> totals;
  for (const FineSum& sum : *sums) totals[sum.*name] += sum.seconds;
  std::vector<std::string> names;
  for (const auto& [key, seconds] : totals) names.push_back(key);
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return totals[a] > totals[b]; });
  if (names.size() <= most) return names;
  names.resize(most - 1);
  for (FineSum& sum : *sums) {
    if (std::find(names.begin(), names.end(), sum.*name) == names.end()) sum.*name = kOthers;
  }
  names.emplace_back(kOthers);
  return names;
}

/// Computing comes first, waiting next: these have the budget's colours. All others come after them.
struct Activities {
  std::vector<std::string> order;  ///< as recorded
  Json scale;

  Activities(std::vector<std::string> ranked, ShownNames* names) : order(std::move(ranked)) {
    static const std::vector<std::string_view> kFurther = {"overhead", "opening", "events", "strongest", "limit",
                                                           "baseline", "others",  "data",   "muted",     "watch"};
    const auto rank = [](const std::string& name) {
      return name == "thread-cpu" ? 0 : name == "thread-noncpu" ? 1 : 2;
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
    std::vector<std::string> shown;
    std::vector<std::string_view> colours;
    size_t next = 0;
    for (const std::string& name : order) {
      shown.push_back(names->Of(name));
      colours.push_back(rank(name) == 0   ? "cpu"
                        : rank(name) == 1 ? "wait"
                        : name == kOthers ? "idle"
                                          : kFurther[next++ % kFurther.size()]);
    }
    scale = ColourScale(shown, colours);
  }
};

/// What a chart found: `names` are sorted.
std::string Finding(const Measurement& measurement, double total, const std::vector<std::string>& names) {
  std::string finding = fmt::format("{} in all; most in {}", HumanDuration(total), ShownName(names.front()));
  const auto coverage = measurement.quality.fine_metrics_coverage;
  return coverage.has_value() ? finding + fmt::format("; covers {} of task time", HumanPercent(*coverage)) : finding;
}

}  // namespace

Drawing DrawFineByFunction(const ChartInput& input) {
  std::vector<FineSum> sums = ReadFine(*input.measurement, /*with_transfers=*/false);
  if (sums.empty()) return NotDrawn(kNoFine);
  const std::vector<std::string> functions = RankedNames(&FineSum::function, kMostFunctions, &sums);
  ShownNames function_names, activity_names;
  const Activities activities(RankedNames(&FineSum::activity, kMostActivities, &sums), &activity_names);
  Json rows = Json::array();
  for (const std::string& function : functions) {
    for (size_t i = 0; i < activities.order.size(); ++i) {
      double seconds = 0;
      for (const FineSum& sum : sums) {
        if (sum.function == function && sum.activity == activities.order[i]) seconds += sum.seconds;
      }
      if (!(seconds > 0)) continue;
      rows.push_back({{"function", function_names.Of(function)},
                      {"activity", activity_names.Of(activities.order[i])},
                      {"order", i},
                      {"v", seconds}});
    }
  }
  return {FilledTemplate("fine_by_function", {{"sums", std::move(rows)}, {"activities", activities.scale}}),
          Finding(*input.measurement, TotalOf(sums), functions), ""};
}

Drawing DrawFineByActivity(const ChartInput& input) {
  std::vector<FineSum> sums = ReadFine(*input.measurement, /*with_transfers=*/true);
  if (sums.empty()) return NotDrawn(kNoFine);
  const std::vector<std::string> activities = RankedNames(&FineSum::activity, 2 * kMostActivities, &sums);
  ShownNames names;
  Json rows = Json::array();
  for (const std::string& activity : activities) {
    std::map<std::string_view, double> by_place;
    for (const FineSum& sum : sums) {
      if (sum.activity == activity) by_place[sum.place] += sum.seconds;
    }
    for (const auto& [place, seconds] : by_place) {
      rows.push_back({{"activity", names.Of(activity)}, {"place", place}, {"v", seconds}});
    }
  }
  return {FilledTemplate("fine_by_activity", {{"sums", std::move(rows)}}),
          Finding(*input.measurement, TotalOf(sums), activities), ""};
}

}  // namespace crema
