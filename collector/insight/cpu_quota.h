// A CPU quota that held the run back: what it is called in sentences.
#ifndef CREMA_COLLECTOR_INSIGHT_CPU_QUOTA_H_
#define CREMA_COLLECTOR_INSIGHT_CPU_QUOTA_H_

#include <string>

#include "collector/measurement/measurement.h"

namespace crema {

/// `the quota of 0.3 cores held them back for 7.00 s`; without its size where only affinity may be known. Empty where
/// no quota explains most of the time in which threads waited for a CPU.
std::string QuotaThatHeldBack(const Measurement& measurement);

inline constexpr char kCureOfQuota[] =
    "Ask for a larger CPU quota (cpu.max of the cgroup, `--cpus` of a container), or run as many threads as it allows.";

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_CPU_QUOTA_H_
