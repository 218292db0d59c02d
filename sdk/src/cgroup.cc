#include "cgroup.h"

#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "fixed_text.h"
#include "proc_file.h"

namespace crema {
namespace internal {
namespace {

/// Kernels write "no limit" in version 1 as the largest page-aligned number (memory.limit_in_bytes).
constexpr std::int64_t kNoLimitBytes = std::int64_t{1} << 62;

using Path = FixedText<PATH_MAX>;

/// A small file of the kernel; empty where it cannot be read.
class SmallFile {
 public:
  explicit SmallFile(const Path& path) : size_(ReadWholeFile(path.c_str(), text_, sizeof text_)) {}
  std::string_view text() const { return {text_, size_ > 0 ? static_cast<std::size_t>(size_) : 0}; }

 private:
  char text_[4096];
  const long size_;
};

/// `directory` and a file in it.
Path FileIn(Path directory, std::string_view slash_and_name) {
  directory.Append(slash_and_name);
  return directory;
}

/// Whether `name` is one of `names`, which have commas between them.
bool IsAmong(std::string_view names, std::string_view name) {
  while (true) {
    const std::size_t comma = names.find(',');
    if (names.substr(0, comma) == name) return true;
    if (comma == std::string_view::npos) return false;
    names.remove_prefix(comma + 1);
  }
}

/// The group of this process in one hierarchy: `0::/path` for version 2, where no controller is named,
/// `4:memory:/path` for a controller of version 1.
std::optional<Path> Group(std::string_view controller) {
  const SmallFile file{Path("/proc/self/cgroup")};
  for (std::string_view groups = file.text(); !groups.empty();) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    if (IsAmong(line.substr(first + 1, second - first - 1), controller)) return Path(line.substr(second + 1));
  }
  return std::nullopt;
}

/// Calls `look` with the directory of the group and of each group around it. Inside a container the path seen may lie
/// outside what is mounted: then only the root is there.
template <class Look>
void ForEachGroup(std::string_view mount, const std::optional<Path>& group, Look look) {
  if (!group.has_value()) return;
  Path directory(mount);
  directory.Append(group->view());
  while (true) {
    look(directory);
    if (directory.view().size() <= mount.size()) return;
    directory.CutTo(std::max(directory.view().rfind('/'), mount.size()));
  }
}

template <class Number>
void Tighten(std::optional<Number>* limit, std::optional<Number> other) {
  if (other.has_value() && (!limit->has_value() || *other < **limit)) *limit = other;
}

std::optional<double> QuotaOfVersion2(const Path& directory) {
  const SmallFile file(FileIn(directory, "/cpu.max"));  // "max 100000" or "150000 100000"
  const std::size_t blank = file.text().find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto quota = LeadingInteger(file.text());
  const auto period = LeadingInteger(file.text().substr(blank + 1));
  if (!quota.has_value() || period.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::int64_t> IntegerIn(const Path& path) { return LeadingInteger(SmallFile(path).text()); }

std::optional<double> QuotaOfVersion1(const Path& directory) {
  const auto quota = IntegerIn(FileIn(directory, "/cpu.cfs_quota_us"));  // -1: none
  const auto period = IntegerIn(FileIn(directory, "/cpu.cfs_period_us"));
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

std::optional<double> AllowedCores() noexcept {
  std::optional<double> cores = AffinityCores();
  ForEachGroup("/sys/fs/cgroup", Group(""), [&](const Path& path) { Tighten(&cores, QuotaOfVersion2(path)); });
  ForEachGroup("/sys/fs/cgroup/cpu", Group("cpu"), [&](const Path& path) { Tighten(&cores, QuotaOfVersion1(path)); });
  return cores;
}

std::optional<std::int64_t> MemoryLimitBytes() noexcept {
  std::optional<std::int64_t> limit;
  ForEachGroup("/sys/fs/cgroup", Group(""),
               [&](const Path& path) { Tighten(&limit, IntegerIn(FileIn(path, "/memory.max"))); });
  ForEachGroup("/sys/fs/cgroup/memory", Group("memory"), [&](const Path& path) {
    Tighten(&limit, BelowNoLimit(IntegerIn(FileIn(path, "/memory.limit_in_bytes"))));
  });
  return limit;
}

std::optional<double> CpuPressurePercent() noexcept {
  const SmallFile file{Path("/proc/pressure/cpu")};  // some avg10=0.00 avg60=…
  constexpr std::string_view kKey = "avg10=";
  const std::size_t found = file.text().find(kKey);
  if (found == std::string_view::npos) return std::nullopt;
  return std::strtod(file.text().data() + found + kKey.size(), nullptr);  // the text ends with NUL
}

}  // namespace internal
}  // namespace crema
