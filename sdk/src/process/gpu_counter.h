// GpuCounter: what the library libcrema_gpu.so, which CUDA loads, hands to the SDK (docs/gpu.md). The two are built
// apart, and may be of different versions: only `version` stays where it is.
#pragma once

#include "process/allocation_counter.h"

namespace crema::internal {

/// Where the calling thread launches work: sites are numbers of `find_site`.
struct GpuPlace {
  std::uint64_t chunk = 0;    ///< its number + 1; 0: outside chunks
  std::uint32_t dataset = 0;  ///< site of the JSON field that names it; 0: none
  std::uint32_t section = kOutsideChunks;

  bool operator==(const GpuPlace& other) const {
    return chunk == other.chunk && dataset == other.dataset && section == other.section;
  }
};

/// What was launched at one place, and how long the thread waited for it.
struct GpuCounts {
  std::uint64_t launches = 0;  ///< kernels that ran, those of graphs too
  std::int64_t kernel_ns = 0;  ///< their times on the device, added up
  std::uint64_t copies = 0;    ///< copies and fills
  std::int64_t copy_ns = 0;
  std::uint64_t to_device_bytes = 0;
  std::uint64_t from_device_bytes = 0;
  std::uint64_t on_device_bytes = 0;  ///< between devices, inside one, and fills
  std::int64_t wait_ns = 0;           ///< of the thread inside CUDA's synchronisations and copies
  std::int64_t wait_cpu_ns = 0;       ///< of this, CPU time: the thread spun
  bool wait_cpu_is_known = true;
};

struct GpuRow {
  GpuPlace place;
  GpuCounts counts;
};

/// What a kernel took in one section since the row was last taken.
struct GpuKernelRow {
  std::uint32_t dataset = 0;
  std::uint32_t section = 0;
  const char* name = nullptr;  ///< as the compiler mangled it
  std::uint32_t name_length = 0;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
};

struct GpuState {
  bool has_begun = false;           ///< the process uses CUDA
  const char* why_not = nullptr;    ///< a sentence, where nothing or not everything is counted
  std::int64_t until_ns = 0;        ///< CLOCK_MONOTONIC; from then on nothing is counted; 0: all is
  std::uint32_t cupti_version = 0;  ///< 0: nothing was counted
  std::int64_t busy_ns = 0;         ///< time in which at least one GPU ran a kernel or copy of the process
  std::uint64_t lost = 0;           ///< kernels and copies whose place, or whose times, are not known
};

struct GpuCounter {
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t version;
  /// From now on the library asks this function when a thread calls CUDA. False if it asks another one already.
  bool (*attach)(GpuPlace (*place_of_thread)()) noexcept;
  /// As of `AllocationCounter`.
  std::uint32_t (*find_site)(std::uint32_t parent, const char* name, std::uint32_t name_length) noexcept;
  const AllocationSite* (*site)(std::uint32_t index) noexcept;
  /// Fetches what the device has completed. `is_last`: everything, and nothing is counted any more.
  void (*flush)(bool is_last) noexcept;
  GpuState (*state)() noexcept;
  /// Hands out each row once. A visitor that returns false has no room: its row comes again.
  void (*take)(bool (*row)(void* data, const GpuRow& row), bool (*kernel)(void* data, const GpuKernelRow& row),
               void* data) noexcept;
};

/// The name of the function that the library exports, `const GpuCounter* ()`.
inline constexpr char kGpuCounterFunction[] = "crema_gpu_counter";

}  // namespace crema::internal
