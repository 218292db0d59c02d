#include "collector/insight/elapsed_change.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "collector/insight/between_sides.h"
#include "collector/insight/budget_rows.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Documents = std::vector<const Measurement*>;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

ElapsedDifference DifferenceOf(const std::vector<double>& before, const std::vector<double>& after) {
  ElapsedDifference difference{Mean(after) - Mean(before), std::nullopt, std::nullopt};
  if (before.size() + after.size() > 2) {
    double deviation = 0;
    const MeasuredChange measured = BetweenSides(before, after, &deviation);
    difference.low = difference.seconds - measured.below;
    difference.high = difference.seconds + measured.above;
  }
  return difference;
}

/// Parts of each run's elapsed time, by their names; false where a run has no budget.
bool SplitElapsed(const Documents& documents, std::vector<std::map<std::string, double>>* runs) {
  for (const Measurement* measurement : documents) {
    const std::optional<BudgetRows> budget = ReadBudget(*measurement);
    const double wall_time = measurement->Metric("wall_time").value_or(0);
    if (!budget.has_value() || budget->core_seconds <= 0) return false;
    std::map<std::string, double>& parts = runs->emplace_back();
    for (const BudgetPart& part : budget->parts)
      parts[part.part] += part.core_seconds / budget->core_seconds * wall_time;
  }
  return true;
}

}  // namespace

std::optional<ElapsedChange> CompareElapsed(const Documents& before, const Documents& after) {
  const auto times_of = [](const Documents& documents) {
    std::vector<double> times;
    for (const Measurement* measurement : documents) {
      const std::optional<double> wall_time = measurement->Metric("wall_time");
      if (wall_time.has_value()) times.push_back(*wall_time);
    }
    return times;
  };
  const std::vector<double> was = times_of(before), now = times_of(after);
  if (was.empty() || now.empty() || was.size() < before.size() || now.size() < after.size()) return std::nullopt;
  ElapsedChange change{Mean(was), Mean(now), DifferenceOf(was, now), {}};
  std::vector<std::map<std::string, double>> parts_before, parts_after;
  if (!SplitElapsed(before, &parts_before) || !SplitElapsed(after, &parts_after)) return change;
  std::map<std::string, std::vector<double>> names;
  for (const auto* runs : {&parts_before, &parts_after}) {
    for (const auto& run : *runs) {
      for (const auto& [name, seconds] : run) names[name];
    }
  }
  for (const auto& [name, ignored] : names) {
    const auto seconds_of = [name = name](const std::vector<std::map<std::string, double>>& runs) {
      std::vector<double> seconds;
      for (const auto& run : runs) {
        const auto found = run.find(name);
        seconds.push_back(found == run.end() ? 0 : found->second);
      }
      return seconds;
    };
    change.parts.push_back({name, DifferenceOf(seconds_of(parts_before), seconds_of(parts_after))});
  }
  std::stable_sort(change.parts.begin(), change.parts.end(), [](const ElapsedPart& a, const ElapsedPart& b) {
    return std::fabs(a.difference.seconds) > std::fabs(b.difference.seconds);
  });
  return change;
}

Json ElapsedAsJson(const std::optional<ElapsedChange>& change) {
  if (!change.has_value()) return Json();
  const auto bound = [](const std::optional<double>& value) { return value.has_value() ? Json(*value) : Json(); };
  Json parts = Json::array();
  for (const ElapsedPart& part : change->parts) {
    parts.push_back({{"part", part.part},
                     {"difference", part.difference.seconds},
                     {"low", bound(part.difference.low)},
                     {"high", bound(part.difference.high)}});
  }
  return {{"before", change->before},
          {"after", change->after},
          {"difference", change->difference.seconds},
          {"low", bound(change->difference.low)},
          {"high", bound(change->difference.high)},
          {"parts", std::move(parts)}};
}

}  // namespace crema
