// ReservedDiskSpace: some of the disk, held from the start, for the last lines of a log on a disk that others fill.
#pragma once

#include "process/own_descriptor.h"

namespace crema::internal {

/// A file without a name (O_TMPFILE) beside the log: where the process is killed, nothing of it stays. File systems
/// that have no such files keep no room.
class ReservedDiskSpace {
 public:
  static constexpr std::size_t kBytes = 65536;

  void Take(const char* directory, DescriptorBudget* budget) noexcept;
  /// Gives the disk back at least so many bytes, for a line to be written at once; false where nothing is left.
  bool Give(std::size_t bytes) noexcept;
  /// Gives all back. In a forked child it is the parent's, and only the descriptor is closed.
  void Close(DescriptorBudget* budget) noexcept;

 private:
  int descriptor_ = -1;
  FileIdentity file_;
  std::atomic<std::size_t> bytes_{0};
};

// LogLimits: when a log stops to have a line for each chunk. The disk belongs to the program that is measured.

/// Why chunks are summed from now on (`reason` of the record log's `sums`).
enum class StopReason : std::uint8_t {
  kNone,
  kLogShare,   ///< the log is larger than a tenth of what is free, its own size included
  kFreeSpace,  ///< less is free than 5 % of the disk, or 200 MB if that is less
  kDiskFull,   ///< a write said so: no space, or a quota that is reached
  kLogSize,    ///< CREMA_MAX_LOG_BYTES
  kFileSize,   ///< RLIMIT_FSIZE
};
const char* ReasonText(StopReason reason) noexcept;

/// RLIMIT_FSIZE. The kernel kills a program that writes beyond it (SIGXFSZ). The program may set it at any time.
std::uint64_t LargestFileBytes() noexcept;
/// The same, as it was at a moment since `since_ns` (CLOCK_MONOTONIC). The kernel takes a lock of the process for the
/// answer, so threads whose guards began before one of them asked share its answer that there is no limit.
std::uint64_t LargestFileBytes(std::int64_t since_ns) noexcept;

/// What is kept below a limit in bytes for the lines of sums.
std::uint64_t RoomBelow(std::uint64_t limit_bytes) noexcept;

/// Any thread may call it. The disk is asked once per MB that the log grew, earlier where little is left, and once per
/// second at most besides; never per line.
class LogLimits {
 public:
  /// Before the first line; `most_bytes` as CREMA_MAX_LOG_BYTES has it.
  void SetMostBytes(std::optional<std::int64_t> most_bytes) noexcept {
    if (most_bytes.has_value()) most_bytes_ = static_cast<std::uint64_t>(*most_bytes);
  }

  /// Whether a line for a chunk may be written into a log of `size` bytes that `descriptor` is.
  bool Allows(int descriptor, std::uint64_t size, std::int64_t now_ns) noexcept {
    if (is_stopped()) return false;
    if (size < ask_at_bytes_.load(std::memory_order_relaxed) && now_ns < ask_at_ns_.load(std::memory_order_relaxed)) {
      return true;
    }
    return Ask(descriptor, size, now_ns);
  }
  /// From now on no line for a chunk is written. `room_bytes` are left for the lines of sums.
  void Stop(StopReason reason, std::uint64_t room_bytes) noexcept;
  bool is_stopped() const noexcept { return reason() != StopReason::kNone; }
  StopReason reason() const noexcept { return reason_.load(std::memory_order_acquire); }

  /// Takes room for a line that is no chunk's, once the log is stopped; false where none is left.
  bool TakeRoom(std::uint64_t bytes) noexcept;
  /// What was left for such lines when the log stopped, and what is left now.
  std::uint64_t room() const noexcept { return room_.load(std::memory_order_relaxed); }
  std::uint64_t room_left() const noexcept { return room_left_.load(std::memory_order_relaxed); }

 private:
  bool Ask(int descriptor, std::uint64_t size, std::int64_t now_ns) noexcept;

  std::uint64_t most_bytes_ = UINT64_MAX;
  std::atomic<std::uint64_t> ask_at_bytes_{0};
  std::atomic<std::int64_t> ask_at_ns_{0};
  std::atomic<StopReason> reason_{StopReason::kNone};
  std::atomic<std::uint64_t> room_{0};
  std::atomic<std::uint64_t> room_left_{0};
};

}  // namespace crema::internal
