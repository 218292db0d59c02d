// Where the time of slow spells went.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_REASONS_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_REASONS_H_

#include <vector>

#include "collector/metrics/attempts/slow_spells.h"

namespace crema {

/// Spells that get a reason: the others cost less, and are not shown.
inline constexpr size_t kMostExplainedSpells = 100;

/// Sets the reason of the first spells: computing, waiting for a CPU, blocked or waiting for helpers, by what their
/// chunks took of it beyond what chunks of their datasets take elsewhere. Unknown where their CPU time is.
void ExplainSpells(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers, const SpellGroups& groups,
                   const std::vector<DatasetFit>& fits, std::vector<SlowSpell>* spells);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_REASONS_H_
