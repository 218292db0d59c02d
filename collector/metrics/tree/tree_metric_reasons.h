// The process tree's metrics by name, and why one may be null.
#ifndef CREMA_COLLECTOR_METRICS_TREE_TREE_METRIC_REASONS_H_
#define CREMA_COLLECTOR_METRICS_TREE_TREE_METRIC_REASONS_H_

#include <string_view>
#include <vector>

#include "collector/records/tree_facts.h"

namespace crema {

/// The keys of the process tree.
const std::vector<std::string_view>& TreeMetricKeys();

/// One sentence for `quality.not_measured`: why a tree of this origin does not give this metric.
std::string_view WhyTreeMetricIsUnknown(TreeOrigin origin, std::string_view key);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_TREE_TREE_METRIC_REASONS_H_
