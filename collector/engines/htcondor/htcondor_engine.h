// HTCondor, from the event log that a submit file names (`log = jobs.log`).
#ifndef CREMA_COLLECTOR_ENGINES_HTCONDOR_HTCONDOR_ENGINE_H_
#define CREMA_COLLECTOR_ENGINES_HTCONDOR_HTCONDOR_ENGINE_H_

#include "collector/engines/engine.h"

namespace crema {

extern const Engine kHtcondor;

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_HTCONDOR_HTCONDOR_ENGINE_H_
