// WaitSampler: what threads with an open chunk are seen waiting for, and where.
#pragma once

#include <limits.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "crema/internal/section_node.h"
#include "stacks/process_memory.h"
#include "storage/arena.h"
#include "storage/fixed_text.h"

namespace crema::internal {

struct OpenWork;
struct Recorder;
struct ThreadState;

enum class WaitKind : std::uint8_t {
  kRunning,  ///< on a CPU, or waiting for one
  kLock,     ///< or a condition: futex(2)
  kRead,
  kWrite,
  kSync,
  kNetwork,
  kPoll,
  kSleep,
  kChild,
  kPageFault,
  kInterpreterLock,  ///< of Python
  kOther,
};

/// A system call that a thread is in.
struct BlockedCall {
  WaitKind kind = WaitKind::kRunning;
  int descriptor = -1;         ///< that it is about; -1: none
  std::string_view call;       ///< its name, for `kOther`; a literal
  bool is_in_no_call = false;  ///< blocked all the same: a page fault, mostly
  std::uint64_t arguments[6] = {};
  std::uintptr_t stack = 0;  ///< the thread's stack pointer
  std::uintptr_t pc = 0;     ///< where it goes on
};

/// Unless CREMA_WAITS asks for more. No rate is reached whose looks would cost too much.
inline constexpr double kDefaultWaitsHertz = 20;
inline constexpr double kMostWaitsHertz = 100;

/// How often a thread was seen in one wait, in one section of one use of a frame. The sampler writes the key while
/// `count` is 0, and the thread itself takes the count.
struct WaitCell {
  std::atomic<std::uint32_t> count{0};
  std::uint64_t use = 0;
  const SectionNode* section = nullptr;
  WaitKind kind = WaitKind::kRunning;
  std::uint32_t object = 0;
  std::uint32_t stack = 0;
};

/// For one thread, until its frame ends.
struct WaitTable {
  static constexpr int kCells = 128;
  WaitCell cells[kCells];
  // The last wait whose stack was read, for the sampler only: as long as it goes on, its stack is not read again.
  std::int64_t turns = -1;  ///< of the thread on CPUs
  FixedText<256> line;      ///< of `/proc/self/task/<tid>/syscall`
  std::uint32_t stack = 0;
};

/// Reads `/proc/self/task/<tid>/syscall` of threads at work, some times a second, from the sampler's thread. Where the
/// user asks for it, it also copies the inner end of their stacks, and finds out in which functions they are. It stops
/// no thread, sends no signal, takes no lock of the program or of ld.so, and keeps no descriptor; docs/waits.md has
/// what it costs.
class WaitSampler {
 public:
  void Start(double hertz, bool is_asked) noexcept;
  /// Looks no more, for this error (errno).
  void Refuse(int error) noexcept { error_.store(error, std::memory_order_relaxed); }
  double hertz() const noexcept { return hertz_; }
  /// Seconds until the next look: not in step with anything that the program does, and long enough for what the last
  /// looks cost.
  double NextDistance() noexcept;
  /// One look at the threads at work. On the sampler's thread only.
  void Look(Recorder* recorder) noexcept;
  /// The CPU time of the last look, with the way to it.
  void AddCost(std::int64_t cpu_ns) noexcept;
  /// Threads that were looked at so far.
  std::uint64_t looks() const noexcept { return looks_.load(std::memory_order_relaxed); }
  /// Why nothing can be seen; empty where it can.
  std::string_view refusal() const noexcept;
  /// The object or stack that the number stands for; empty for 0, which is none, or one of too many.
  std::string_view TextOf(std::uint32_t number) const noexcept;
  /// In a forked child: the parent's memory is none of its business.
  void CloseInherited() noexcept {
    if (memory_ != nullptr) memory_->Close();
  }

 private:
  static constexpr std::uint32_t kMostTexts = 2000;
  static constexpr std::size_t kSockets = 64;
  void LookAt(Recorder* recorder, ThreadState* thread) noexcept;
  /// The number of what a call of this thread is about, and whether that is a socket.
  std::uint32_t ObjectOf(const BlockedCall& call, bool* is_socket) noexcept;
  /// Who holds the lock that this call waits for, if it is one of pthread_mutex_lock(3): the collector finds out.
  std::uint32_t HolderOf(Recorder* recorder, const BlockedCall& call) noexcept;
  /// The functions that a thread is in, which was in this call after so many turns on CPUs; 0: it went on meanwhile.
  std::uint32_t StackOf(const ThreadState& thread, std::int64_t turns, std::string_view line,
                        const BlockedCall& call) noexcept;
  /// Appends a function to `functions_`; false where its file is not there any more.
  bool AppendFunction(const LoadedFile& file, std::uintptr_t address, bool is_in_last_file) noexcept;
  std::uint32_t NumberOf(std::string_view text) noexcept;

  double hertz_ = 0;
  int most_threads_ = 0;       ///< in one look: of more that are at work, each is looked at in turn
  double share_of_core_ = 0;   ///< that all looks may cost
  double seconds_a_look_ = 0;  ///< of CPU time: a mean of the last ones
  std::uint64_t random_ = 0;
  std::uint64_t first_ = 0;  ///< the thread to begin with, among those at work
  std::atomic<std::uint64_t> looks_{0};
  std::atomic<int> error_{0};
  std::int64_t filters_ = 0;         ///< of seccomp(2), under which the SDK's first calls were made
  bool may_describe_ = false;        ///< no filter has come since
  std::int64_t next_socket_ns_ = 0;  ///< when a socket may be looked for again
  std::int64_t sockets_ns_ = 0;      ///< what that cost in this look; it has a share of its own
  struct Socket {
    std::uint64_t inode = 0;
    std::uint32_t object = 0;
  };
  Socket sockets_[kSockets];  ///< that were looked for
  std::uint64_t socket_count_ = 0;
  char target_[PATH_MAX];             ///< of a descriptor, and other texts that are too large for a stack
  OwnPointer<ProcessMemory> memory_;  ///< nullptr: no stacks are read
  bool may_read_memory_ = false;      ///< in this look
  FixedText<PATH_MAX> program_;       ///< its file
  FixedText<PATH_MAX> functions_;     ///< of a stack
  Arena texts_;
  std::string_view text_of_[kMostTexts + 1];
  std::atomic<std::uint32_t> text_count_{1};
};

/// Moves what was seen of the thread, which is the calling one, while it worked in `frame` to the frame's data. Paths
/// are below `prefix`, which is escaped.
void TakeWaits(ThreadState* thread, OpenWork* frame, std::string_view prefix) noexcept;

}  // namespace crema::internal
