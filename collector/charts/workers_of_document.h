// The workers of a measurement, for WorkerNames.
#ifndef CREMA_COLLECTOR_CHARTS_WORKERS_OF_DOCUMENT_H_
#define CREMA_COLLECTOR_CHARTS_WORKERS_OF_DOCUMENT_H_

#include "collector/appearance/worker_names.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Of its table and of its timelines: an engine may tell the one or the other.
WorkerNames NamesOfWorkers(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_WORKERS_OF_DOCUMENT_H_
