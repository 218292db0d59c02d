#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>

#include "crema/internal/platform.h"
#include "log/log_file.h"

namespace crema::internal {
namespace {

constexpr int kOpenedAs = O_TMPFILE | O_WRONLY;
constexpr std::size_t kBlock = 4096;
/// At most so small a part of what is free.
constexpr std::size_t kSharesOfFree = 200;

/// Not so where the program closed all its descriptors in the moment in which the file was opened, and the number is
/// that of its own file.
bool IsNewAndNameless(int fd) {
  struct stat status {};
  return fd >= 0 && fstat(fd, &status) == 0 && status.st_nlink == 0 && status.st_size == 0 &&
         (fcntl(fd, F_GETFL) & (O_TMPFILE | O_ACCMODE)) == kOpenedAs;
}

/// In whole blocks, up to `ReservedDiskSpace::kBytes`.
std::size_t RoomOn(int fd) {
  struct statvfs disk {};
  if (fstatvfs(fd, &disk) != 0) return 0;
  const std::size_t share = disk.f_bavail * disk.f_frsize / kSharesOfFree;
  return std::min(share / kBlock * kBlock, ReservedDiskSpace::kBytes);
}

constexpr std::uint64_t kLogSharesOfFree = 10;
constexpr std::uint64_t kReserveSharesOfDisk = 20;
constexpr std::uint64_t kMostReserveBytes = 200000000;
constexpr std::uint64_t kMostBetweenQuestions = 1000000;
constexpr std::uint64_t kLeastBetweenQuestions = 65536;
constexpr std::int64_t kBetweenQuestionsNanoseconds = 1000000000;
constexpr std::uint64_t kLeastRoom = 65536;
constexpr std::uint64_t kMostRoomBelowLimit = 262144;

/// CLOCK_MONOTONIC: when the latest question for RLIMIT_FSIZE began whose answer was that there is none.
std::atomic<std::int64_t> g_unlimited_ns{INT64_MIN};

}  // namespace

void ReservedDiskSpace::Take(const char* directory, DescriptorBudget* budget) noexcept {
  if (LargestFileBytes() < kBytes || !budget->Take()) return;
  const int fd = MoveUp(open(directory, kOpenedAs | O_CLOEXEC, 0600), IsNewAndNameless);
  const auto file = fd >= 0 ? IdentityOf(fd) : std::nullopt;
  const std::size_t bytes = file.has_value() ? RoomOn(fd) : 0;
  // Not posix_fallocate(3), which would write zeros where the file system cannot keep room.
  if (bytes == 0 || fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) {
    if (fd >= 0) close(fd);
    budget->GiveBack();
    return;
  }
  descriptor_ = fd;
  file_ = *file;
  bytes_.store(bytes);
}

bool ReservedDiskSpace::Give(std::size_t bytes) noexcept {
  // A block more than it takes: the log's own last block may be full.
  const std::size_t wanted = (bytes / kBlock + 2) * kBlock;
  const std::size_t had = bytes_.load();
  if (had == 0 || !(IdentityOf(descriptor_) == file_) || !IsOpenedAs(descriptor_, kOpenedAs)) return false;
  const std::size_t rest = had - std::min(wanted, had);
  bytes_.store(rest);
  return ftruncate(descriptor_, static_cast<off_t>(rest)) == 0;
}

void ReservedDiskSpace::Close(DescriptorBudget* budget) noexcept {
  if (descriptor_ < 0) return;
  if (IsOpenOn(descriptor_, file_) && IsOpenedAs(descriptor_, kOpenedAs)) close(descriptor_);
  budget->GiveBack();
  descriptor_ = -1;
  bytes_.store(0);
}

const char* ReasonText(StopReason reason) noexcept {
  static constexpr const char* kTexts[] = {"write_error", "log_share", "free_space",
                                           "disk_full",   "log_size",  "file_size"};
  return kTexts[static_cast<int>(reason)];
}

std::uint64_t LargestFileBytes() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

std::uint64_t LargestFileBytes(std::int64_t since_ns) noexcept {
  if (g_unlimited_ns.load(std::memory_order_acquire) >= since_ns) return UINT64_MAX;
  const std::int64_t asked_ns = MonotonicNanoseconds();
  const std::uint64_t limit = LargestFileBytes();
  if (limit == UINT64_MAX) g_unlimited_ns.store(asked_ns, std::memory_order_release);
  return limit;
}

std::uint64_t RoomBelow(std::uint64_t limit_bytes) noexcept { return std::min(limit_bytes / 4, kMostRoomBelowLimit); }

void LogLimits::Stop(StopReason reason, std::uint64_t room_bytes) noexcept {
  room_.store(room_bytes, std::memory_order_relaxed);
  room_left_.store(room_bytes, std::memory_order_relaxed);
  StopReason none = StopReason::kNone;
  reason_.compare_exchange_strong(none, reason, std::memory_order_release);
}

bool LogLimits::TakeRoom(std::uint64_t bytes) noexcept {
  std::uint64_t left = room_left_.load(std::memory_order_relaxed);
  while (left >= bytes) {
    if (room_left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
  }
  return false;
}

bool LogLimits::Ask(int descriptor, std::uint64_t size, std::int64_t now_ns) noexcept {
  // Set first: other threads need not ask as well.
  ask_at_ns_.store(now_ns + kBetweenQuestionsNanoseconds, std::memory_order_relaxed);
  ask_at_bytes_.store(size + kLeastBetweenQuestions, std::memory_order_relaxed);
  std::uint64_t left = UINT64_MAX;  // until one of the limits
  if (most_bytes_ != UINT64_MAX) {
    const std::uint64_t room = RoomBelow(most_bytes_);
    const std::uint64_t limit = most_bytes_ - room;
    if (size >= limit) {
      Stop(StopReason::kLogSize, room);
      return false;
    }
    left = limit - size;
  }
  struct statvfs disk {};
  if (fstatvfs(descriptor, &disk) == 0 && disk.f_blocks != 0) {
    const std::uint64_t block = disk.f_frsize;
    const std::uint64_t free = disk.f_bavail * block;
    const std::uint64_t reserve = std::min(disk.f_blocks * block / kReserveSharesOfDisk, kMostReserveBytes);
    const std::uint64_t share = (free + size) / kLogSharesOfFree;
    if (free < reserve) {
      Stop(StopReason::kFreeSpace, std::max(reserve / 16, kLeastRoom));
      return false;
    }
    if (size > share) {
      Stop(StopReason::kLogShare, std::max(size / 4, kLeastRoom));
      return false;
    }
    left = std::min({left, share - size, free - reserve});
  }
  // Other processes write to the same disk: a quarter of what is left before the next question.
  const std::uint64_t step = std::clamp(left / 4, kLeastBetweenQuestions, kMostBetweenQuestions);
  ask_at_bytes_.store(size + std::min(step, left), std::memory_order_relaxed);
  return true;
}

}  // namespace crema::internal
