// The table of charts: names, what they answer, and the function that draws each.
#ifndef CREMA_COLLECTOR_CHARTS_CHART_TABLE_H_
#define CREMA_COLLECTOR_CHARTS_CHART_TABLE_H_

#include <string_view>
#include <vector>

#include "collector/charts/chart.h"
#include "collector/charts/drawing.h"

namespace crema {

struct ChartRow {
  ChartKind kind;
  Drawing (*draw)(const ChartInput& input);  ///< null: the name stands for many charts, drawn by MakeChart
};

const std::vector<ChartRow>& ChartTable();

/// The row of one chart; null where the name is none, or stands for many.
const ChartRow* FindChartRow(std::string_view name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_CHART_TABLE_H_
