// UnannouncedCpu: which chunk used the CPU time of threads that no guard announced, and of child processes.
#pragma once

#include "kernel/children_cpu.h"

namespace crema::internal {

struct ChunkState;
struct Recorder;
struct ThreadState;

/// What was open while a time passed.
enum class OpenThen : std::uint8_t {
  kNothing,
  kOneChunk,
  kSeveral,  ///< or it is not known
};

/// CPU time of threads without guards, and wall time, while so much was open.
struct UnannouncedTime {
  std::int64_t cpu_ns = 0;
  std::int64_t wall_ns = 0;
};

/// Threads without guards, as a library starts them, have no chunk; but while one chunk is open alone, what they and
/// child processes compute is that chunk's work. So their CPU time is read where the number of open chunks passes
/// between 0, 1 and 2: the CPU time of the process less that of all threads that have used a guard, of the main thread,
/// and of our own. While several chunks are open it cannot be divided.
///
/// No chunk waits here: where two threads come at once, one of them reads, and the time until then counts as that of
/// several chunks.
class UnannouncedCpu {
 public:
  /// Whether to call `Settle`, for the number of other open chunks when a chunk begins or has ended.
  static bool IsToSettle(std::int64_t others) noexcept { return others <= 1; }
  /// Gives the time since the last call to what was open then. `begun`: the chunk that has just begun; null: one has
  /// just ended.
  void Settle(Recorder* recorder, ChunkState* begun) noexcept;
  /// From now on the CPU time of this thread, which is the calling one, is announced.
  void JoinThread(Recorder* recorder, ThreadState* thread) noexcept;
  /// The calling thread ends.
  void LeaveThread(ThreadState* thread, std::int64_t pid) noexcept;
  void SetOwnThread(std::int64_t tid) noexcept { own_thread_.store(tid, std::memory_order_relaxed); }

  UnannouncedTime Time(OpenThen open) noexcept;
  /// In a forked child, and at the end.
  void Close(DescriptorBudget* budget) noexcept { children_.Close(budget); }

 private:
  static constexpr int kMostThreads = 32;  ///< whose clocks are read, at 0.3 us each; of more, nothing is known
  MaybeInteger Read(const Recorder& recorder) noexcept;
  MaybeInteger ReadOnce(const Recorder& recorder) noexcept;
  /// Leaves CPU time of a thread that was not announced until now out of what is given.
  void TakeOut(const Recorder& recorder, std::int64_t own_ns) noexcept;
  /// What threads that also compute while no chunk is open, as a logger does, use in such a time: it is no chunk's.
  std::int64_t Background(std::int64_t wall_ns) const noexcept;
  /// With the mutex held.
  void Give(MaybeInteger cpu_ns, MaybeInteger children_ns) noexcept;

  std::mutex mutex_;
  std::atomic<bool> was_missed_{false};   ///< a call found the mutex held
  std::atomic<bool> thread_came_{false};  ///< since the last call
  std::atomic<std::int64_t> own_thread_{0};
  std::atomic<std::int64_t> ended_ns_{0};  ///< CPU time of announced threads that are gone
  MaybeInteger last_cpu_ns_;
  ChildrenCpu children_;
  MaybeInteger last_children_ns_;
  std::int64_t owed_ns_ = 0;  ///< so much too much was given: a sum of clocks that run on is late or early
  std::int64_t last_time_ns_ = 0;
  OpenThen open_ = OpenThen::kSeveral;
  ChunkState* chunk_ = nullptr;  ///< the one that is open
  std::uint64_t generation_ = 0;
  UnannouncedTime times_[3];
};

}  // namespace crema::internal
