// Charts of what `crema history`, `predict`, `scaling` and `compare` found. Each takes the JSON that its command
// prints.
#pragma once

#include "collector/charts/chart.h"

namespace crema {

/// One figure of an analysis, run by run. Named `history`; it has a reason where there are no runs.
Chart MakeHistoryChart(const Json& history);

/// What changes would bring; rows come in their order. Named `prediction`; it has a reason where nothing is predicted.
Chart MakePredictionChart(const Json& prediction);

/// Speed-up over cores. Named `scaling`; it has a reason where there are no points.
Chart MakeScalingChart(const Json& scaling);

/// Which sections took longer in the other run, or on the other side, as a tree. Named `section_differences`; it has a
/// reason where neither has sections.
Chart MakeSectionTreeChart(const Json& comparison);

}  // namespace crema
