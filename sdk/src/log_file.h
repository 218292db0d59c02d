// LogFile: the record log on disk. A line is one write(2) to an O_APPEND file, so threads need no lock.
#ifndef CREMA_SRC_LOG_FILE_H_
#define CREMA_SRC_LOG_FILE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace crema {
namespace internal {

/// Where a log cannot be written, records are lost and counted; the program that is measured goes on as if nothing was.
class LogFile {
 public:
  /// Creates `<directory>/<host>-<pid>-<start_ns>-<recorder>.jsonl` with the first recorder number that is free, 0600,
  /// and locks it for as long as this process lives. Missing directories are made, 0700. Returns the recorder number,
  /// or -1 with errno set.
  int Open(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns) noexcept;
  bool is_open() const noexcept { return descriptor_ >= 0; }

  /// Appends `text`, which ends with a newline. After a write that fell short the next line starts on a new one.
  /// False, and counted in `dropped()`, when it did not get to the disk whole.
  bool Write(std::string_view text) noexcept;
  /// Looks at RLIMIT_FSIZE again: the kernel kills a program that writes beyond it (SIGXFSZ), so we stop before.
  void RefreshSizeLimit() noexcept;
  void Sync() noexcept;
  /// Closes the descriptor. In a forked child that leaves the parent's lock alone only if done at once.
  void Close() noexcept;

  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  void CountDropped(std::uint64_t records) noexcept { dropped_.fetch_add(records, std::memory_order_relaxed); }

 private:
  bool StillOurs() const noexcept;

  int descriptor_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::atomic<std::uint64_t> size_{0};
  std::atomic<std::uint64_t> size_limit_{UINT64_MAX};
  std::atomic<bool> torn_{false};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_LOG_FILE_H_
