// The columns of the plain tables: field of the document, header, kind, and which go first when the terminal is narrow.
#ifndef CREMA_COLLECTOR_WRITERS_TABLE_COLUMNS_H_
#define CREMA_COLLECTOR_WRITERS_TABLE_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/writers/document_table.h"
#include "nlohmann/json.hpp"

namespace crema {

/// docs/metrics.md, "Tables": what datasets, files and workers have in common. `what` heads the first column.
std::vector<DocumentColumn> BreakdownColumns(std::string_view what, FieldKind kind);

/// Why the table of datasets or files has no rows: `what` is "dataset" or "file".
std::string WhyNoBreakdown(const nlohmann::ordered_json& document, std::string_view what);

std::vector<DocumentColumn> WorkerColumns();
/// Of `crema run`.
std::vector<DocumentColumn> ProcessColumns();
std::vector<DocumentColumn> SectionColumns();
std::vector<DocumentColumn> StragglerColumns();
/// Single attempts. What they are sorted by is always shown.
std::vector<DocumentColumn> ChunkColumns(std::string_view sorted_by);
std::vector<DocumentColumn> MemorySectionColumns();
std::vector<DocumentColumn> CustomMetricColumns();
std::vector<DocumentColumn> CutColumns();
std::vector<DocumentColumn> RequestColumns();
std::vector<DocumentColumn> FunctionColumns();
std::vector<DocumentColumn> GpuKernelColumns();
std::vector<DocumentColumn> FineColumns();
std::vector<DocumentColumn> BudgetColumns();
std::vector<DocumentColumn> PhaseColumns();
std::vector<DocumentColumn> PredictionColumns();
std::vector<DocumentColumn> ScalingColumns();
std::vector<DocumentColumn> ScalingLawColumns();
std::vector<DocumentColumn> HistoryRunColumns();
std::vector<DocumentColumn> HistoryLevelColumns();

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TABLE_COLUMNS_H_
