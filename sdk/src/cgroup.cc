#include "cgroup.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "proc_file.h"

namespace crema {
namespace internal {
namespace {

/// Kernels write "no limit" in version 1 as the largest page-aligned number (memory.limit_in_bytes).
constexpr std::int64_t kNoLimitBytes = std::int64_t{1} << 62;

std::string ReadText(const std::string& path) {
  char text[4096];
  const long size = ReadWholeFile(path.c_str(), text, sizeof text);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// The group of this process in one hierarchy: `0::/path` for version 2, `4:memory:/path` for a controller of
/// version 1.
std::optional<std::string> Group(std::string_view controller) {
  const std::string groups = ReadText("/proc/self/cgroup");
  for (std::size_t begin = 0; begin < groups.size();) {
    const std::size_t end = std::min(groups.find('\n', begin), groups.size());
    const std::string_view line = std::string_view(groups).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string names = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    const bool is_it =
        controller.empty() ? names == ",," : names.find("," + std::string(controller) + ",") != std::string::npos;
    if (is_it) return std::string(line.substr(second + 1));
  }
  return std::nullopt;
}

/// Calls `look` with the directory of the group and of each group around it. Inside a container the path seen may lie
/// outside what is mounted: then only the root is there.
template <class Look>
void ForEachGroup(const std::string& mount, std::string group, Look look) {
  while (true) {
    look(mount + group);
    if (group.empty()) return;
    const std::size_t slash = group.rfind('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

template <class Number>
void Tighten(std::optional<Number>* limit, std::optional<Number> other) {
  if (other.has_value() && (!limit->has_value() || *other < **limit)) *limit = other;
}

std::optional<double> QuotaOfVersion2(const std::string& directory) {
  const std::string text = ReadText(directory + "/cpu.max");  // "max 100000" or "150000 100000"
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return std::nullopt;
  const auto quota = LeadingInteger(text);
  const auto period = LeadingInteger(std::string_view(text).substr(blank + 1));
  if (!quota.has_value() || period.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> QuotaOfVersion1(const std::string& directory) {
  const auto quota = LeadingInteger(ReadText(directory + "/cpu.cfs_quota_us"));  // -1: none
  const auto period = LeadingInteger(ReadText(directory + "/cpu.cfs_period_us"));
  if (!quota.has_value() || period.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> AffinityCores() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0) return CPU_COUNT(&cpus);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);  // machines beyond CPU_SETSIZE
  if (online <= 0) return std::nullopt;
  return static_cast<double>(online);
}

std::optional<std::int64_t> BelowNoLimit(std::optional<std::int64_t> bytes) {
  return bytes.has_value() && *bytes >= kNoLimitBytes ? std::nullopt : bytes;
}

}  // namespace

std::optional<double> AllowedCores() {
  std::optional<double> cores = AffinityCores();
  if (const auto group = Group(""); group.has_value()) {
    ForEachGroup("/sys/fs/cgroup", *group, [&](const std::string& path) { Tighten(&cores, QuotaOfVersion2(path)); });
  }
  if (const auto group = Group("cpu"); group.has_value()) {
    ForEachGroup("/sys/fs/cgroup/cpu", *group,
                 [&](const std::string& path) { Tighten(&cores, QuotaOfVersion1(path)); });
  }
  return cores;
}

std::optional<std::int64_t> MemoryLimitBytes() {
  std::optional<std::int64_t> limit;
  if (const auto group = Group(""); group.has_value()) {
    ForEachGroup("/sys/fs/cgroup", *group,
                 [&](const std::string& path) { Tighten(&limit, LeadingInteger(ReadText(path + "/memory.max"))); });
  }
  if (const auto group = Group("memory"); group.has_value()) {
    ForEachGroup("/sys/fs/cgroup/memory", *group, [&](const std::string& path) {
      Tighten(&limit, BelowNoLimit(LeadingInteger(ReadText(path + "/memory.limit_in_bytes"))));
    });
  }
  return limit;
}

std::optional<double> CpuPressurePercent() {
  const std::string text = ReadText("/proc/pressure/cpu");  // some avg10=0.00 avg60=…
  const std::size_t found = text.find("avg10=");
  if (found == std::string::npos) return std::nullopt;
  return std::strtod(text.c_str() + found + strlen("avg10="), nullptr);
}

}  // namespace internal
}  // namespace crema
