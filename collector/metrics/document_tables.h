// Finished rows as JSON, field names and order as in docs/metrics.md, "Tables".
#ifndef CREMA_COLLECTOR_METRICS_DOCUMENT_TABLES_H_
#define CREMA_COLLECTOR_METRICS_DOCUMENT_TABLES_H_

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/run_figures.h"
#include "nlohmann/json.hpp"

namespace crema {

using Json = nlohmann::ordered_json;

/// A number, or null where there is none: JSON knows no NaN and no infinity.
inline Json OrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }
template <class T>
Json OrNull(const std::optional<T>& value) {
  if constexpr (std::is_floating_point_v<T>) return value.has_value() ? OrNull(*value) : Json();
  return value.has_value() ? Json(*value) : Json();
}

/// A name, or null where it is empty.
inline Json NameOrNull(const std::string& name) { return name.empty() ? Json() : Json(name); }

Json BreakdownTable(const std::vector<BreakdownRow>& rows);
/// The breakdown by worker, with each worker's life, cores, state and memory.
Json WorkerTable(const RunFigures& figures);
Json SectionTableOf(const std::vector<SectionRow>& rows);
Json MemorySectionTableOf(const std::vector<MemorySectionRow>& rows);
Json CustomMetricTableOf(const std::vector<CustomMetricRow>& rows);
Json CutTableOf(const std::vector<CutRow>& rows);
Json RequestTableOf(const std::vector<RequestSumRow>& rows);
/// The breakdown by dataset, with what GPUs did for each.
Json DatasetTable(const RunFigures& figures);
Json GpuKernelTableOf(const std::vector<GpuKernelSumRow>& rows);
Json FunctionTableOf(const std::vector<FunctionRow>& rows);
/// docs/metrics.md, "Fine metrics": the SDK's own activities, context `native`.
Json FineTableOf(const std::vector<ActivitySumRow>& rows, const std::vector<FineRow>& engine_rows,
                 const std::vector<ProcessRow>& processes);
Json PhaseTable(const std::vector<PhaseRow>& rows, const RunWindow& window);
Json BudgetTable(const Budget& budget);
/// Those of workers that have rows of their own.
Json TimelineTable(const RunFigures& figures);

/// The processes of `crema run`.
Json ProcessUseTable(const RunFigures& figures);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_DOCUMENT_TABLES_H_
