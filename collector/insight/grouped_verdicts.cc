#include "collector/insight/grouped_verdicts.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "collector/insight/thresholds.h"

namespace crema {
namespace {

/// `symptom` comes of `cause` where both are found and it applies, unless one further up explains it. What causes
/// another has no cause itself that does not stand further up.
struct Explanation {
  std::string_view symptom;
  std::string_view cause;
};

constexpr Explanation kExplanations[] = {
    {"incomplete-measurement", "worker-loss"},
    {"failing-chunks", "worker-loss"},
    {"retry-waste", "worker-loss"},
    {"retry-waste", "failing-chunks"},
    {"waiting-bound", "shared-bottleneck"},
    {"waiting-bound", "gil-contention"},
    {"stragglers", "slow-worker"},
    {"stragglers", "slow-file"},
    {"stragglers", "slow-spell"},
    {"skewed-dataset", "slow-worker"},
    {"skewed-dataset", "slow-file"},
    {"skewed-dataset", "oversized-chunks"},
    {"long-tail", "oversized-chunks"},
    {"long-tail", "chunks-too-large"},
    {"too-few-chunks", "too-few-clusters"},
    {"long-tail", "too-few-clusters"},
    {"idle-workers", "too-few-clusters"},
    {"long-tail", "too-few-chunks"},
    {"idle-workers", "too-few-chunks"},
    {"chunks-too-large", "oversized-chunks"},
    {"spilling", "memory-pressure"},
    {"idle-workers", "slow-batch"},
};

/// Of the stragglers' excess, what `explains` holds of. One that has no name or time is of no one.
template <class Explains>
bool IsMostOfStragglers(const Measurement& measurement, Explains explains) {
  double explained = 0;
  double all = 0;
  for (const StragglerRow& straggler : measurement.stragglers) {
    const double excess = straggler.duration.value_or(0) - straggler.predicted.value_or(0);
    all += excess;
    if (explains(straggler)) explained += excess;
  }
  return all > 0 && kMostOfIt.Holds(explained / all);
}

/// The worker, file or dataset of a straggler; nullptr: it does not name its host.
const Text* NameOf(const StragglerRow& straggler, std::string_view by) {
  if (by == "worker") return &straggler.worker;
  if (by == "file") return &straggler.file;
  return by == "dataset" ? &straggler.dataset : nullptr;
}

/// Whether a straggler is of a worker (file) that took `slow` times what chunks of their size take, or more.
auto IsOfSlow(const Measurement& measurement, std::string_view by, const Bound& slow) {
  std::set<std::string> names;
  for (const ExpectedTimeRow& row : measurement.expected_time) {
    const double predicted = row.predicted.value_or(0);
    const bool is_slow = predicted > 0 && slow.Holds(row.duration.value_or(0) / predicted);
    if (row.by.str() == by && is_slow) names.insert(row.name.str());
  }
  return [names, by](const StragglerRow& straggler) { return names.count(NameOf(straggler, by)->str()) > 0; };
}

bool IsInSpell(const Measurement& measurement, const StragglerRow& straggler) {
  const std::vector<SlowSpellRow>& spells = measurement.slow_spells;
  return std::any_of(spells.begin(), spells.end(), [&](const SlowSpellRow& spell) {
    const double at = straggler.start.value_or(-1);
    const Text* name = NameOf(straggler, spell.by);  // without one its time must do
    return at >= spell.start.value_or(0) && at <= spell.stop.value_or(0) &&
           (name == nullptr || *name == spell.name.str());
  });
}

/// Whether most of what the budget says was blocked is what the slope of contention gives.
bool IsMostOfWaiting(const Measurement& measurement) {
  double blocked = 0, excess = 0;
  for (const BudgetRow& row : measurement.budget) {
    if (row.part.str() == "blocked") blocked += row.core_seconds.value_or(0);
  }
  for (const ContentionRow& row : measurement.contention) excess += row.excess.value_or(0);
  return blocked > 0 && kMostOfIt.Holds(excess / blocked);
}

/// Whether the records bear it out: attempts that failed by themselves are not the work of a worker that vanished, and
/// stragglers are elsewhere as often as not.
bool Applies(const Explanation& explanation, const Verdict& symptom, const Measurement& measurement) {
  if (explanation.symptom == "incomplete-measurement") {  // and nothing else lacks
    return symptom.evidence.size() == 1 && symptom.evidence.front().first == "quality.processes_lost";
  }
  if (explanation.cause == "worker-loss") return measurement.Metric("num_failed_attempts").value_or(0) == 0;
  if (explanation.cause == "shared-bottleneck") return IsMostOfWaiting(measurement);
  if (explanation.symptom != "stragglers") return true;
  if (explanation.cause == "slow-worker") {
    return IsMostOfStragglers(measurement, IsOfSlow(measurement, "worker", RuleOf("slow-worker").threshold));
  }
  if (explanation.cause == "slow-file") {
    return IsMostOfStragglers(measurement, IsOfSlow(measurement, "file", RuleOf("slow-file").threshold));
  }
  return IsMostOfStragglers(measurement,
                            [&](const StragglerRow& straggler) { return IsInSpell(measurement, straggler); });
}

/// What must be known before the others are believed comes first among those of its severity.
int Rank(const Verdict& verdict) {
  if (verdict.id == "incomplete-measurement") return 0;
  if (verdict.id == "worker-loss") return 1;
  return verdict.id == "failing-chunks" || verdict.id == "failing-tasks" ? 2 : 3;
}

Verdict* Find(std::vector<Verdict>& verdicts, std::string_view id) {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& v) { return v.id == id; });
  return found == verdicts.end() ? nullptr : &*found;
}

}  // namespace

std::vector<VerdictGroup> GroupVerdicts(const Measurement& measurement) {
  constexpr size_t kMostSymptoms = 8;  // no cause has more: what is more was made by hand
  std::vector<VerdictGroup> groups;
  for (const VerdictRow& verdict : measurement.verdicts) {
    const std::string cause = verdict.cause.str();
    const auto of_cause = std::find_if(groups.begin(), groups.end(), [&](const VerdictGroup& group) {
      return !cause.empty() && group.cause->id.str() == cause;
    });
    if (of_cause == groups.end()) {
      groups.push_back({&verdict, {}});
    } else if (of_cause->symptoms.size() < kMostSymptoms) {
      of_cause->symptoms.push_back(&verdict);
    }
  }
  return groups;
}

void FindCauses(const Measurement& measurement, std::vector<Verdict>* verdicts) {
  for (const Explanation& explanation : kExplanations) {
    Verdict* symptom = Find(*verdicts, explanation.symptom);
    const Verdict* cause = Find(*verdicts, explanation.cause);
    if (symptom == nullptr || cause == nullptr || !symptom->cause.empty() ||
        !Applies(explanation, *symptom, measurement))
      continue;
    symptom->cause = cause->id;
  }
}

void OrderByCause(std::vector<Verdict>* verdicts) {
  for (const Verdict& verdict : *verdicts) {
    Verdict* cause = verdict.cause.empty() ? nullptr : Find(*verdicts, verdict.cause);
    if (cause != nullptr) cause->severity = std::max(cause->severity, verdict.severity);
  }
  std::stable_sort(verdicts->begin(), verdicts->end(), [](const Verdict& left, const Verdict& right) {
    if (left.severity != right.severity) return left.severity > right.severity;
    if (Rank(left) != Rank(right)) return Rank(left) < Rank(right);
    return left.saving.value_or(0) > right.saving.value_or(0);
  });
  std::vector<Verdict> ordered;
  for (const Verdict& cause : *verdicts) {
    if (!cause.cause.empty()) continue;
    ordered.push_back(cause);
    for (const Verdict& symptom : *verdicts) {
      if (symptom.cause == cause.id) ordered.push_back(symptom);
    }
  }
  *verdicts = std::move(ordered);
}

}  // namespace crema
