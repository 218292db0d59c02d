// docs/plots.md, written from the table of charts.
#ifndef CREMA_COLLECTOR_CHARTS_CHARTS_PAGE_H_
#define CREMA_COLLECTOR_CHARTS_CHARTS_PAGE_H_

#include <string>

namespace crema {

/// The page, in Markdown.
std::string ChartsPage();

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_CHARTS_PAGE_H_
