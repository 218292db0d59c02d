// How many CPUs a job was granted on this host, of which commit it is, and who says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace crema {

struct CgroupLimits {
  std::string version;                        ///< `v1`, `v2`, `v1 and v2` or `none`
  std::optional<double> quota_cores;          ///< least quota/period of the group and those above it; absent: none
  std::optional<int64_t> memory_limit_bytes;  ///< least limit of the group and those above it; absent: none
};

/// Reads /proc/PROCESS/cgroup, /proc/self/mountinfo and the controllers' files. `filesystem_root` precedes all
/// paths; empty but in tests. `process`: a pid, or `self`.
CgroupLimits ReadCgroupLimits(const std::string& filesystem_root = {}, const std::string& process = "self");

/// The file in which the kernel counts the processes of a process's control group that it killed because memory had run
/// out: `memory.events`, in version 1 `memory.oom_control`. Empty: there is none. Arguments as above.
std::string FindOomKillsFile(const std::string& filesystem_root = {}, const std::string& process = "self");

/// That count. nullopt: the file is not there, or the kernel does not count (version 1 before Linux 4.13).
std::optional<int64_t> ReadOomKills(const std::string& file);

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

/// Which commit of its source a run is of, and who says so: the environment, or the files of git. No process is
/// started.
struct SourceCommit {
  std::string id;      ///< empty: not known
  std::string source;  ///< the variable that said it, or `git`: `run.commit_source`
};

/// The first of these:
///  - CREMA_COMMIT, whatever it says (at most 100 bytes of it);
///  - the variables of CI systems, where they hold a hash;
///  - HEAD of the git repository of `directory`, as `git rev-parse HEAD` would say (gitrepository-layout(5)). That is
///    looked for upwards, but not beyond the file system. One that keeps its references as reftable shows nothing.
/// Changes that are not committed are not seen.
SourceCommit FindSourceCommit(const Environment& environment, const std::string& directory);

}  // namespace crema
