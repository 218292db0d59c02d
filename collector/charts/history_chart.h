// One figure of an analysis, run by run.
#ifndef CREMA_COLLECTOR_CHARTS_HISTORY_CHART_H_
#define CREMA_COLLECTOR_CHARTS_HISTORY_CHART_H_

#include "collector/charts/chart.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `history`: what `crema history --json` prints. Named `history`; it has a reason where there are no runs.
Chart MakeHistoryChart(const nlohmann::ordered_json& history);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_HISTORY_CHART_H_
