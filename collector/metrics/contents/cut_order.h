// The order of a cut flow, from the orders in which chunks recorded their cuts.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_CUT_ORDER_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_CUT_ORDER_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace crema {

/// What chunks say of the order: `before` holds (a, b) where some chunk recorded b right after a; `position[a]` is the
/// latest place at which any recorded a.
struct CutPrecedence {
  std::vector<std::string> names;
  std::vector<int64_t> position;
  std::set<std::pair<uint32_t, uint32_t>> before;
};

/// Indices of the names, each after all that were recorded before it: Kahn's topological order, where there is a choice
/// (or a contradiction) by position, then by name. It depends on nothing but the sets given.
std::vector<uint32_t> OrderCuts(const CutPrecedence& cuts);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_CUT_ORDER_H_
