// OpenWork: a piece of work that a thread has open, its own chunk or a part of another thread's.
#pragma once

#include "chunk/chunk_data.h"
#include "crema/internal/section_node.h"
#include "kernel/clock.h"
#include "kernel/kernel_readings.h"
#include "log/json_line.h"
#include "process/allocations.h"
#include "process/gpu_counter.h"

namespace crema::internal {

struct ChunkLog;
struct ThreadState;

inline void RaiseTo(std::atomic<std::int64_t>* most, std::int64_t value,
                    std::memory_order order = std::memory_order_relaxed) noexcept {
  std::int64_t known = most->load(order);
  while (known < value && !most->compare_exchange_weak(known, value, order)) {
  }
}

/// What the guard of an activity began. Kept here, not with the guard: one that is gone must not be followed.
struct OpenActivity {
  std::uint64_t serial = 0;  ///< of all that the thread began
  int row = 0;               ///< in the data
  std::int64_t start_ns = 0;
  double inner_seconds = 0;  ///< what was recorded inside
};

/// Fields of a chunk's identity as they are in its lines, `,"dataset":"ttbar"`.
struct IdentityParts {
  std::string_view dataset;
  std::string_view file;
  std::string_view pass;
};

/// Time of a frame on its thread.
struct FrameTime {
  std::uint64_t ticks = 0;
  MaybeInteger cpu_ns = 0;
  MaybeInteger wait_ns = 0;
  ThreadUsage usage = ThreadUsage::Zero();
};

/// What is read of the thread when a frame begins, ends, or goes from one thread to another.
struct FrameReadings {
  MaybeInteger cpu_ns;
  MaybeInteger wait_ns;
  ThreadUsage usage;
};

struct OpenWork {
  explicit OpenWork(bool helper) : is_helper(helper) {}

  const bool is_helper;
  ThreadState* owner = nullptr;
  OpenWork* outer = nullptr;             ///< what the thread did before, and goes back to
  SectionNode* outer_section = nullptr;  ///< the section that was open then
  ChunkData data;
  std::uint64_t start_ticks = 0;           ///< of a chunk that was suspended: later by that time, as the other two
  FrameReadings at_start;                  ///< as `start_ticks`
  FrameTime inner;                         ///< what frames opened inside this one took: it is theirs, not this one's
  FrameTime known_to_outer;                ///< the part of its own time that the frame around it knows
  RowTable<OpenActivity> activities;       ///< open ones, from the outermost inwards
  bool holds_lane = true;                  ///< false: inside other work of its thread, which has a lane already
  std::uint64_t use = 0;                   ///< distinguishes this use of the frame from all others of the process
  std::atomic<bool> guard_is_gone{false};  ///< it ended on another thread, or out of order
};

/// What was read when a chunk left its thread.
struct Suspension {
  SectionNode* open_section = nullptr;
  std::uint64_t ticks = 0;
  FrameReadings readings;
  ThreadAllocations allocations;
};

/// The chunk was never the only one that was open.
inline constexpr std::int64_t kNeverAlone = -1;

/// An open chunk. `generation` is odd while it is open; a handle with another one is stale.
struct ChunkState : OpenWork {
  ChunkState() : OpenWork(false) {}

  std::atomic<std::uint64_t> generation{0};
  std::atomic<std::int64_t> lanes_peak{0};
  std::atomic<std::int64_t> unannounced_cpu_ns{kNeverAlone};  ///< see `UnannouncedCpu`
  std::atomic<std::int64_t> children_cpu_ns{kNeverAlone};
  std::uint64_t number = 0;
  ChunkLog* log = nullptr;                    ///< that its lines are in
  std::atomic<std::int64_t> recorder_pid{0};  ///< stale handles ask for it too
  Instant start;
  std::uint32_t uncaught_exceptions = 0;
  JsonLine identity;    ///< the fields that the `begin` and the `chunk` line share
  IdentityParts parts;  ///< of `identity`
  bool has_begin_line = false;
  bool is_detached = false;   ///< an event of `TrackEvent`, which no thread holds
  std::string_view file;      ///< in the texts of `data`
  bool file_is_lost = false;  ///< there was no memory for its name
  std::int64_t events = -1;
  bool failed = false;
  std::string_view reason;  ///< in the texts of `data`, or a literal
  MaybeInteger rss_start_bytes;
  MaybeInteger rss_peak_start_bytes;  ///< of the process until then
  ThreadAllocations allocations_start;
  std::atomic<std::uint32_t> gpu_dataset{0};  ///< what counts for GPUs knows its dataset by this number; 0: not asked
  std::optional<Suspension> suspension;       ///< set while it is suspended
  std::uint64_t suspended_ticks = 0;          ///< before
  ChunkState* next_spare = nullptr;           ///< while no chunk is in it

  std::mutex helpers_mutex;  ///< guards all below, and changes of `generation`
  ChunkData helpers;
  MaybeInteger helper_cpu_ns;
  MaybeInteger helper_wait_ns;
  std::int64_t helper_scope_ns = 0;
  std::int64_t helper_union_ns = 0;
  std::int64_t union_start_ns = 0;
  int active_helpers = 0;
};

/// A helper scope: this thread works for `chunk`.
struct HelperState : OpenWork {
  HelperState() : OpenWork(true) {}

  ChunkState* chunk = nullptr;
  std::uint64_t generation = 0;
  const SectionNode* section = nullptr;  ///< where the handle was taken; valid while the chunk is open
  std::string_view prefix;               ///< its path, in the texts of `data`
  std::int64_t start_ns = 0;             ///< CLOCK_MONOTONIC
  GpuPlace gpu_place;                    ///< of the chunk
};

/// How many frames `frame` and those around it are.
inline int Depth(const OpenWork* frame) noexcept {
  int depth = 0;
  for (; frame != nullptr; frame = frame->outer) ++depth;
  return depth;
}

}  // namespace crema::internal
