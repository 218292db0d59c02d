// Which attempt at a chunk is its result, and what became of chunks that were attempted more than once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/side_by_side.h"
#include "collector/metrics/statistics/known_sum.h"

namespace crema {

/// Counts of docs/metrics.md. Attempts that are still open, or whose record is lost, count as attempts, and as
/// neither failed nor lost.
struct AttemptCounts {
  int64_t num_chunks = 0;
  int64_t num_attempts = 0;
  int64_t num_failed_attempts = 0;
  int64_t num_lost_attempts = 0;
  int64_t num_open_attempts = 0;
  int64_t num_unrecorded_attempts = 0;
  int64_t num_retried_chunks = 0;     ///< attempted again after a failed or lost attempt
  int64_t num_recomputed_chunks = 0;  ///< with several `ok` attempts
  int64_t num_unfinished_chunks = 0;  ///< attempted, no result, and none that may be one whose record is lost
  /// The attempts without a line. Retried, recomputed and unfinished chunks are of the others: which attempts
  /// belong to one chunk is known of them only.
  int64_t num_summed_attempts = 0;
};

/// Sets `is_result` (docs/metrics.md, "Chunks and attempts"): of each chunk's `ok` attempts the one that stopped last;
/// of several that stopped at the same moment, the last in the order given. Returns what became of the chunks; adds to
/// `*repeated`, in order, the index of each attempt at a chunk that was attempted more than once. All is the same for
/// any limits.
AttemptCounts MarkResults(AttemptRows& attempts, const WorkLimits& limits = {},
                          std::vector<size_t>* repeated = nullptr);

/// Sums over all attempts of the run (docs/metrics.md, "The run").
struct AttemptTotals {
  AttemptCounts counts;
  int64_t ended = 0;
  KnownSum busy_ns;        ///< of ended attempts, as all but `events`
  KnownSum lane_ns;        ///< of owners and helpers, but for owners that waited for their helpers
  KnownSum cpu_ns;         ///< owners and helpers
  KnownSum helper_cpu_ns;  ///< of attempts whose `cpu_ns` is known, as the next two
  KnownSum unannounced_cpu_ns;
  KnownSum children_cpu_ns;
  KnownSum cpu_wait_ns;
  KnownSum joined_ns;
  KnownSum blocked_ns;
  KnownSum lane_cpu_wait_ns;  ///< of owners and helpers, as the next
  KnownSum lane_blocked_ns;
  KnownSum system_cpu_ns;  ///< of owners, as the next two
  KnownSum minor_faults;
  KnownSum major_faults;
  KnownSum rss_delta_bytes;
  KnownSum events;                        ///< of results
  std::optional<int64_t> first_start_ns;  ///< of any attempt, Unix time
  std::optional<int64_t> last_stop_ns;    ///< of an ended attempt
};

/// `counts`: of these attempts.
AttemptTotals SumAttempts(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                          const std::vector<HelperTimes>& helpers, const AttemptCounts& counts);

}  // namespace crema
