// The tables of a measurement, field by field: what a row of `datasets`, `sections`, `budget` and the others holds.
#ifndef CREMA_COLLECTOR_METRICS_CATALOG_ROW_TABLES_H_
#define CREMA_COLLECTOR_METRICS_CATALOG_ROW_TABLES_H_

#include <string_view>

#include "absl/types/span.h"

namespace crema {

struct RowField {
  std::string_view name;
  std::string_view unit;  ///< empty: text, a list or a truth value
  std::string_view text;
};

struct RowTable {
  std::string_view names;             ///< keys of the document that hold such rows, separated by spaces
  std::string_view text;              ///< what a row is, and in which order rows stand
  absl::Span<const RowField> fields;  ///< in the document's order
};

/// In the document's order.
absl::Span<const RowTable> RowTables();

/// The keys of `timelines`; `worker_counts` is one series, the others have one for each worker.
absl::Span<const RowField> TimelineSeries();

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CATALOG_ROW_TABLES_H_
