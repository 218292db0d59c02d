#include "collector/sources/process_tree/allocated_cores.h"

#include <sched.h>

#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collector/sources/process_tree/proc_file.h"

namespace crema {
namespace {

// Version 1 writes "no limit" as the largest multiple of the page size: nothing near it is a limit.
constexpr int64_t kUnlimited = int64_t{1} << 60;

using Words = std::vector<std::string>;

/// Where a controller's files of this process are: its own group first, then every group above it.
struct Hierarchy {
  bool is_v2 = false;
  std::vector<std::string> directories;
};

struct Mount {
  std::string root;
  std::string point;
  std::string type;
  std::string options;
};

Words LinesOf(const std::string& path) { return absl::StrSplit(ReadWholeFile(path), '\n', absl::SkipEmpty()); }

std::vector<Mount> ReadMounts(const std::string& filesystem_root) {
  std::vector<Mount> mounts;
  for (const std::string& line : LinesOf(filesystem_root + "/proc/self/mountinfo")) {
    // 31 23 0:28 ROOT POINT OPTIONS [optional fields] - TYPE SOURCE SUPER_OPTIONS
    const Words words = absl::StrSplit(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    if (dash[1] == "cgroup" || dash[1] == "cgroup2") mounts.push_back({words[3], words[4], dash[1], dash[3]});
  }
  return mounts;
}

bool Lists(const std::string& list, std::string_view name) {
  const Words words = absl::StrSplit(list, ',');
  return std::find(words.begin(), words.end(), name) != words.end();
}

std::vector<std::string> Directories(const std::string& filesystem_root, const Mount& mount, std::string path) {
  // A mount may show a part of the hierarchy only; the group's path is then below what the mount calls its root.
  if (mount.root != "/") path = path.rfind(mount.root, 0) == 0 ? path.substr(mount.root.size()) : "";
  if (path == "/" || path.find("..") != std::string::npos) path.clear();
  std::vector<std::string> directories;
  for (;;) {
    directories.push_back(filesystem_root + mount.point + path);
    if (path.empty()) return directories;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

Hierarchy FindHierarchy(const std::string& filesystem_root, const std::string& process,
                        const std::vector<Mount>& mounts, std::string_view controller) {
  Hierarchy v2;
  for (const std::string& line : LinesOf(filesystem_root + "/proc/" + process + "/cgroup")) {
    const Words parts = absl::StrSplit(line, absl::MaxSplits(':', 2));  // NUMBER:CONTROLLERS:PATH
    if (parts.size() != 3) continue;
    const bool is_v2 = parts[0] == "0" && parts[1].empty();
    if (!is_v2 && !Lists(parts[1], controller)) continue;
    for (const Mount& mount : mounts) {
      if (mount.type != (is_v2 ? "cgroup2" : "cgroup") || (!is_v2 && !Lists(mount.options, controller))) continue;
      Hierarchy found{is_v2, Directories(filesystem_root, mount, parts[2])};
      if (!is_v2) return found;  // a controller used by version 1 is not in version 2
      v2 = found;
      break;
    }
  }
  return v2;
}

std::optional<int64_t> Integer(const std::string& text) {
  int64_t value = 0;
  return absl::SimpleAtoi(text, &value) ? std::optional(value) : std::nullopt;  // `max` is not a number
}

std::optional<double> ReadQuota(const std::string& directory, bool is_v2) {
  std::optional<int64_t> quota, period;
  if (is_v2) {
    const Words words = absl::StrSplit(ReadWholeFile(directory + "/cpu.max"), absl::ByAnyChar(" \n"));
    quota = Integer(words[0]);
    if (words.size() > 1) period = Integer(words[1]);
  } else {
    quota = Integer(ReadWholeFile(directory + "/cpu.cfs_quota_us"));  // -1: none
    period = Integer(ReadWholeFile(directory + "/cpu.cfs_period_us"));
  }
  if (quota.value_or(0) <= 0 || period.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<int64_t> ReadMemoryLimit(const std::string& directory, bool is_v2) {
  const std::optional<int64_t> limit =
      Integer(ReadWholeFile(directory + (is_v2 ? "/memory.max" : "/memory.limit_in_bytes")));
  if (!limit.has_value() || *limit <= 0 || *limit >= kUnlimited) return std::nullopt;
  return limit;
}

template <class Value>
void KeepLeast(const std::optional<Value>& value, std::optional<Value>* least) {
  if (value.has_value()) *least = std::min(*value, least->value_or(*value));
}

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
    for (const std::string& line : LinesOf(filesystem_root + machine_ad)) {
      const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits('=', 1));
      // Names of ClassAds do not distinguish upper from lower case.
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

CgroupLimits ReadCgroupLimits(const std::string& filesystem_root, const std::string& process) {
  CgroupLimits limits;
  const std::vector<Mount> mounts = ReadMounts(filesystem_root);
  bool has_v1 = false, has_v2 = false;
  for (const Mount& mount : mounts) (mount.type == "cgroup2" ? has_v2 : has_v1) = true;
  limits.version = has_v1 ? (has_v2 ? "v1 and v2" : "v1") : (has_v2 ? "v2" : "none");

  const Hierarchy cpu = FindHierarchy(filesystem_root, process, mounts, "cpu");
  for (const std::string& directory : cpu.directories) KeepLeast(ReadQuota(directory, cpu.is_v2), &limits.quota_cores);
  const Hierarchy memory = FindHierarchy(filesystem_root, process, mounts, "memory");
  for (const std::string& directory : memory.directories) {
    KeepLeast(ReadMemoryLimit(directory, memory.is_v2), &limits.memory_limit_bytes);
  }
  return limits;
}

std::string FindOomKillsFile(const std::string& filesystem_root, const std::string& process) {
  const Hierarchy memory = FindHierarchy(filesystem_root, process, ReadMounts(filesystem_root), "memory");
  if (memory.directories.empty()) return "";
  return memory.directories.front() + (memory.is_v2 ? "/memory.events" : "/memory.oom_control");
}

std::optional<int64_t> ReadOomKills(const std::string& file) {
  if (file.empty()) return std::nullopt;
  for (const std::string& line : LinesOf(file)) {
    const Words words = absl::StrSplit(line, ' ');
    int64_t count = 0;
    if (words.size() == 2 && words[0] == "oom_kill" && absl::SimpleAtoi(words[1], &count)) return count;
  }
  return std::nullopt;
}

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
