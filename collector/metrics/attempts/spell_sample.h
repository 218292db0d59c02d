// A few chunks of a slow spell, and a few to hold them against.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_SAMPLE_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/metrics/attempts/slow_spells.h"

namespace crema {

/// Chunks of a sample on each side: enough for a share, and few enough to be found again in the logs.
inline constexpr size_t kMostSampledChunks = 1000;

struct SampledAttempt {
  size_t attempt = 0;  ///< index into the attempts
  uint32_t dataset = 0;
  int64_t predicted_ns = 0;  ///< by its dataset's fit
};

struct SpellSample {
  std::vector<SampledAttempt> inside;
  std::vector<SampledAttempt> elsewhere;  ///< of the same datasets
};

/// Evenly spread over the attempts that fits judge.
SpellSample SampleSpell(const AttemptRows& attempts, const SlowSpell& spell, const SpellGroups& groups,
                        const std::vector<DatasetFit>& fits);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_SAMPLE_H_
