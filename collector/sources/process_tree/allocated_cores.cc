#include "collector/sources/process_tree/allocated_cores.h"

#include <sched.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collector/sources/process_tree/proc_file.h"

namespace crema {
namespace {

std::optional<double> PositiveNumber(const char* text) {
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text, &end);  // SLURM_JOB_CPUS_PER_NODE goes on: `16(x2),8`
  if (end == text || !(number > 0)) return std::nullopt;
  return number;
}

/// In a task of TaskVine or Work Queue, whose worker may itself be a batch job. The user's CORES alone says nothing.
std::optional<AllocatedCores> FromTask(const Environment& environment) {
  const char* engine = environment("VINE_SANDBOX") != nullptr         ? "taskvine"
                       : environment("WORK_QUEUE_SANDBOX") != nullptr ? "work_queue"
                                                                      : nullptr;
  const std::optional<double> cores = PositiveNumber(environment("CORES"));
  if (engine == nullptr || !cores.has_value()) return std::nullopt;
  return AllocatedCores{*cores, engine, "CORES"};
}

std::optional<AllocatedCores> FromSlurm(const Environment& environment) {
  if (environment("SLURM_JOB_ID") == nullptr && environment("SLURM_JOBID") == nullptr) return std::nullopt;
  for (const char* name : {"SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_CPUS_PER_TASK"}) {
    const std::optional<double> cores = PositiveNumber(environment(name));
    if (cores.has_value()) return AllocatedCores{*cores, "slurm", name};
  }
  return std::nullopt;
}

std::optional<AllocatedCores> FromHtcondor(const Environment& environment, const std::string& filesystem_root) {
  const char* machine_ad = environment("_CONDOR_MACHINE_AD");
  if (machine_ad != nullptr) {
    const std::string text = ReadWholeFile(filesystem_root + machine_ad);
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
      const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits('=', 1));
      // Names of ClassAds do not tell upper from lower case.
      if (absl::AsciiStrToLower(absl::StripAsciiWhitespace(field.first)) != "cpus") continue;
      const std::optional<double> cores = PositiveNumber(field.second.c_str());
      if (cores.has_value()) return AllocatedCores{*cores, "htcondor", "Cpus in " + std::string(machine_ad)};
    }
  }
  const bool in_job = machine_ad != nullptr || environment("_CONDOR_SCRATCH_DIR") != nullptr;
  const std::optional<double> cores = PositiveNumber(environment("CUBACORES"));
  if (in_job && cores.has_value()) return AllocatedCores{*cores, "htcondor", "CUBACORES"};
  return std::nullopt;
}

}  // namespace

std::optional<AllocatedCores> FindAllocatedCores(const Environment& environment, const CgroupLimits& cgroup,
                                                 std::optional<int> affinity_cores,
                                                 const std::string& filesystem_root) {
  if (auto cores = FromTask(environment); cores.has_value()) return cores;
  if (auto cores = FromSlurm(environment); cores.has_value()) return cores;
  if (auto cores = FromHtcondor(environment, filesystem_root); cores.has_value()) return cores;
  if (cgroup.quota_cores.has_value() && *cgroup.quota_cores < affinity_cores.value_or(*cgroup.quota_cores + 1)) {
    return AllocatedCores{*cgroup.quota_cores, "cgroup", "CPU quota"};
  }
  if (affinity_cores.has_value()) {
    return AllocatedCores{static_cast<double>(*affinity_cores), "affinity", "affinity mask"};
  }
  return std::nullopt;
}

std::optional<int> AffinityCores(int pid) {
  // A machine with more CPUs than the set holds makes the call fail with EINVAL: a larger one is tried.
  for (int cpus = CPU_SETSIZE; cpus <= 64 * CPU_SETSIZE; cpus *= 4) {
    cpu_set_t* set = CPU_ALLOC(static_cast<size_t>(cpus));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpus));
    CPU_ZERO_S(bytes, set);
    const bool known = sched_getaffinity(pid, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return count;
  }
  return std::nullopt;
}

}  // namespace crema
