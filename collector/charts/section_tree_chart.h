// Which sections took longer in another run, as a tree.
#ifndef CREMA_COLLECTOR_CHARTS_SECTION_TREE_CHART_H_
#define CREMA_COLLECTOR_CHARTS_SECTION_TREE_CHART_H_

#include "collector/charts/chart.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `comparison`: what `crema compare --json` prints, of two runs or of two sides. Named `section_differences`; it has a
/// reason where neither has sections.
Chart MakeSectionTreeChart(const nlohmann::ordered_json& comparison);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_SECTION_TREE_CHART_H_
