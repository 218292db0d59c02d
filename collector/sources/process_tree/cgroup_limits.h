// What the control groups of a process allow it: CPU quota and memory, version 1, 2 or both (cgroups(7)).
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_CGROUP_LIMITS_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_CGROUP_LIMITS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace crema {

struct CgroupLimits {
  std::string version;                        ///< `v1`, `v2`, `v1 and v2` or `none`
  std::optional<double> quota_cores;          ///< least quota/period of the group and those above it; absent: none
  std::optional<int64_t> memory_limit_bytes;  ///< least limit of the group and those above it; absent: none
};

/// Reads /proc/PROCESS/cgroup, /proc/self/mountinfo and the controllers' files. `filesystem_root` stands before all
/// paths; empty but in tests. `process`: a pid, or `self`.
CgroupLimits ReadCgroupLimits(const std::string& filesystem_root = {}, const std::string& process = "self");

/// The file in which the kernel counts the processes of a process's control group that it killed because memory had run
/// out: `memory.events`, in version 1 `memory.oom_control`. Empty: there is none. Arguments as above.
std::string FindOomKillsFile(const std::string& filesystem_root = {}, const std::string& process = "self");

/// That count. nullopt: the file is not there, or the kernel does not count (version 1 before Linux 4.13).
std::optional<int64_t> ReadOomKills(const std::string& file);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_CGROUP_LIMITS_H_
