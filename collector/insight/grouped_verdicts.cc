#include "collector/insight/grouped_verdicts.h"

#include <algorithm>
#include <string_view>

#include "collector/document/document_fields.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// `symptom` comes of `cause` wherever both are found, unless one further up explains it.
struct Explanation {
  std::string_view symptom;
  std::string_view cause;
};

constexpr Explanation kExplanations[] = {
    {"failing-chunks", "worker-loss"},
    {"retry-waste", "worker-loss"},
    {"retry-waste", "failing-chunks"},
    {"stragglers", "slow-worker"},
    {"stragglers", "slow-file"},
    {"stragglers", "slow-spell"},
    {"skewed-dataset", "slow-worker"},
    {"skewed-dataset", "slow-file"},
    {"skewed-dataset", "oversized-chunks"},
    {"long-tail", "oversized-chunks"},
    {"long-tail", "chunks-too-large"},
    {"long-tail", "too-few-chunks"},
    {"idle-workers", "too-few-chunks"},
    {"chunks-too-large", "oversized-chunks"},
    {"spilling", "memory-pressure"},
};

/// Attempts that failed by themselves are not the work of a worker that vanished.
bool Applies(const Explanation& explanation, const Json& document) {
  if (explanation.cause != "worker-loss") return true;
  return Metric(document, "num_failed_attempts").value_or(0) == 0;
}

/// What must be known before the others are believed comes first among those of its severity.
int Rank(const Verdict& verdict) {
  if (verdict.id == "incomplete-measurement") return 0;
  if (verdict.id == "worker-loss") return 1;
  return verdict.id == "failing-chunks" ? 2 : 3;
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
    if (symptom == nullptr || cause == nullptr || !symptom->cause.empty() || !Applies(explanation, document)) continue;
    symptom->cause = cause->cause.empty() ? cause->id : cause->cause;  // one level
  }
  // What explains another may have been explained itself after that.
  for (Verdict& verdict : *verdicts) {
    const Verdict* cause = verdict.cause.empty() ? nullptr : Find(*verdicts, verdict.cause);
    if (cause != nullptr && !cause->cause.empty()) verdict.cause = cause->cause;
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
