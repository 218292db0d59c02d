// Attempts summed by dataset, file, worker, host or thread (docs/metrics.md, "Tables").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "collector/measurement/breakdowns.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/statistics/optional_sum.h"

namespace crema {

/// The eight statistics of one quantity of chunks (docs/metrics.md, "Chunks: distributions").
/// All exact, the quantiles too: the value of rank ceil(p n).
struct Distribution {
  int64_t count = 0;
  std::optional<double> mean;
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> std;  ///< sample, n - 1; nullopt for fewer than two
  std::optional<double> p50;
  std::optional<double> p90;
  std::optional<double> p95;
  std::optional<double> p99;
};

/// Describes integers in units of 1 / `per_unit` (1e9: nanoseconds given, seconds returned).
Distribution DescribeIntegers(absl::Span<const int64_t> values, double per_unit);

/// Describes real numbers. The sums depend on their order only in the last bits.
Distribution DescribeReals(absl::Span<const double> values);

/// One quantity: `key` is what its eight keys begin with.
struct ChunkDistribution {
  std::string_view key;
  Distribution distribution;
  int64_t unknown = 0;  ///< `ok` attempts without a value
};

/// Three quantities take one pass over the attempts, which are large: a pass for each would take longer, and all at
/// once would take more memory than the attempts leave.
constexpr size_t kDistributionPasses = 3;

/// Those of one pass (from 0); all passes together are in docs/metrics.md's order. The attempts' order matters in the
/// last bits of ratios only.
std::vector<ChunkDistribution> DescribeChunks(size_t pass, const AttemptRows& attempts,
                                              const std::vector<HelperTimes>& helpers);

/// What attempts add up to, whatever they are grouped by.
struct AttemptSums {
  int64_t chunks = 0;
  int64_t attempts = 0;
  int64_t failed = 0;
  int64_t lost = 0;
  OptionalSum events;
  OptionalSum duration_ns;
  OptionalSum cpu_ns;
  OptionalSum cpu_wait_ns;
  OptionalSum blocked_ns;
  OptionalSum system_cpu_ns;
  OptionalSum minor_faults;
  OptionalSum major_faults;
  OptionalSum rss_delta;
  int64_t durations = 0;        ///< of those in `duration_ns` that are known one by one
  int64_t max_duration_ns = 0;  ///< of the others

  void Add(const AttemptSums& other);
  /// `is_result` is set; `helpers` is the table that the attempt points into.
  void Add(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers);
  void Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers);
  /// Those of an ended attempt, or of so many `summands` together.
  template <class... Summands>
  void AddTimes(const AttemptRow& row, std::optional<int64_t> cpu, std::optional<int64_t> blocked,
                Summands... summands) {
    duration_ns.Add(row.duration_ns, summands...);
    cpu_ns.Add(cpu, summands...);
    cpu_wait_ns.Add(Known(row.cpu_wait_ns), summands...);
    blocked_ns.Add(blocked, summands...);
    system_cpu_ns.Add(Known(row.system_cpu_ns), summands...);
    minor_faults.Add(Known(row.minor_faults), summands...);
    major_faults.Add(Known(row.major_faults), summands...);
  }
};

/// The row's members that are sums, means or rates.
void SetSums(const AttemptSums& sums, const ByteSums& bytes, BreakdownRow* row);

/// What one table breaks attempts down by.
struct Grouping {
  uint32_t AttemptRow::*index = nullptr;                  ///< `input`, `process` or `thread`
  const std::vector<uint32_t>* group_of_index = nullptr;  ///< nullptr: each is a group of its own
  const std::vector<std::string>* names = nullptr;        ///< by group
  const std::vector<ByteSums>* bytes = nullptr;           ///< by group; may be shorter: nothing was read then

  uint32_t GroupOf(uint32_t unit) const { return group_of_index == nullptr ? unit : (*group_of_index)[unit]; }
  size_t units() const { return group_of_index == nullptr ? names->size() : group_of_index->size(); }
};

/// A table for each grouping: one row for each group that has an attempt, largest `duration_sum` first, then by name.
std::vector<std::vector<BreakdownRow>> BreakDown(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                                                 const std::vector<HelperTimes>& helpers,
                                                 const std::vector<Grouping>& groupings);

/// The tables' order: largest `duration_sum` first, then by name.
void SortByCost(std::vector<BreakdownRow>* rows);

}  // namespace crema
