// Work Queue (https://ccl.cse.nd.edu/software/workqueue/): the log of transactions that a program asks its manager for.
#ifndef CREMA_COLLECTOR_ENGINES_WORK_QUEUE_WORK_QUEUE_ENGINE_H_
#define CREMA_COLLECTOR_ENGINES_WORK_QUEUE_WORK_QUEUE_ENGINE_H_

#include "collector/engines/engine.h"

namespace crema {

extern const Engine kWorkQueue;

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_WORK_QUEUE_WORK_QUEUE_ENGINE_H_
