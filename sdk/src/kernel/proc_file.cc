#include "kernel/proc_file.h"

#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "process/own_descriptor.h"
#include "storage/fixed_text.h"

namespace crema::internal {

long ReadWholeFile(const char* path, char* buffer, std::size_t capacity) noexcept {
  const KeptErrno kept_errno;
  long size = -EMFILE;
  // Whose the number is may change at any moment, if the program closes all its descriptors: so pread(2), which moves
  // no offset and does not block on a pipe, and no close(2) of anything but a file of this file system.
  struct stat wanted {};
  const bool may_open = MayOpen();
  const bool is_there = may_open && stat(path, &wanted) == 0;
  const int fd = is_there ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  if (may_open) size = fd < 0 ? -errno : 0;
  if (fd >= 0) {
    while (static_cast<std::size_t>(size) < capacity - 1) {
      const ssize_t got = pread(fd, buffer + size, capacity - 1 - static_cast<std::size_t>(size), size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) size = -errno;
      if (got <= 0) break;
      size += got;
    }
    if (IsOpenOnDevice(fd, wanted.st_dev)) {
      close(fd);
    } else {
      size = -EBADF;
    }
  }
  buffer[size > 0 ? size : 0] = '\0';
  return size;
}

std::optional<std::int64_t> LeadingInteger(std::string_view text) noexcept {
  std::size_t begin = 0;
  while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t')) ++begin;
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (result.ec != std::errc() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> IntegerAfter(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    if (text.substr(0, key.size()) == key) return LeadingInteger(text.substr(key.size()));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> FieldOfStat(int place) noexcept {
  constexpr int kName = 2;  // in brackets; it may hold blanks and brackets itself
  char text[1024];
  const long size = ReadWholeFile("/proc/self/stat", text, sizeof text);
  std::string_view rest(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
  for (int i = kName; i < place; ++i) rest.remove_prefix(std::min(rest.find(' '), rest.size() - 1) + 1);
  return LeadingInteger(rest);
}

namespace {

/// Kernels write "no limit" in version 1 as the largest page-aligned number (memory.limit_in_bytes).
constexpr std::int64_t kNoLimitBytes = std::int64_t{1} << 62;

using Path = FixedText<PATH_MAX>;

/// Reads the file below `directory` that `slash_and_name` says; empty where it cannot be read.
template <std::size_t kBytes>
std::string_view ReadIn(Path* directory, std::string_view slash_and_name, char (&buffer)[kBytes]) {
  const std::size_t directory_size = directory->view().size();
  directory->Append(slash_and_name);
  const long size = ReadWholeFile(directory->c_str(), buffer, kBytes);
  directory->CutTo(directory_size);
  return {buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::optional<std::int64_t> IntegerIn(Path* directory, std::string_view slash_and_name) {
  char buffer[64];
  return LeadingInteger(ReadIn(directory, slash_and_name, buffer));
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

/// Appends the group of this process in one hierarchy: `0::/path` for version 2, where no controller is named,
/// `4:memory:/path` for a controller of version 1. False where there is none.
bool AppendGroup(std::string_view controller, Path* path) {
  const FileText text("/proc/self/cgroup", 4096);
  std::string_view groups = text.view();
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(line.size() + 1, groups.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    if (!IsAmong(line.substr(first + 1, second - first - 1), controller)) continue;
    path->Append(line.substr(second + 1));
    return true;
  }
  return false;
}

/// Calls `look` with the directory of the group and of each group around it. Inside a container the path seen may lie
/// outside what is mounted: then only the root is there.
template <class Look>
void ForEachGroup(std::string_view mount, std::string_view controller, Look look) {
  const OwnPointer<Path> directory(MakeOwn<Path>(mount));
  if (directory == nullptr || !AppendGroup(controller, directory.get())) return;
  while (true) {
    look(directory.get());
    if (directory->view().size() <= mount.size()) return;
    directory->CutTo(std::max(directory->view().rfind('/'), mount.size()));
  }
}

template <class Number>
void Tighten(std::optional<Number>* limit, std::optional<Number> other) {
  if (other.has_value() && (!limit->has_value() || *other < **limit)) *limit = other;
}

std::optional<double> Quota(std::optional<std::int64_t> time, std::optional<std::int64_t> period) {
  if (!time.has_value() || period.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(*time) / static_cast<double>(*period);
}

std::optional<double> QuotaOfVersion2(Path* directory) {
  char buffer[64];
  const std::string_view text = ReadIn(directory, "/cpu.max", buffer);  // "max 100000" or "150000 100000"
  return Quota(LeadingInteger(text), LeadingInteger(text.substr(std::min(text.find(' '), text.size()))));
}

std::optional<double> QuotaOfVersion1(Path* directory) {
  return Quota(IntegerIn(directory, "/cpu.cfs_quota_us"), IntegerIn(directory, "/cpu.cfs_period_us"));  // -1: none
}

std::optional<double> AffinityCores() {
  int most = 0;
  for (const pid_t thread : {0, getpid()}) {  // this one may be bound to a core of the process's
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (sched_getaffinity(thread, sizeof cpus, &cpus) == 0) most = std::max(most, CPU_COUNT(&cpus));
  }
  if (most > 0) return most;
  const long online = sysconf(_SC_NPROCESSORS_ONLN);  // machines beyond CPU_SETSIZE
  return online > 0 ? std::optional<double>(online) : std::nullopt;
}

std::optional<std::int64_t> BelowNoLimit(std::optional<std::int64_t> bytes) {
  return bytes.has_value() && *bytes >= kNoLimitBytes ? std::nullopt : bytes;
}

}  // namespace

std::optional<double> AllowedCores() noexcept {
  std::optional<double> cores = AffinityCores();
  ForEachGroup("/sys/fs/cgroup", "", [&](Path* path) { Tighten(&cores, QuotaOfVersion2(path)); });
  ForEachGroup("/sys/fs/cgroup/cpu", "cpu", [&](Path* path) { Tighten(&cores, QuotaOfVersion1(path)); });
  return cores;
}

std::optional<std::int64_t> MemoryLimitBytes() noexcept {
  std::optional<std::int64_t> limit;
  ForEachGroup("/sys/fs/cgroup", "", [&](Path* path) { Tighten(&limit, IntegerIn(path, "/memory.max")); });
  ForEachGroup("/sys/fs/cgroup/memory", "memory",
               [&](Path* path) { Tighten(&limit, BelowNoLimit(IntegerIn(path, "/memory.limit_in_bytes"))); });
  return limit;
}

std::optional<std::int64_t> TasksLeft() noexcept {
  std::optional<std::int64_t> left;
  const auto look = [&left](Path* path) {
    const std::optional<std::int64_t> most = IntegerIn(path, "/pids.max");  // "max": no number
    const std::optional<std::int64_t> now = IntegerIn(path, "/pids.current");
    if (most.has_value() && now.has_value()) Tighten(&left, std::optional(*most - *now));
  };
  ForEachGroup("/sys/fs/cgroup", "", look);
  ForEachGroup("/sys/fs/cgroup/pids", "pids", look);
  return left;
}

std::optional<std::int64_t> ThrottledNanoseconds() noexcept {
  std::optional<std::int64_t> sum;
  const auto add = [&](Path* path, std::optional<double> quota, std::string_view key, std::int64_t unit_ns) {
    char buffer[1024];
    const auto time = quota.has_value() ? IntegerAfter(ReadIn(path, "/cpu.stat", buffer), key) : std::nullopt;
    if (time.has_value()) sum = sum.value_or(0) + *time * unit_ns;
  };
  ForEachGroup("/sys/fs/cgroup", "", [&](Path* path) { add(path, QuotaOfVersion2(path), "throttled_usec", 1000); });
  ForEachGroup("/sys/fs/cgroup/cpu", "cpu", [&](Path* path) { add(path, QuotaOfVersion1(path), "throttled_time", 1); });
  return sum;
}

std::optional<double> CpuPressurePercent() noexcept {
  char text[256];
  const long size = ReadWholeFile("/proc/pressure/cpu", text, sizeof text);  // some avg10=0.00 avg60=…, and NUL
  constexpr std::string_view kKey = "avg10=";
  const std::size_t found = std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0).find(kKey);
  if (found == std::string_view::npos) return std::nullopt;
  return strtod_l(text + found + kKey.size(), nullptr, newlocale(LC_ALL_MASK, "C", nullptr));
}

}  // namespace crema::internal
