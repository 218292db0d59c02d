// NativeStacks: which functions the chunks of this process are in, by a signal for each 1/HZ s of a thread's CPU time.
#ifndef CREMA_SRC_NATIVE_STACKS_H_
#define CREMA_SRC_NATIVE_STACKS_H_

#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "call_frame.h"
#include "stack_table.h"

namespace crema {
namespace internal {

struct Recorder;
struct ThreadState;

/// Of a thread that had a chunk open; kept with its state, for the next thread.
struct ThreadStacks {
  std::atomic<bool> is_taken{false};      ///< the table, by the handler or by who writes: neither waits for the other
  std::atomic<std::uint64_t> carried{0};  ///< samples that the next sighting stands for, too
  std::atomic<Recorder*> recorder{nullptr};
  StackTable* table = nullptr;
  StackBounds bounds;
  char* handler_stack = nullptr;  ///< for threads that bring none; nullptr: it brought one
  std::size_t handler_stack_bytes = 0;
  std::atomic<bool> has_timer{false};
  bool is_armed = false;
  timer_t timer = {};
  std::int64_t left_ns = 0;  ///< of CPU time, until the next sample
};

/// Of a recorder. Off where nobody asks for stacks: then chunks load one number, and sections none.
class NativeStacks {
 public:
  using Handler = void (*)(int, siginfo_t*, void*);

  /// On, if stacks are asked for. Of several copies of the SDK the recorder's own calls it: its handler knows all
  /// threads.
  void Start() noexcept;
  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  /// The package of an interpreted language takes the stacks of its own functions: none are taken here, nor in forked
  /// children.
  void LeaveToInterpreter() noexcept;
  double hertz() const noexcept { return hertz_; }
  /// No more samples: the process ends.
  void Stop() noexcept { is_on_.store(false); }

  /// Writes what was counted, ten seconds after the last time, or when a thread's table is half full. Whoever comes
  /// while another thread writes does not wait.
  void WriteWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept;
  void Write(Recorder* recorder) noexcept;

  /// Takes a signal that nobody uses, when the first chunk begins: until then an interpreter may say that it takes the
  /// stacks, and the program may have set handlers of its own. False where that cannot be; the log says why.
  bool EnsureSignal(Recorder* recorder) noexcept;
  int signal() const noexcept { return signal_.load(std::memory_order_relaxed); }
  /// Whether the program has not taken the signal for itself meanwhile.
  bool HasSignal() const noexcept;
  /// A line that says why there are no stacks, of a thread or at all; once.
  void Refuse(Recorder* recorder, const char* reason) noexcept;
  /// The program's own handler would get what is ours: all timers are stopped.
  void GiveUp(Recorder* recorder) noexcept;
  void NoteHalfFull() noexcept { is_half_full_.store(true, std::memory_order_relaxed); }

 private:
  void WriteLocked(Recorder* recorder) noexcept;
  void WriteMerged(Recorder* recorder) noexcept;

  std::atomic<bool> is_on_{false};
  std::atomic<bool> is_refused_{false};
  std::atomic<bool> is_half_full_{false};
  std::atomic<std::int64_t> next_write_ns_{0};
  double hertz_ = 0;
  std::atomic<int> signal_{0};
  Handler handler_ = nullptr;
  bool can_find_files_ = false;
  std::mutex mutex_;  ///< guards what follows
  StackTable* all_ = nullptr;
};

/// The thread's outermost chunk begins, or goes on: its CPU time is sampled from here on.
void TakeStacks(Recorder* recorder, ThreadState* thread) noexcept;
/// The thread has no chunk open any more.
void PauseStacks(ThreadState* thread) noexcept;
/// The thread ends.
void EndStacks(ThreadState* thread) noexcept;

}  // namespace internal
}  // namespace crema

#endif  // CREMA_SRC_NATIVE_STACKS_H_
