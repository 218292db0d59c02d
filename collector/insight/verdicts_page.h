// docs/verdicts.md, written from the table that the code judges by.
#ifndef CREMA_COLLECTOR_INSIGHT_VERDICTS_PAGE_H_
#define CREMA_COLLECTOR_INSIGHT_VERDICTS_PAGE_H_

#include <string>

namespace crema {

/// The page, in Markdown.
std::string VerdictsPage();

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_VERDICTS_PAGE_H_
