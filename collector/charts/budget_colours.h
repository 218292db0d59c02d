// The groups of the core-second budget (docs/metrics.md, "The core-second budget") and their colours.
#ifndef CREMA_COLLECTOR_CHARTS_BUDGET_COLOURS_H_
#define CREMA_COLLECTOR_CHARTS_BUDGET_COLOURS_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "collector/charts/encodings.h"
#include "collector/document/budget_parts.h"
#include "nlohmann/json.hpp"

namespace crema {

/// The colours of those groups that are in `groups`.
inline nlohmann::ordered_json BudgetColours(std::string_view field, const std::vector<std::string>& groups) {
  std::vector<std::string> names;
  std::vector<std::string_view> colours;
  for (const BudgetGroupKind& known : kBudgetGroups) {
    if (std::find(groups.begin(), groups.end(), known.group) == groups.end()) continue;
    names.emplace_back(known.group);
    colours.push_back(known.colour);
  }
  return NamedColours(field, names, colours);
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_BUDGET_COLOURS_H_
