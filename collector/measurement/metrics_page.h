// docs/metrics.md, written from the catalog and the row tables.
#ifndef CREMA_COLLECTOR_MEASUREMENT_METRICS_PAGE_H_
#define CREMA_COLLECTOR_MEASUREMENT_METRICS_PAGE_H_

#include <string>

namespace crema {

/// The page, in Markdown.
std::string MetricsPage();

}  // namespace crema

#endif  // CREMA_COLLECTOR_MEASUREMENT_METRICS_PAGE_H_
