#include "collector/metrics/attempts/spell_reasons.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "collector/metrics/attempts/judged_attempts.h"
#include "collector/metrics/attempts/owner_time.h"
#include "collector/metrics/attempts/spell_membership.h"

namespace crema {
namespace {

/// Nanoseconds, in the order of `StragglerReason`.
using Parts = std::array<double, 4>;

struct PartSums {
  Parts parts = {};
  double whole = 0;

  void Add(const OwnerTime& owner) {
    const std::array<int64_t, 4> of_owner = {owner.cpu_ns, owner.cpu_wait_ns, owner.blocked_ns, owner.joined_ns};
    for (size_t part = 0; part < parts.size(); ++part) {
      parts[part] += static_cast<double>(of_owner[part]);
      whole += static_cast<double>(of_owner[part]);
    }
  }
};

/// What one spell's chunks took, and what chunks of each dataset took elsewhere.
struct Evidence {
  PartSums inside;
  bool is_wait_known = true;
  std::vector<double> predicted_ns;  ///< of those inside, by dataset
  std::vector<PartSums> elsewhere;   ///< by dataset

  explicit Evidence(size_t datasets) : predicted_ns(datasets), elsewhere(datasets) {}
};

StragglerReason ReasonOf(const Evidence& evidence) {
  if (evidence.inside.whole <= 0) return StragglerReason::kUnknown;
  Parts excess = evidence.inside.parts;
  for (size_t dataset = 0; dataset < evidence.elsewhere.size(); ++dataset) {
    const PartSums& usual = evidence.elsewhere[dataset];
    if (evidence.predicted_ns[dataset] <= 0) continue;
    if (usual.whole <= 0) return StragglerReason::kUnknown;
    for (size_t part = 0; part < excess.size(); ++part) {
      excess[part] -= usual.parts[part] / usual.whole * evidence.predicted_ns[dataset];
    }
  }
  const auto reason = static_cast<StragglerReason>(std::max_element(excess.begin(), excess.end()) - excess.begin());
  // Without the run delay, "blocked" may as well be waiting for a CPU.
  return reason == StragglerReason::kBlocked && !evidence.is_wait_known ? StragglerReason::kUnknown : reason;
}

}  // namespace

void ExplainSpells(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers, const SpellGroups& groups,
                   const std::vector<DatasetFit>& fits, std::vector<SlowSpell>* spells) {
  if (spells->empty()) return;
  size_t datasets = 0;
  for (const uint32_t dataset : groups.dataset_of_input) datasets = std::max(datasets, dataset + size_t{1});
  std::vector<Evidence> evidence(std::min(spells->size(), kMostExplainedSpells), Evidence(datasets));
  ForEachJudged(attempts, groups.dataset_of_input, fits, [&](size_t, const AttemptRow& attempt, int64_t predicted_ns) {
    const std::optional<OwnerTime> owner = SplitOwnerTime(attempt, helpers);
    if (!owner.has_value()) return;
    const uint32_t dataset = groups.dataset_of_input[attempt.input];
    for (size_t s = 0; s < evidence.size(); ++s) {
      const SlowSpell& spell = (*spells)[s];
      if (IsInSpell(attempt, spell, groups)) {
        evidence[s].inside.Add(*owner);
        evidence[s].is_wait_known &= owner->wait_known;
        evidence[s].predicted_ns[dataset] += static_cast<double>(predicted_ns);
      } else {
        evidence[s].elsewhere[dataset].Add(*owner);
      }
    }
  });
  for (size_t s = 0; s < evidence.size(); ++s) (*spells)[s].reason = ReasonOf(evidence[s]);
}

}  // namespace crema
