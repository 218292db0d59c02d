// AllocationCounter: what the preloaded library libcrema_allocations.so hands to the SDK (docs/inside.md,
// "Allocations"). The two are built apart, and may be of different versions: only `version` stays where it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace crema::internal {

/// Where blocks were allocated: a section, by its name inside another site. Any thread may add to it. A site has cache
/// lines of its own.
struct alignas(64) AllocationSite {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::int64_t> live_bytes{0};
  std::atomic<std::int64_t> peak_live_bytes{0};
  /// Live bytes at the last mark, and at the one before.
  std::atomic<std::int64_t> live_bytes_at_mark{0};
  std::atomic<std::int64_t> live_bytes_at_mark_before{0};
  const char* name = nullptr;  ///< as the user wrote it, without a NUL; a root has none
  std::uint32_t name_length = 0;
  std::uint32_t parent = 0;
};

/// Sites that are always there.
enum AllocationRoot : std::uint32_t {
  kWholeProcess = 0,   ///< live bytes of all sites, and their peak; calls and bytes are not counted here
  kOutsideChunks = 1,  ///< code outside every section, where no chunk is open
  kInChunks = 2,       ///< the same inside chunks
  kInHelpers = 3,      ///< the same in helper threads; below it stand the sections that their chunks had open
  kAllocationProbe = 4,
  kFirstNamedSite = 5,
};
/// Not a site: what allocates is not part of the program that is measured.
inline constexpr std::uint32_t kOwnAllocation = UINT32_MAX;

using OperatorNew = void*(std::size_t);

struct AllocationCounter {
  static constexpr std::uint32_t kVersion = 3;

  std::uint32_t version;
  /// From now on the library asks this function, in each allocation of any thread, where it belongs. The function must
  /// not allocate. False if the library asks another one already.
  bool (*attach)(std::uint32_t (*site_of_thread)()) noexcept;
  /// Null, or a sentence that says why nothing, or not everything, is counted. It may come later, with a library. With
  /// null for `of_caller` it does not look at the libraries.
  const char* (*why_not)(OperatorNew* of_caller) noexcept;
  /// The site of this name inside `parent`, made if need be. Where there is no room, `parent`.
  std::uint32_t (*find_site)(std::uint32_t parent, const char* name, std::uint32_t name_length) noexcept;
  std::uint32_t (*site_count)() noexcept;
  const AllocationSite* (*site)(std::uint32_t index) noexcept;
  /// Blocks whose begin or end could not be noted: from the first one on, live bytes are not known.
  std::uint64_t (*blocks_lost)() noexcept;
  /// Calls of the calling thread that were `kOwnAllocation`.
  std::uint64_t (*own_calls)() noexcept;
  /// What the calling thread has allocated so far, in all sites.
  void (*thread_counts)(std::uint64_t* calls, std::uint64_t* bytes) noexcept;
  /// Sets a mark: each site notes its live bytes.
  void (*mark)() noexcept;
  /// Measures what counting one block costs, its end included.
  std::int64_t (*measure_cost_ns)() noexcept;
};

/// The name of the function that the library exports, `const AllocationCounter* ()`.
inline constexpr char kAllocationCounterFunction[] = "crema_allocation_counter";

}  // namespace crema::internal
