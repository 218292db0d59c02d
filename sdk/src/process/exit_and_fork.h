// What happens to the recorder when the process forks or ends, and the summary at exit (CREMA_SUMMARY=1).
#pragma once

#include "chunk/chunk_line.h"
#include "chunk/open_work.h"
#include "chunk/section_tree.h"
#include "kernel/clock.h"

namespace crema::internal {

/// Sums of the process's ended chunks. Kept only when a summary was asked for: each chunk then takes its lock once.
class ExitSummary {
 public:
  void Add(ChunkState* state, const ChunkEnd& end) noexcept;
  /// Prints to stderr; nothing when no chunk ended.
  void Print(const Recorder& recorder) noexcept;

 private:
  void PrintSections(const TickRate& rate) noexcept;

  std::mutex mutex_;
  std::uint64_t chunks_ = 0;
  std::uint64_t failed_ = 0;
  std::int64_t events_ = -1;  ///< -1: never set
  std::int64_t busy_ns_ = 0;
  MaybeInteger cpu_ns_ = 0;
  MaybeInteger wait_ns_ = 0;
  std::int64_t joined_ns_ = 0;  ///< waiting for helpers of the chunk's own
  MaybeInteger helper_cpu_ns_ = 0;
  std::int64_t first_start_ns_ = INT64_MAX;  ///< CLOCK_MONOTONIC
  std::int64_t last_stop_ns_ = 0;
  SectionTree sections_;
};

/// Registers the handlers, once per process image, whose forked children inherit them. False where there is no memory
/// for one of them: the next call goes on with it. Not from two threads at once.
bool WatchExitAndFork() noexcept;
/// What exit(3) does to the recorder; once. Also at quick_exit(3), and where the program asks for it (crema_end).
void EndProcess() noexcept;
/// Whether that was done: nothing is switched on any more.
bool ProcessIsEnding() noexcept;

// Called by the handlers; defined with the recorder's state.

/// In a forked child: the parent's recorder, log and open chunks are not ours. The child's first guard starts its own.
void ForgetParent() noexcept;
/// At exit: ends what the calling thread records, stops the sampler and writes the `end` line.
void EndRecording() noexcept;

}  // namespace crema::internal
