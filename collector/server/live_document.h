// A live run in the shape of a measurement (`crema.measurement/1`): the keys that are known while it goes on.
#pragma once

#include "collector/measurement/catalog.h"
#include "collector/measurement/measurement.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"

namespace crema {

/// The run, a dataset or a worker by its index, and the schedulers, as `LiveDocument` and the page have them
/// (docs/live_api.md). What is not known is null.
Json LiveRunJson(const LiveModel& model);
/// `open`: its chunks that are open now.
Json LiveDatasetJson(const LiveModel& model, size_t dataset, int64_t open);
Json LiveWorkerJson(const LiveModel& model, size_t worker);
Json SchedulersJson(const LiveModel& model);

/// Adds the sums over them, and why some are null.
void AddSchedulerMetrics(const LiveModel& model, MetricSet* metrics);

/// `run`, `metrics`, `datasets`, `workers` and `quality`. What a live run does not know is null; `crema show` of the
/// same source has it. So the formats that are written of measurements can be written of it.
Measurement LiveMeasurement(const LiveModel& model, const LiveFigures& figures);

/// The same in JSON, with `definitions`, `schedulers` and what only rows of a live run have. What it does not know is
/// left out.
Json LiveDocument(const LiveModel& model, const LiveFigures& figures);

/// Definitions of the metrics that a live run may have, in the document's order.
absl::Span<const MetricDefinition> LiveMetrics();

/// The chunks in progress, longest first, at most `most`.
Json OpenChunksJson(const LiveModel& model, size_t most);

/// What happened, newest first.
Json EventsJson(const LiveModel& model);

}  // namespace crema
