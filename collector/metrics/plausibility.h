// What no figure can be, however the records came about: docs/metrics.md, "Rules".
#pragma once

#include <optional>

#include "collector/measurement/metric_set.h"

namespace crema {

/// Makes figures null that contradict others, with the reason: a share outside 0 to 1, an ideal above the elapsed time.
/// What clocks and rounding explain is put on the limit.
void RefuseImpossible(MetricSet* metrics);

/// The same of one share: nullopt outside 0 to 1.
std::optional<double> PossibleShare(std::optional<double> share);

}  // namespace crema
