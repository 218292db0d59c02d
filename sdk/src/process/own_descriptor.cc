#include "process/own_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "crema/internal/platform.h"

namespace crema {
namespace internal {
namespace {

constexpr int kMostDescriptors = 64;
constexpr int kSharesOfLogs = 9;
/// fork(2) copies the table of descriptors up to the highest one: ours stay below this.
constexpr rlim_t kHighest = 1024;

/// Where our numbers begin: the last quarter of those below the soft limit and `kHighest`.
int FirstHighNumber() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kHighest;
  const auto highest = static_cast<int>(std::min(limit.rlim_cur, kHighest));
  return highest - highest / 4;
}

constexpr std::int64_t kFirstWaitNanoseconds = 1000000000;
constexpr int kMostDoublings = 10;
std::atomic<int> g_times_lost{0};
std::atomic<std::int64_t> g_open_again_ns{0};  ///< CLOCK_MONOTONIC; 0: nothing was lost

}  // namespace

void DescriptorBudget::Start() noexcept {
  rlimit limit{};
  int most = kMostDescriptors;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 8 < kMostDescriptors) {
    most = static_cast<int>(limit.rlim_cur / 8);
  }
  const int for_logs = most / kSharesOfLogs;
  logs_left_.store(for_logs, std::memory_order_relaxed);
  left_.store(most - 1 - for_logs, std::memory_order_relaxed);  // one is the log's
}

bool DescriptorBudget::Take() noexcept {
  if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
  GiveBack();
  return false;
}

void DescriptorBudget::GiveBack() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }

std::optional<FileIdentity> IdentityOf(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

bool IsOpenOn(int descriptor, const FileIdentity& file) noexcept {
  const auto identity = IdentityOf(descriptor);
  return identity.has_value() ? *identity == file : errno != EBADF;
}

bool IsOpenOnDevice(int descriptor, dev_t device) noexcept {
  const auto identity = IdentityOf(descriptor);
  return identity.has_value() ? identity->device == device : errno != EBADF;
}

bool IsOpenedAs(int descriptor, int flags) noexcept {
  const int opened_as = fcntl(descriptor, F_GETFL);
  return opened_as < 0 ? errno != EBADF : (opened_as & (flags | O_ACCMODE)) == flags;
}

int DuplicateHigh(int fd) noexcept {
  const int first = FirstHighNumber();
  if (fd < 0 || fd >= first) return fd;
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, first);
  return high >= 0 ? high : fd;
}

void NoteLostDescriptor() noexcept {
  const int times = std::min(g_times_lost.fetch_add(1), kMostDoublings);
  g_open_again_ns.store(MonotonicNanoseconds() + (kFirstWaitNanoseconds << times));
}

bool MayOpen() noexcept {
  const std::int64_t open_again_ns = g_open_again_ns.load(std::memory_order_relaxed);
  return open_again_ns == 0 || MonotonicNanoseconds() >= open_again_ns;
}

}  // namespace internal
}  // namespace crema
