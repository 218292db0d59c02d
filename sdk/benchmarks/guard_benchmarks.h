// The guards, each with the least that it could cost.
#pragma once

#include "crema/recorder.h"

namespace crema_benchmarks {

/// Registers the benchmarks of all guards but the chunk. Recording must be on when they run; one switches it off and,
/// with these options, on again.
void RegisterGuards(const crema::Options& recording);
/// Registers the benchmarks that they are compared with.
void RegisterGuardLimits();

}  // namespace crema_benchmarks
