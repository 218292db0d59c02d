// Speed-up over cores, of several runs.
#ifndef CREMA_COLLECTOR_CHARTS_SCALING_CHART_H_
#define CREMA_COLLECTOR_CHARTS_SCALING_CHART_H_

#include "collector/charts/chart.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `scaling`: what `crema scaling --json` prints. Named `scaling`; it has a reason where there are no points.
Chart MakeScalingChart(const nlohmann::ordered_json& scaling);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_SCALING_CHART_H_
