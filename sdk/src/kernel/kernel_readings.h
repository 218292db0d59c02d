// What the kernel says of a thread: CPU time, run delay, RSS, I/O.
#pragma once

#include <mutex>

#include "process/own_descriptor.h"

namespace crema::internal {

/// One small file under /proc, read often: by pread(2) on a descriptor of the thread's own, since one that is shared
/// costs 2.5 times as much as soon as two threads read it; by open, pread, close where the budget is used up.
///
/// pread(2) needs no look at whose the descriptor is: it moves no offset, fails on pipes and sockets, and what it
/// brings is held against the form that the kernel gives this file.
class ProcReading {
 public:
  using HasForm = bool (*)(std::string_view text);
  constexpr ProcReading(const char* path, HasForm has_form) noexcept : path_(path), has_form_(has_form) {}

  /// Reads up to `capacity - 1` bytes; -1 where the kernel does not say. `may_open`: a descriptor for the next time.
  long Read(DescriptorBudget* budget, char* buffer, int capacity, bool may_open = true) noexcept;
  void Close(DescriptorBudget* budget) noexcept;

 private:
  static constexpr int kNotTried = -1;
  static constexpr int kNoDescriptor = -2;
  static constexpr int kUnreadable = -3;
  void Open(DescriptorBudget* budget) noexcept;

  const char* path_;
  HasForm has_form_;
  int descriptor_ = kNotTried;
  FileIdentity file_;
};

// What the files look like (proc(5)).
bool IsStatm(std::string_view text) noexcept;            ///< seven numbers
bool IsSchedstat(std::string_view text) noexcept;        ///< three numbers
bool IsIo(std::string_view text) noexcept;               ///< lines `rchar: 4096`
bool IsListOfProcesses(std::string_view text) noexcept;  ///< numbers, each with a blank behind it; or nothing

/// A reading, or a sum or difference of readings: nullopt as soon as the kernel refused one of them.
using MaybeInteger = std::optional<std::int64_t>;

/// What the kernel counts for a thread since it began: getrusage(2) with RUSAGE_THREAD. The CPU time in the kernel is
/// the part of the CPU time that the kernel's clock ticks give it.
struct ThreadUsage {
  MaybeInteger read_bytes;  ///< that it made the storage layer fetch; nullopt where the kernel does not count I/O
  MaybeInteger system_cpu_ns;
  MaybeInteger minor_faults;
  MaybeInteger major_faults;

  /// All that is zero, to add to.
  static ThreadUsage Zero() noexcept { return {0, 0, 0, 0}; }
};
ThreadUsage Difference(const ThreadUsage& a, const ThreadUsage& b) noexcept;
void AddTo(ThreadUsage* sum, const ThreadUsage& usage) noexcept;

/// The readings of one thread. Any of them can be refused: then it is nullopt.
class KernelReadings {
 public:
  /// Resident set of the process in bytes: `/proc/self/statm` field 2 (proc(5)).
  std::optional<std::int64_t> RssBytes(DescriptorBudget* budget, bool may_open = true) noexcept;
  /// Time this thread was runnable without a CPU, in ns: `/proc/thread-self/schedstat` field 2
  /// (Documentation/scheduler/sched-stats).
  std::optional<std::int64_t> RunDelayNanoseconds(DescriptorBudget* budget) noexcept;
  /// This thread's. `read_bytes` are those of `/proc/thread-self/io` (proc(5)), which getrusage(2) has in blocks of
  /// 512 bytes for a third of the time. Where there is no such file, the kernel does not count. `*rss_peak_bytes`,
  /// unless null, becomes the highest resident set of the process so far, that of what it executed before included.
  ThreadUsage Usage(MaybeInteger* rss_peak_bytes = nullptr) noexcept;

  /// The whole text of `/proc/thread-self/io`; -1 where the kernel does not say.
  long ReadIo(DescriptorBudget* budget, char* buffer, int capacity) noexcept {
    return io_.Read(budget, buffer, capacity);
  }

  void Close(DescriptorBudget* budget) noexcept;

 private:
  static constexpr const char* kIoPath = "/proc/thread-self/io";
  std::optional<bool> counts_io_;
  ProcReading statm_{"/proc/self/statm", IsStatm};
  ProcReading schedstat_{"/proc/thread-self/schedstat", IsSchedstat};
  ProcReading io_{kIoPath, IsIo};
};

/// The resident set for the chunks of all threads. The kernel adds it up over all CPUs, so threads that end chunks at
/// once share a reading, on one descriptor.
class ProcessRss {
 public:
  /// As `KernelReadings::RssBytes` at `now_ns` (CLOCK_MONOTONIC), or what another thread than `tid` read less than
  /// 0.1 ms before. `own`: the thread's readings, for where another one is reading just now.
  std::optional<std::int64_t> Bytes(std::int64_t now_ns, std::int64_t tid, KernelReadings* own,
                                    DescriptorBudget* budget) noexcept;
  void Close(DescriptorBudget* budget) noexcept { readings_.Close(budget); }

 private:
  struct Reading {
    std::int64_t time_ns;
    std::int64_t tid;
    std::int64_t bytes;
  };
  std::optional<Reading> Latest() const noexcept;

  std::mutex mutex_;  ///< tried only, never waited for: who holds it reads
  KernelReadings readings_;
  std::atomic<std::uint64_t> version_{0};  ///< of the three below; odd while they change, 0: none was read
  std::atomic<std::int64_t> time_ns_{0};
  std::atomic<std::int64_t> tid_{0};
  std::atomic<std::int64_t> bytes_{0};
};

/// CPU time of all threads of the process; nullopt where the kernel refuses it.
std::optional<std::int64_t> ProcessCpuNanoseconds() noexcept;

/// CPU time of all threads of another process, until its parent has waited for it; nullopt when it is gone.
MaybeInteger CpuOfProcess(std::int64_t pid) noexcept;
/// CPU time of a living thread of this process, by its number; nullopt when it has ended.
MaybeInteger CpuOfThread(std::int64_t tid) noexcept;
/// All threads of the process, without the bytes.
ThreadUsage UsageOfProcess() noexcept;
/// How many filters of seccomp(2) the calling thread has, each of which may kill the process for a call that it does
/// not list; -1: some, or not known.
std::int64_t SeccompFilters() noexcept;
/// CPU time of the children that the process has waited for, and of theirs.
MaybeInteger CpuOfEndedChildren() noexcept;

/// `ThreadCpuNanoseconds` as a `MaybeInteger`.
MaybeInteger ThreadCpu() noexcept;
inline MaybeInteger Difference(MaybeInteger a, MaybeInteger b) noexcept {
  return a.has_value() && b.has_value() ? MaybeInteger(*a - *b) : std::nullopt;
}
inline void AddTo(MaybeInteger* sum, MaybeInteger value) noexcept {
  *sum = sum->has_value() && value.has_value() ? MaybeInteger(**sum + *value) : std::nullopt;
}

}  // namespace crema::internal
