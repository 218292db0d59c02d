// The key figures of a run that goes on: the one list that the live page and `crema top` show.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_KEY_FIGURES_H_
#define CREMA_COLLECTOR_SERVER_LIVE_KEY_FIGURES_H_

#include <string>
#include <vector>

#include "collector/insight/key_figure_rows.h"
#include "collector/server/live_figures.h"

namespace crema {

/// Always these six, in this order: event rate, data rate, cores busy, CPU efficiency, peak memory, failed attempts;
/// and the GPU, where the run uses one. `figure.key` is that of the metric that a finished run has of it.
std::vector<KeyFigureRow> LiveKeyFigureRows(const LiveModel& model, const LiveFigures& figures);

/// What is wrong with the results so far, in a few words: `2 workers lost`, and once the run is over `3 chunks without
/// a result`. Empty where nothing is, and where the whole run was killed.
std::string LiveTrouble(const LiveModel& model, const LiveFigures& figures);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_KEY_FIGURES_H_
