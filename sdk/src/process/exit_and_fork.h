// What happens to the recorder when the process forks, and when it ends.
#pragma once

namespace crema {
namespace internal {

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

}  // namespace internal
}  // namespace crema
