// The order in which sections are shown: as the tree that their paths form.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_ORDER_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_ORDER_H_

#include <vector>

#include "collector/metrics/contents/section_sums.h"

namespace crema {

/// The owner's rows first, then the helpers', each as a tree in pre-order; siblings by total time, largest first, then
/// by name. A parent that has no row of its own weighs what its children weigh.
void OrderAsTree(std::vector<SectionRow>& rows);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_ORDER_H_
