// The `begin` and the `chunk` line.
#pragma once

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "crema/chunk.h"
#include "kernel/clock.h"
#include "process/process_recorder.h"

namespace crema::internal {

struct EventSlot;

/// What was read when a chunk ended.
struct ChunkEnd {
  Instant stop;
  MaybeInteger cpu_ns;
  MaybeInteger wait_ns;
  MaybeInteger rss_stop_bytes;
  ThreadUsage usage;
  MaybeInteger allocations;  ///< of the chunk's own thread; nullopt: nobody counts
  MaybeInteger allocated_bytes;
  std::int64_t open_chunks = 0;
  TickRate rate;                      ///< of the chunk
  std::int64_t duration_ns = 0;       ///< stop - start, at that rate
  std::int64_t suspended_ns = 0;      ///< part of it, as the next
  std::int64_t inner_ns = 0;          ///< of other chunks and helper scopes, which the thread opened inside
  const EventSlot* traced = nullptr;  ///< of an event
  std::int64_t own_ns() const noexcept { return duration_ns - suspended_ns - inner_ns; }

  /// For how long helpers were active while the chunk's own thread neither ran nor waited for a CPU.
  std::optional<std::int64_t> JoinedNanoseconds(const ChunkState& state) const noexcept;
};

/// Sets `state->identity`: the fields by which a chunk is recognised, as both lines carry them. A chunk that is
/// only summed gets the fields that sums need.
void EncodeIdentity(const Recorder& recorder, const ThreadState& thread, const Chunk& chunk, ChunkState* state,
                    bool is_summed = false) noexcept;
/// Makes `state` that of a new chunk, with its number, its identity and its attributes. Defined with the chunks, as the
/// next one.
void PrepareChunk(Recorder* recorder, ThreadState* thread, const Chunk& chunk, ChunkState* state,
                  bool is_summed = false) noexcept;
void FailChunk(ChunkState* state, std::string_view reason) noexcept;
/// What is not bytes, for chunks, samples and the end: `,"system_cpu_ns":4000000,"minor_faults":210,"major_faults":0`.
void AppendUsage(const ThreadUsage& usage, JsonLine* line) noexcept;
void EncodeBegin(const Recorder& recorder, ChunkState* state, JsonLine* line) noexcept;
/// Closes over all that the chunk and its helpers noted. Returns how many section occurrences found no place.
std::uint64_t EncodeChunk(const Recorder& recorder, const ChunkEnd& end, ChunkState* state, JsonLine* line) noexcept;

}  // namespace crema::internal
