// When a log stops having a line for each chunk: each bound of the disk alone, just inside and just outside.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstdint>

#include "crema/internal/platform.h"
#include "sdk/src/log/log_file.h"

namespace {

/// RLIMIT_FSIZE as getrlimit(2) reports it in this program.
rlim_t faked_file_size = RLIM_INFINITY;
int file_size_questions = 0;

/// The disk that fstatvfs(3) reports in this program, in blocks of one byte.
struct FakedDisk {
  std::uint64_t bytes = 0;
  std::uint64_t free = 0;  ///< for who is not root
  bool is_known = true;
  int questions = 0;
};
FakedDisk faked_disk;

}  // namespace

extern "C" int getrlimit(__rlimit_resource_t, rlimit* limit) noexcept {
  ++file_size_questions;
  *limit = {faked_file_size, RLIM_INFINITY};
  return 0;
}

extern "C" int fstatvfs(int, struct statvfs* disk) noexcept {
  ++faked_disk.questions;
  if (!faked_disk.is_known) {
    errno = ENOSYS;
    return -1;
  }
  *disk = {};
  disk->f_frsize = 1;
  disk->f_bsize = 4096;  // another unit, which is not that of the blocks
  disk->f_blocks = faked_disk.bytes;
  disk->f_bavail = faked_disk.free;
  disk->f_bfree = faked_disk.bytes;  // what root may still take is not the program's
  return 0;
}

namespace crema {
namespace internal {
namespace {

constexpr std::uint64_t kTerabyte = 1'000'000'000'000;
constexpr std::uint64_t kGigabyte = 1'000'000'000;
constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Why a log of `size` bytes stops on such a disk; kNone: it does not.
StopReason ReasonOn(std::uint64_t disk_bytes, std::uint64_t free_bytes, std::uint64_t size) {
  faked_disk = {disk_bytes, free_bytes, true, 0};
  LogLimits limits;
  const bool is_allowed = limits.Allows(-1, size, 0);
  EXPECT_EQ(is_allowed, !limits.is_stopped());
  EXPECT_EQ(faked_disk.questions, 1);
  return limits.reason();
}

TEST(LogLimits, ALogHasATenthOfWhatIsFreeItsOwnSizeIncluded) {
  constexpr std::uint64_t kMost = kGigabyte / 9;  // a tenth of the free GB and of itself
  EXPECT_EQ(ReasonOn(kTerabyte, kGigabyte, kMost), StopReason::kNone);
  EXPECT_EQ(ReasonOn(kTerabyte, kGigabyte, kMost + 1), StopReason::kLogShare);
}

TEST(LogLimits, OfASmallDiskFivePercentStayFree) {
  constexpr std::uint64_t kReserve = kGigabyte / 20;
  EXPECT_EQ(ReasonOn(kGigabyte, kReserve, 1000), StopReason::kNone);
  EXPECT_EQ(ReasonOn(kGigabyte, kReserve - 1, 1000), StopReason::kFreeSpace);
}

TEST(LogLimits, OfALargeDisk200MegabytesStayFree) {
  constexpr std::uint64_t kReserve = 200 * kMegabyte;
  EXPECT_EQ(ReasonOn(kTerabyte, kReserve, 1000), StopReason::kNone);
  EXPECT_EQ(ReasonOn(kTerabyte, kReserve - 1, 1000), StopReason::kFreeSpace);
}

TEST(LogLimits, ADiskThatIsNotKnownIsNoReason) {
  faked_disk = {};
  faked_disk.is_known = false;
  LogLimits limits;
  EXPECT_TRUE(limits.Allows(-1, kGigabyte, 0));
  EXPECT_EQ(ReasonOn(0, 0, kGigabyte), StopReason::kNone) << "a file system without blocks";
}

TEST(LogLimits, TheDiskIsAskedForEachMegabyteAndEachSecond) {
  faked_disk = {kTerabyte, kTerabyte, true, 0};
  LogLimits limits;
  for (std::uint64_t size = 0; size < 10 * kMegabyte; size += 1000) EXPECT_TRUE(limits.Allows(-1, size, 1));
  EXPECT_EQ(faked_disk.questions, 10);
  for (std::int64_t at = 0; at < 10; ++at) EXPECT_TRUE(limits.Allows(-1, 9 * kMegabyte, 2 + at * kSecondNs));
  EXPECT_EQ(faked_disk.questions, 19);
}

TEST(LogLimits, ALogThatWasStoppedStaysStoppedAndHasRoomForSums) {
  faked_disk = {kGigabyte, 0, true, 0};
  LogLimits limits;
  EXPECT_FALSE(limits.Allows(-1, 1000, 0));
  faked_disk.free = kGigabyte;
  EXPECT_FALSE(limits.Allows(-1, 1000, 10 * kSecondNs)) << "lines that come and go would be useless";
  const std::uint64_t room = limits.room();
  EXPECT_GE(room, 65'536u);
  EXPECT_TRUE(limits.TakeRoom(room - 1));
  EXPECT_FALSE(limits.TakeRoom(2));
  EXPECT_EQ(limits.room_left(), 1u);
}

TEST(LargestFileBytes, ThatThereIsNoneIsAskedOnceForAllGuardsThatBeganBefore) {
  faked_file_size = RLIM_INFINITY;
  file_size_questions = 0;
  const std::int64_t first_guard_ns = MonotonicNanoseconds();
  const std::int64_t second_guard_ns = MonotonicNanoseconds();
  EXPECT_EQ(LargestFileBytes(first_guard_ns), UINT64_MAX);
  EXPECT_EQ(LargestFileBytes(second_guard_ns), UINT64_MAX);
  EXPECT_EQ(LargestFileBytes(first_guard_ns), UINT64_MAX);
  EXPECT_EQ(file_size_questions, 1);
}

TEST(LargestFileBytes, AGuardThatBeganAfterTheQuestionAsksAnew) {
  faked_file_size = RLIM_INFINITY;
  EXPECT_EQ(LargestFileBytes(MonotonicNanoseconds()), UINT64_MAX);
  faked_file_size = 4096;  // the program sets it, and then uses a guard
  const std::int64_t next_guard_ns = MonotonicNanoseconds() + 1;
  EXPECT_EQ(LargestFileBytes(next_guard_ns), 4096u);
  faked_file_size = 1000;
  EXPECT_EQ(LargestFileBytes(next_guard_ns), 1000u) << "a limit is asked for each line";
}

}  // namespace
}  // namespace internal
}  // namespace crema
