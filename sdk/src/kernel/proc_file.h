// Small files of the kernel, read without stdio, and what they allow this process: cores, memory, tasks.
#pragma once

#include <optional>

#include "storage/arena.h"

namespace crema::internal {

/// Reads up to `capacity - 1` bytes of the file and ends them with NUL. Returns their number, or the negative error
/// (`-ENOENT`).
long ReadWholeFile(const char* path, char* buffer, std::size_t capacity) noexcept;

/// What `ReadWholeFile` reads, on the heap: the stack of a thread of the program may be small.
class FileText {
 public:
  FileText(const char* path, std::size_t capacity) noexcept : text_(MakeOwnArray<char>(capacity)) {
    if (has_memory()) size_ = ReadWholeFile(path, text_.get(), capacity);
  }
  bool has_memory() const noexcept { return text_ != nullptr; }
  /// Empty where it cannot be read.
  std::string_view view() const noexcept { return {text_.get(), size_ > 0 ? static_cast<std::size_t>(size_) : 0}; }

 private:
  const OwnArray<char> text_;
  long size_ = -1;
};

/// The unsigned integer that `text` begins with after blanks; nullopt where there is none.
std::optional<std::int64_t> LeadingInteger(std::string_view text) noexcept;

/// The integer after `key` at the start of a line, as in `/proc/self/io` (`read_bytes: 4096`).
std::optional<std::int64_t> IntegerAfter(std::string_view text, std::string_view key) noexcept;

/// A number of `/proc/self/stat` by its place, which is behind the name (proc(5)); nullopt where there is none.
std::optional<std::int64_t> FieldOfStat(int place) noexcept;

// What the kernel allows this process: cores and memory, by affinity and control groups (versions 1 and 2).

/// The smaller of the CPUs in the affinity mask and the tightest CPU quota of the groups around the process.
std::optional<double> AllowedCores() noexcept;
/// The tightest memory limit of the groups around the process, in bytes; nullopt where there is none.
std::optional<std::int64_t> MemoryLimitBytes() noexcept;
/// How many tasks (threads and processes) the groups around the process still allow; nullopt where there is no limit.
std::optional<std::int64_t> TasksLeft() noexcept;
/// How long the quotas of this process's groups kept tasks from their CPUs, since the groups began: `throttled_usec` of
/// `cpu.stat`, `throttled_time` in version 1; nullopt where there is no quota.
std::optional<std::int64_t> ThrottledNanoseconds() noexcept;
/// Share of the last 10 s in which some task of the machine waited for a CPU, in per cent: PSI's `some avg10`.
std::optional<double> CpuPressurePercent() noexcept;

}  // namespace crema::internal
