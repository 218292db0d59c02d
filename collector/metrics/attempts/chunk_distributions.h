// Distributions, docs/metrics.md, "Chunks: distributions": nine quantities of `ok` attempts, eight statistics each.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_CHUNK_DISTRIBUTIONS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_CHUNK_DISTRIBUTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/statistics/distribution.h"

namespace crema {

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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_CHUNK_DISTRIBUTIONS_H_
