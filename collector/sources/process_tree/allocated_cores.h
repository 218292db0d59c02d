// How many CPUs a job was granted on this host, and who says so.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_ALLOCATED_CORES_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_ALLOCATED_CORES_H_

#include <functional>
#include <optional>
#include <string>

#include "collector/sources/process_tree/cgroup_limits.h"

namespace crema {

struct AllocatedCores {
  double cores = 0;
  std::string source;  ///< taskvine, work_queue, slurm, htcondor, cgroup or affinity: `run.allocated_cores_source`
  std::string detail;  ///< the variable or file that said it
};

/// The environment as a function, so that tests bring their own: nullptr where the variable is not set.
using Environment = std::function<const char*(const char*)>;

/// The first of these:
///  - a task of TaskVine or Work Queue (VINE_SANDBOX, WORK_QUEUE_SANDBOX): CORES, which its worker sets;
///  - SLURM: SLURM_CPUS_ON_NODE (CPUs of this node that the job got), else the first host's number in
///    SLURM_JOB_CPUS_PER_NODE, else SLURM_CPUS_PER_TASK (sbatch(1), OUTPUT ENVIRONMENT VARIABLES);
///  - HTCondor: `Cpus` in the file that _CONDOR_MACHINE_AD names, else CUBACORES, which its starter sets with the
///    other thread counts. OMP_NUM_THREADS is not asked: people set it themselves;
///  - the cgroup's quota where it is less than the affinity mask;
///  - the affinity mask.
/// `affinity_cores`: CPUs in the mask (see `AffinityCores`). nullopt: nothing is known.
std::optional<AllocatedCores> FindAllocatedCores(const Environment& environment, const CgroupLimits& cgroup,
                                                 std::optional<int> affinity_cores,
                                                 const std::string& filesystem_root = {});

/// CPUs on which the process may run (sched_getaffinity(2)); 0: this one.
std::optional<int> AffinityCores(int pid = 0);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_ALLOCATED_CORES_H_
