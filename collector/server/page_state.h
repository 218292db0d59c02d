// What the page is shown of a live run, as values and rows that change one by one.
#ifndef CREMA_COLLECTOR_SERVER_PAGE_STATE_H_
#define CREMA_COLLECTOR_SERVER_PAGE_STATE_H_

#include <vector>

#include "collector/server/delta_store.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"
#include "collector/server/live_sources.h"

namespace crema {

/// Rows of workers that the page is sent; the API has all of them.
inline constexpr size_t kMostWorkerRows = 200;

/// Sets everything from the model, as one change. docs/live_api.md has the fields.
void UpdatePage(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
                DeltaStore* store);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_PAGE_STATE_H_
