// What the kernel says of a thread: CPU time, run delay, RSS, I/O.
#ifndef CREMA_SRC_KERNEL_READINGS_H_
#define CREMA_SRC_KERNEL_READINGS_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>

namespace crema {
namespace internal {

/// At most so many descriptors are held by a process, its log's included: min(64, RLIMIT_NOFILE / 8).
class DescriptorBudget {
 public:
  void Start() noexcept;
  bool Take() noexcept;
  void GiveBack() noexcept;

 private:
  std::atomic<int> left_{0};
};

/// One small file under /proc, read often: by pread(2) on a descriptor of the thread's own, since one that is shared
/// costs 2.5 times as much as soon as two threads read it; by open, read, close where the budget is used up.
class ProcReading {
 public:
  explicit constexpr ProcReading(const char* path) noexcept : path_(path) {}

  /// Reads up to `capacity - 1` bytes; -1 where the kernel does not tell.
  long Read(DescriptorBudget* budget, char* buffer, int capacity) noexcept;
  void Close(DescriptorBudget* budget) noexcept;

 private:
  static constexpr int kNotTried = -1;
  static constexpr int kNoDescriptor = -2;
  static constexpr int kUnreadable = -3;
  bool StillOurs() const noexcept;

  const char* path_;
  int descriptor_ = kNotTried;
  ino_t inode_ = 0;
};

/// The readings of one thread. Any of them can be refused: then it is nullopt.
class KernelReadings {
 public:
  /// Resident set of the process in bytes: `/proc/self/statm` field 2 (proc(5)).
  std::optional<std::int64_t> RssBytes(DescriptorBudget* budget) noexcept;
  /// Time this thread was runnable without a CPU, in ns: `/proc/thread-self/schedstat` field 2
  /// (Documentation/scheduler/sched-stats).
  std::optional<std::int64_t> RunDelayNanoseconds(DescriptorBudget* budget) noexcept;
  /// Bytes this thread made the storage layer fetch: `read_bytes` of `/proc/thread-self/io` (proc(5)).
  std::optional<std::int64_t> ReadBytes(DescriptorBudget* budget) noexcept;

  /// The whole text of `/proc/thread-self/io`; -1 where the kernel does not tell.
  long ReadIo(DescriptorBudget* budget, char* buffer, int capacity) noexcept;

  void Close(DescriptorBudget* budget) noexcept;

 private:
  ProcReading statm_{"/proc/self/statm"};
  ProcReading schedstat_{"/proc/thread-self/schedstat"};
  ProcReading io_{"/proc/thread-self/io"};
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_KERNEL_READINGS_H_
