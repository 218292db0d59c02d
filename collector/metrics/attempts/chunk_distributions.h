// Distributions, docs/metrics.md, "Chunks: distributions": nine quantities of `ok` attempts, eight statistics each.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_CHUNK_DISTRIBUTIONS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_CHUNK_DISTRIBUTIONS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/statistics/distribution.h"

namespace crema {

/// One quantity: `key` is what its eight keys begin with.
struct ChunkDistribution {
  std::string_view key;
  Distribution distribution;
  int64_t unknown = 0;  ///< `ok` attempts without a value
};

/// In docs/metrics.md's order. The attempts' order matters in the last bits of ratios only.
std::vector<ChunkDistribution> DescribeChunks(const std::vector<AttemptRow>& attempts,
                                              const std::vector<HelperTimes>& helpers);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_CHUNK_DISTRIBUTIONS_H_
