// Dask as an engine: its scheduler's dashboard is followed, its log (docs/dask_log.md) is read.
#ifndef CREMA_COLLECTOR_ENGINES_DASK_DASK_ENGINE_H_
#define CREMA_COLLECTOR_ENGINES_DASK_DASK_ENGINE_H_

#include "collector/engines/engine.h"

namespace crema {

extern const Engine kDask;

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_DASK_DASK_ENGINE_H_
