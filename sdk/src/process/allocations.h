// What the program allocates, by section, if the library that counts it was loaded before the program (docs/inside.md,
// "Allocations"). The library asks for the thread's section in each allocation. So sections cost no more with it, and
// nothing without it.
#pragma once

#include <cstdint>
#include <optional>

namespace crema::internal {

struct HelperState;
struct Recorder;

/// What the calling thread has allocated so far; null where nobody counts.
struct ThreadAllocations {
  std::optional<std::int64_t> calls;
  std::optional<std::int64_t> bytes;
};
ThreadAllocations AllocationsOfThread(const Recorder& recorder) noexcept;

/// Looks for the library, and writes the first `allocations` line: from then on the record says that there are figures,
/// or why there are none.
void StartAllocations(Recorder* recorder) noexcept;
/// A chunk ended, the process's `chunks`-th. At powers of two live bytes are marked: so there is always a mark that is
/// a quarter to half of the chunks old. Whoever keeps memory from chunk to chunk has more now than then.
void NoteChunkOfAllocations(Recorder* recorder, std::uint64_t chunks, std::int64_t now_ns) noexcept;
/// Writes the line if the one before is 10 s old.
void WriteAllocationsWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept;
/// Writes the line where the library counts; `is_last`: recording ends.
void WriteAllocations(Recorder* recorder, bool is_last) noexcept;
/// What counting has cost so far: all blocks, at the cost of one.
std::int64_t AllocationCostNanoseconds(const Recorder& recorder) noexcept;

/// What the helper allocates belongs to the section of its chunk, and to its own sections inside that.
void SetAllocationSite(const Recorder& recorder, HelperState* helper) noexcept;

}  // namespace crema::internal
