// Which attempts are part of a slow spell.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_MEMBERSHIP_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_MEMBERSHIP_H_

#include <cstdint>

#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/slow_spells.h"

namespace crema {

/// The attempt's file, process, host or dataset; 0 of the run. `Attempt`: what has `input` and `process`.
template <class Attempt>
uint32_t GroupOf(SpellOf of, const Attempt& attempt, const SpellGroups& groups) {
  switch (of) {
    case SpellOf::kFile:
      return groups.file_of_input[attempt.input];
    case SpellOf::kWorker:
      return attempt.process;
    case SpellOf::kHost:
      return groups.host_of_process[attempt.process];
    case SpellOf::kDataset:
      return groups.dataset_of_input[attempt.input];
    case SpellOf::kRun:
      break;
  }
  return 0;
}

/// Of its group, and begun and ended in it.
inline bool IsInSpell(const AttemptRow& attempt, const SlowSpell& spell, const SpellGroups& groups) {
  return attempt.start_ns >= spell.start_ns && attempt.stop_ns() <= spell.stop_ns &&
         GroupOf(spell.of, attempt, groups) == spell.group;
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_SPELL_MEMBERSHIP_H_
