#include "collector/insight/grouped_verdicts.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "collector/document/document_fields.h"
#include "collector/insight/thresholds.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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
bool IsMostOfStragglers(const Json& document, Explains explains) {
  double explained = 0;
  double all = 0;
  for (const Json& straggler : ListField(document, "stragglers")) {
    const double excess =
        NumberField(straggler, "duration").value_or(0) - NumberField(straggler, "predicted").value_or(0);
    all += excess;
    if (explains(straggler)) explained += excess;
  }
  return all > 0 && kMostOfIt.Holds(explained / all);
}

/// Whether a straggler is of a worker (file) that took `slow` times what chunks of their size take, or more.
auto IsOfSlow(const Json& document, std::string_view by, const Bound& slow) {
  std::set<std::string> names;
  for (const Json& row : ListField(document, "expected_time")) {
    const double predicted = NumberField(row, "predicted").value_or(0);
    const bool is_slow = predicted > 0 && slow.Holds(NumberField(row, "duration").value_or(0) / predicted);
    if (TextField(row, "by") == by && is_slow) names.insert(TextField(row, "name"));
  }
  return
      [names, field = std::string(by)](const Json& straggler) { return names.count(TextField(straggler, field)) > 0; };
}

bool IsInSpell(const Json& document, const Json& straggler) {
  const Json& spells = ListField(document, "slow_spells");
  return std::any_of(spells.begin(), spells.end(), [&](const Json& spell) {
    const double at = NumberField(straggler, "start").value_or(-1);
    const std::string by = TextField(spell, "by");
    const bool is_in_time =
        at >= NumberField(spell, "start").value_or(0) && at <= NumberField(spell, "stop").value_or(0);
    // A straggler does not name its host: its time must do.
    const bool is_named = by == "worker" || by == "file" || by == "dataset";
    return is_in_time && (!is_named || TextField(straggler, by) == TextField(spell, "name"));
  });
}

/// Whether most of what the budget says was blocked is what the slope of contention gives.
bool IsMostOfWaiting(const Json& document) {
  double blocked = 0, excess = 0;
  for (const Json& row : ListField(document, "budget")) {
    if (TextField(row, "part") == "blocked") blocked += NumberField(row, "core_seconds").value_or(0);
  }
  for (const Json& row : ListField(document, "contention")) excess += NumberField(row, "excess").value_or(0);
  return blocked > 0 && kMostOfIt.Holds(excess / blocked);
}

/// Whether the records bear it out: attempts that failed by themselves are not the work of a worker that vanished, and
/// stragglers are elsewhere as often as not.
bool Applies(const Explanation& explanation, const Verdict& symptom, const Json& document) {
  if (explanation.symptom == "incomplete-measurement") {  // and nothing else lacks
    return symptom.evidence.size() == 1 && symptom.evidence.front().first == "quality.processes_lost";
  }
  if (explanation.cause == "worker-loss") return Metric(document, "num_failed_attempts").value_or(0) == 0;
  if (explanation.cause == "shared-bottleneck") return IsMostOfWaiting(document);
  if (explanation.symptom != "stragglers") return true;
  if (explanation.cause == "slow-worker") {
    return IsMostOfStragglers(document, IsOfSlow(document, "worker", RuleOf("slow-worker").threshold));
  }
  if (explanation.cause == "slow-file") {
    return IsMostOfStragglers(document, IsOfSlow(document, "file", RuleOf("slow-file").threshold));
  }
  return IsMostOfStragglers(document, [&](const Json& straggler) { return IsInSpell(document, straggler); });
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

std::vector<VerdictGroup> GroupVerdicts(const Json& document) {
  constexpr size_t kMostSymptoms = 8;  // no cause has more: what is more was made by hand
  std::vector<VerdictGroup> groups;
  for (const Json& verdict : ListField(document, "verdicts")) {
    const std::string cause = TextField(verdict, "cause");
    const auto of_cause = std::find_if(groups.begin(), groups.end(), [&](const VerdictGroup& group) {
      return !cause.empty() && TextField(*group.cause, "id") == cause;
    });
    if (of_cause == groups.end()) {
      groups.push_back({&verdict, {}});
    } else if (of_cause->symptoms.size() < kMostSymptoms) {
      of_cause->symptoms.push_back(&verdict);
    }
  }
  return groups;
}

void FindCauses(const Json& document, std::vector<Verdict>* verdicts) {
  for (const Explanation& explanation : kExplanations) {
    Verdict* symptom = Find(*verdicts, explanation.symptom);
    const Verdict* cause = Find(*verdicts, explanation.cause);
    if (symptom == nullptr || cause == nullptr || !symptom->cause.empty() || !Applies(explanation, *symptom, document))
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
