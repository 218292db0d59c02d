#include "collector/prediction/usual_changes.h"

#include <algorithm>
#include <limits>

#include "collector/insight/thresholds.h"
#include "collector/records/loose_json.h"
#include "nlohmann/json.hpp"

namespace crema {

std::string LargestSection(const Measurement& measurement) {
  std::string largest;
  double most = 0;
  for (const SectionRow& row : measurement.sections) {
    const double self = row.self.value_or(0);
    if (row.path == "(other)" || row.helper.value_or(false) || self <= most) continue;
    most = self;
    largest = row.path;
  }
  return largest;
}

std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section) {
  std::vector<RunChange> changes;
  const double cores = run.cores();
  if (cores >= 2) changes.push_back({ChangeKind::kCores, cores / 2, ""});
  changes.push_back({ChangeKind::kCores, 2 * cores, ""});
  changes.push_back({ChangeKind::kCores, 4 * cores, ""});
  const bool waits = kMostOfIt.Holds(run.section_on_gpu.waiting);
  if (!section.empty()) changes.push_back({waits ? ChangeKind::kFasterGpu : ChangeKind::kFaster, 2, section});
  changes.push_back({ChangeKind::kWithoutWaiting, 0, ""});
  changes.push_back({ChangeKind::kLongestFirst, 0, ""});
  if (run.workers.size() > 1) changes.push_back({ChangeKind::kAllFromStart, 0, ""});
  return changes;
}

void SortBestFirst(nlohmann::ordered_json* prediction) {
  auto rows = ListField(*prediction, "predicted");
  std::stable_sort(rows.begin(), rows.end(), [](const nlohmann::ordered_json& a, const nlohmann::ordered_json& b) {
    constexpr double kLast = std::numeric_limits<double>::infinity();
    return NumberField(a, "wall_time").value_or(kLast) < NumberField(b, "wall_time").value_or(kLast);
  });
  (*prediction)["predicted"] = std::move(rows);
}

}  // namespace crema
