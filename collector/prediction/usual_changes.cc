#include "collector/prediction/usual_changes.h"

#include <algorithm>
#include <limits>

#include "collector/document/document_fields.h"

namespace crema {

using Kind = RunChange::Kind;

std::string LargestSection(const nlohmann::ordered_json& document) {
  std::string largest;
  double most = 0;
  for (const auto& row : ListField(document, "sections")) {
    const double self = NumberField(row, "self").value_or(0);
    const auto& helper = Field(row, "helper");
    if (TextField(row, "path") == "(other)" || (helper.is_boolean() && helper.get<bool>()) || self <= most) continue;
    most = self;
    largest = TextField(row, "path");
  }
  return largest;
}

std::vector<RunChange> UsualChanges(const ObservedRun& run, const std::string& section) {
  std::vector<RunChange> changes;
  const double cores = run.cores();
  if (cores >= 2) changes.push_back({Kind::kCores, cores / 2, ""});
  changes.push_back({Kind::kCores, 2 * cores, ""});
  changes.push_back({Kind::kCores, 4 * cores, ""});
  if (!section.empty()) changes.push_back({Kind::kFaster, 2, section});
  changes.push_back({Kind::kWithoutWaiting, 0, ""});
  changes.push_back({Kind::kLongestFirst, 0, ""});
  if (run.workers.size() > 1) changes.push_back({Kind::kAllFromStart, 0, ""});
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
