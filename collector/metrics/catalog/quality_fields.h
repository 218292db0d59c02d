// What a measurement says of its own quality, field by field.
#ifndef CREMA_COLLECTOR_METRICS_CATALOG_QUALITY_FIELDS_H_
#define CREMA_COLLECTOR_METRICS_CATALOG_QUALITY_FIELDS_H_

#include "absl/types/span.h"
#include "collector/metrics/catalog/row_tables.h"

namespace crema {

/// The keys of `quality`, in the document's order.
absl::Span<const RowField> QualityFields();

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CATALOG_QUALITY_FIELDS_H_
