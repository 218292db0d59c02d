#include "collector/insight/cpu_quota.h"

#include <algorithm>
#include <cmath>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {

std::string QuotaThatHeldBack(const Measurement& measurement) {
  const double throttled = measurement.Metric("throttled_time").value_or(0);
  double waited = 0;
  for (const BudgetRow& row : measurement.budget) {
    if (row.part.str() == "cpu_wait") waited = row.core_seconds.value_or(0);
  }
  waited = std::max(waited, measurement.Metric("lane_cpu_wait").value_or(0));
  if (throttled <= 0 || !kMostOfIt.Holds(throttled / std::max(waited, throttled))) return "";
  const WorkerRow* most = nullptr;
  for (const WorkerRow& worker : measurement.workers) {
    if (worker.throttled.value_or(0) > (most == nullptr ? 0 : most->throttled.value_or(0))) most = &worker;
  }
  std::string quota = "a CPU quota";
  const double cores = most == nullptr ? 0 : most->allowed_cores.value_or(0);
  // A whole number may be that of the CPUs to which it is bound.
  const bool is_quota = cores != std::floor(cores) || measurement.run.allocated_cores_source.str() == "cgroup";
  if (cores > 0 && is_quota)
    quota = fmt::format("the quota of {} {}", HumanNumber(cores), cores == 1 ? "core" : "cores");
  return fmt::format("{} held them back for {}", quota, HumanDuration(throttled));
}

}  // namespace crema
