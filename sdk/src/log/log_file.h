// The record log on disk: its lines, when it stops to have one for each chunk, and the disk space that it reserves.
#pragma once

#include <limits.h>
#include <sys/stat.h>

#include <mutex>

#include "log/json_line.h"
#include "process/own_descriptor.h"
#include "storage/fixed_text.h"

namespace crema::internal {

struct Recorder;

/// Writes the `file` line, the first time that this process reports the file. Without a file's name nothing is written.
/// Negative numbers: unknown.
void WriteFileLine(Recorder* recorder, std::string_view file, std::int64_t branches, std::int64_t bytes,
                   std::int64_t compressed_bytes) noexcept;

// ReservedDiskSpace: some of the disk, held from the start, for the last lines of a log on a disk that others fill.

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

// LogFile: the record log on disk. A line is one write(2) to an O_APPEND file, so threads need no lock.

/// Kept free for the log's last line below RLIMIT_FSIZE: an `end` without sections has some 200.
inline constexpr std::uint64_t kBytesForLastLine = 2048;

/// Where a log cannot be written, records are lost and counted; the program that is measured goes on as if nothing was.
class LogFile {
 public:
  /// `start_ns` as an earlier recorder of this process has it: what two come to may be a millisecond apart, and names
  /// the process.
  static std::int64_t StartAsLogged(const char* directory, const char* host, std::int64_t pid,
                                    std::int64_t start_ns) noexcept;
  /// Creates `<directory>/<host>-<pid>-<start_ns>-<recorder>.jsonl` with the first number from `recorder` that is free,
  /// 0600, and locks it for as long as this process lives. Missing directories are made, 0700. Returns the number, or
  /// -1 with errno set.
  int Open(const char* directory, const char* host, std::int64_t pid, std::int64_t start_ns, int recorder = 0) noexcept;
  /// As `Open`, for another log of this process beside `first`, which shares its limits, and its room on the disk, with
  /// it. Fails where `first` is gone: the program may be removing the directory.
  int OpenBeside(LogFile* first, int recorder) noexcept;
  /// Before the first line: what CREMA_MAX_LOG_BYTES says, and room on the disk of `directory`.
  void KeepRoom(const char* directory, std::optional<std::int64_t> most_bytes, DescriptorBudget* budget) noexcept;
  bool is_open() const noexcept { return descriptor_.load(std::memory_order_relaxed) >= 0; }

  /// Takes the file away again that `Open` made.
  void Remove(DescriptorBudget* budget) noexcept;

  /// Writes the line that every log has to begin with. Where the disk is full just then, it comes before the next line;
  /// where the log is removed later on, it comes first in the one that takes its place. That is made a second after it
  /// was missed, and each second again where it cannot be; lines meanwhile are lost. A log that the program closed,
  /// with all its descriptors, is opened again as soon as `MayOpen` says. The line is kept by the caller.
  bool Begin(std::string_view first_line) noexcept;
  /// Appends `text`, which ends with a newline. After a write that fell short the next line starts on a new one.
  /// False, and counted in `dropped()`, when it did not get to the disk whole.
  bool Write(std::string_view text) noexcept;
  /// The same; a line that could not be made whole, or is too long for readers, is only counted.
  bool Write(const JsonLine& line) noexcept;
  /// A `begin` or a `chunk` line; `now_ns` is a moment inside the guard that writes it. False, and not counted, when it
  /// did not get to the disk whole: chunks without a line are summed. On a full disk, and beyond the limits of the log,
  /// none is written any more.
  bool WriteOfChunk(const JsonLine& line, std::int64_t now_ns) noexcept;
  /// A `sums` line, which takes from the room that is kept for it. False, and not counted, when it did not get to the
  /// disk whole: it can be tried again.
  bool WriteSums(const JsonLine& line, bool is_last) noexcept;
  /// Those of the process.
  const LogLimits& limits() const noexcept { return first_->limits_; }
  /// Threads that are writing a line of a chunk now.
  int writers() const noexcept { return writers_.load(std::memory_order_relaxed); }
  /// As `Write`, for the line that says what was lost, and is not counted itself: below RLIMIT_FSIZE some bytes are
  /// kept free for it. Nothing is written after it, but a line that another thread has begun to write.
  bool WriteLast(std::string_view text) noexcept;
  std::string_view path() const noexcept { return path_.view(); }
  /// Whether it was removed, and has not been made anew yet.
  bool is_missed() const noexcept { return removed_; }
  /// How often it was made anew: what was in it before is gone.
  std::uint32_t times_made_anew() const noexcept { return times_made_anew_.load(std::memory_order_relaxed); }
  /// The last lines come now: a log that was closed is opened again without delay.
  void ExpectLast() noexcept { ending_ = true; }
  /// From now on a log that was removed is not made anew.
  void LeaveRemoved() noexcept { left_removed_ = true; }
  void Sync() noexcept;
  /// Closes the descriptors. In a forked child that leaves the parent's lock alone only if done at once.
  void Close(DescriptorBudget* budget) noexcept;

  /// Lines that were lost, and of these, those that the disk did not take; for the others there was no memory.
  std::uint64_t dropped() const noexcept { return unwritten() + unmade_.load(std::memory_order_relaxed); }
  std::uint64_t unwritten() const noexcept { return unwritten_.load(std::memory_order_relaxed); }

 private:
  /// What `descriptor_` is now.
  enum class State : std::uint8_t { kOurs, kRemoved, kClosed };

  /// What is kept free below RLIMIT_FSIZE for lines that come later.
  enum class KeptFree : std::uint8_t { kNothing, kLastLine, kSums };

  /// RLIMIT_FSIZE is asked for in any case.
  static constexpr std::int64_t kNow = INT64_MAX;

  int OpenNumbered(int recorder, bool makes_directories) noexcept;
  int Create(const char* path, struct stat* status, bool makes_directories = true) noexcept;
  State Look(int descriptor) const noexcept;
  int ReadyDescriptor() noexcept;
  int MakeReady() noexcept;
  void AddBytes(std::uint64_t bytes) noexcept;
  void WarnLost() const noexcept;
  bool BringBack(State state, std::int64_t now_ns) noexcept;
  bool ReplaceRemoved() noexcept;
  bool OpenAgain() noexcept;
  bool Append(int descriptor, std::string_view text, KeptFree kept_free, std::int64_t since_ns = kNow) noexcept;
  bool AppendWithRoom(int descriptor, std::string_view text, KeptFree kept_free) noexcept;

  /// Another number once the program closed it: who writes asks once whose it is, and writes to that one.
  std::atomic<int> descriptor_{-1};
  std::atomic<dev_t> device_{0};
  std::atomic<ino_t> inode_{0};
  LogFile* first_ = this;  ///< whose limits and room are the process's
  LogLimits limits_;
  ReservedDiskSpace room_;
  bool counts_links_ = true;  ///< some file systems say of every file that it has none
  FixedText<PATH_MAX> path_;
  std::string_view first_line_;
  std::mutex mutex_;                                ///< for a log that has to be begun; else no write takes it
  std::atomic<bool> begun_{false};                  ///< its first line is in it
  std::atomic<std::int64_t> not_anew_until_ns_{0};  ///< CLOCK_MONOTONIC; 0: it was not missed
  std::atomic<bool> removed_{false};
  bool is_missed_ = false;  ///< it was closed; with the mutex held
  std::atomic<bool> ending_{false};
  std::atomic<bool> left_removed_{false};
  std::atomic<std::uint32_t> times_made_anew_{0};
  std::atomic<std::uint64_t> size_{0};
  std::atomic<std::uint64_t> bytes_beside_{0};  ///< of the first one: what is in the others
  std::atomic<int> writers_{0};
  std::atomic<bool> torn_{false};
  std::atomic<bool> ended_{false};
  std::atomic<std::uint64_t> unwritten_{0};
  std::atomic<std::uint64_t> unmade_{0};
};

}  // namespace crema::internal
