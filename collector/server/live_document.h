// A live run in the shape of a measurement (`crema.measurement/1`): the keys that are known while it goes on.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_DOCUMENT_H_
#define CREMA_COLLECTOR_SERVER_LIVE_DOCUMENT_H_

#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"
#include "nlohmann/json.hpp"

namespace crema {

/// `run`, `metrics` with their `definitions`, `datasets`, `workers`, `quality`. What a live run does not tell is left
/// out; `crema show` of the same source has it. So the formats that are written of measurements can be written of it.
nlohmann::ordered_json LiveDocument(const LiveModel& model, const LiveFigures& figures);

/// The chunks in progress, longest first, at most `most`: rows `worker chunk dataset file entry_start entry_stop
/// seconds`.
nlohmann::ordered_json OpenChunkRows(const LiveModel& model, size_t most);

/// What happened, newest first: rows `number time_ns kind text`.
nlohmann::ordered_json EventRows(const LiveModel& model);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_DOCUMENT_H_
