// What changes would bring, best first.
#ifndef CREMA_COLLECTOR_CHARTS_PREDICTION_CHART_H_
#define CREMA_COLLECTOR_CHARTS_PREDICTION_CHART_H_

#include "collector/charts/chart.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `prediction`: what `crema predict --json` prints; its rows come in their order. Named `prediction`; it has a reason
/// where nothing is predicted.
Chart MakePredictionChart(const nlohmann::ordered_json& prediction);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_PREDICTION_CHART_H_
