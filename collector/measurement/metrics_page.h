// docs/metrics.md, written from the catalog and the row tables.
#pragma once

#include <string>

namespace crema {

/// The page, in Markdown.
std::string MetricsPage();

}  // namespace crema
