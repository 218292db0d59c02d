// Slurm, from what sacct says of its jobs.
#ifndef CREMA_COLLECTOR_ENGINES_SLURM_SLURM_ENGINE_H_
#define CREMA_COLLECTOR_ENGINES_SLURM_SLURM_ENGINE_H_

#include "collector/engines/engine.h"

namespace crema {

extern const Engine kSlurm;

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_SLURM_SLURM_ENGINE_H_
