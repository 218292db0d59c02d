// Which workers of a live run are shown where not all fit, and in which order.
#ifndef CREMA_COLLECTOR_SERVER_WORKER_ORDER_H_
#define CREMA_COLLECTOR_SERVER_WORKER_ORDER_H_

#include <cstddef>
#include <vector>

#include "collector/insight/key_figure_bands.h"
#include "collector/server/live_model.h"

namespace crema {

/// In the order in which workers need to be looked at.
enum class WorkerConcern { kVanished, kTroubled, kRunning, kEnded };

/// Troubled: it is slow, or its memory is nearly full or soon will be.
WorkerConcern ConcernOf(const LiveModel& model, const LiveWorker& worker);

/// Of its memory now; good where that or its limit is not known.
Mark MemoryMarkOf(const LiveModel& model, const LiveWorker& worker);

/// Indices of workers that have recorded, at most `most`: those first that need to be looked at, of those that are
/// gone the last ones first. Where others would have no room, vanished ones take half of it.
std::vector<size_t> WorstWorkersFirst(const LiveModel& model, size_t most);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_WORKER_ORDER_H_
