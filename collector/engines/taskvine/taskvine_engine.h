// TaskVine (https://ccl.cse.nd.edu/software/taskvine/): the logs that its manager writes.
#ifndef CREMA_COLLECTOR_ENGINES_TASKVINE_TASKVINE_ENGINE_H_
#define CREMA_COLLECTOR_ENGINES_TASKVINE_TASKVINE_ENGINE_H_

#include "collector/engines/engine.h"

namespace crema {

extern const Engine kTaskVine;

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_TASKVINE_TASKVINE_ENGINE_H_
