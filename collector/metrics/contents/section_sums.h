// One path of sections summed over many records, as rows of the document.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_SUMS_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "absl/numeric/int128.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/facts.h"

namespace crema {

/// Exact sums; nanoseconds.
struct SectionSums {
  int64_t count = 0;
  absl::int128 total_ns = 0;
  absl::int128 self_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();  ///< of one call; the largest integer: not known
  int64_t max_ns = -1;                                   ///< of one call; -1: not known
  absl::int128 cpu_ns = 0;
  bool has_cpu = false;
  int64_t failed = 0;

  void Add(const SectionFact& section) {
    count = AddCounts(count, section.count);
    total_ns += section.total_ns;
    self_ns += section.self_ns;
    if (section.min_ns.has_value()) min_ns = std::min(min_ns, *section.min_ns);
    if (section.max_ns.has_value()) max_ns = std::max(max_ns, *section.max_ns);
    if (section.cpu_ns.has_value()) {
      cpu_ns += *section.cpu_ns;
      has_cpu = true;
    }
    failed = AddCounts(failed, section.failed);
  }
  void Add(const SectionSums& other) {
    count = AddCounts(count, other.count);
    total_ns += other.total_ns;
    self_ns += other.self_ns;
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    cpu_ns += other.cpu_ns;
    has_cpu |= other.has_cpu;
    failed = AddCounts(failed, other.failed);
  }
};

/// What a section allocated itself, without the sections inside it.
struct AllocationSums {
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  std::optional<int64_t> live_bytes;       ///< when recording ended; sum over processes
  std::optional<int64_t> peak_live_bytes;  ///< the largest of one process
  /// `live_bytes` less what was live when a quarter to half of the chunks had ended; the largest of one process.
  std::optional<int64_t> live_growth_bytes;
};

/// What GPUs did for a section, without the sections inside it, or for whatever else launched it.
struct GpuSums {
  int64_t launches = 0;
  int64_t kernel_ns = 0;  ///< of kernels on the devices, added up
  int64_t copies = 0;
  int64_t copy_ns = 0;
  int64_t to_device_bytes = 0;
  int64_t from_device_bytes = 0;
  int64_t on_device_bytes = 0;
  int64_t wait_ns = 0;                     ///< of threads inside CUDA's synchronisations and copies
  std::optional<int64_t> wait_cpu_ns = 0;  ///< of this, CPU time: they spun; nullopt: not known

  void Add(const GpuSums& other) {
    for (const auto member :
         {&GpuSums::launches, &GpuSums::kernel_ns, &GpuSums::copies, &GpuSums::copy_ns, &GpuSums::to_device_bytes,
          &GpuSums::from_device_bytes, &GpuSums::on_device_bytes, &GpuSums::wait_ns}) {
      this->*member = AddCounts(this->*member, other.*member);
    }
    wait_cpu_ns = wait_cpu_ns.has_value() && other.wait_cpu_ns.has_value()
                      ? std::optional<int64_t>(AddCounts(*wait_cpu_ns, *other.wait_cpu_ns))
                      : std::nullopt;
  }
};

/// A finished row of the table `sections`; seconds.
struct SectionRow {
  std::string path;
  bool helper = false;
  int64_t count = 0;
  double total = 0;
  double self = 0;
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> mean;  ///< per call
  std::optional<double> cpu;
  int64_t failed = 0;
  std::optional<int64_t> chunks;  ///< in which it ran; nullopt for sections outside chunks, as all below but `share`
  std::optional<double> p50;      ///< of the total in one chunk
  std::optional<double> p95;
  std::optional<double> p99;
  std::optional<double> mean_per_chunk;
  std::optional<double> mean_when_run;
  std::optional<double> share;              ///< self / busy_time
  std::optional<double> self_in_workers;    ///< of `self`, what workers took; nullopt for sections inside chunks
  std::optional<AllocationSums> allocated;  ///< nullopt: not counted
  std::optional<GpuSums> gpu;               ///< nullopt: not counted
};

inline double SecondsOf(absl::int128 nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

/// The row's fields that come from the sums alone.
inline SectionRow RowOf(std::string path, bool helper, const SectionSums& sums) {
  SectionRow row;
  row.path = std::move(path);
  row.helper = helper;
  row.count = sums.count;
  row.total = SecondsOf(sums.total_ns);
  row.self = SecondsOf(sums.self_ns);
  if (sums.min_ns != std::numeric_limits<int64_t>::max()) row.min = SecondsOf(sums.min_ns);
  if (sums.max_ns >= 0) row.max = SecondsOf(sums.max_ns);
  if (sums.count > 0) row.mean = row.total / static_cast<double>(sums.count);
  if (sums.has_cpu) row.cpu = SecondsOf(sums.cpu_ns);
  row.failed = sums.failed;
  return row;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_SECTION_SUMS_H_
