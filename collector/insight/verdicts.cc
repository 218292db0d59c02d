#include "collector/insight/verdicts.h"

#include <algorithm>

#include "collector/insight/chunk_size_advice.h"
#include "collector/insight/headline.h"
#include "collector/insight/verdict_families.h"

namespace crema {

using Json = nlohmann::ordered_json;

namespace {

/// What must be known before the others are believed comes first among those of its severity.
int Rank(const Verdict& verdict) {
  if (verdict.id == "incomplete-measurement") return 0;
  return verdict.id == "failing-chunks" ? 1 : 2;
}

}  // namespace

std::vector<Verdict> Judge(const Json& document) {
  const RunEvidence evidence = ReadRunEvidence(document);
  std::vector<Verdict> verdicts;
  const JudgedRun run = {document, evidence, &verdicts};
  JudgeMeasurement(run);
  JudgeFailures(run);
  if (evidence.IsEnough()) {
    JudgeBudget(run);
    JudgeChunkSizes(run);
    JudgeOutliers(run);
    JudgeWorkers(run);
    JudgeData(run);
    JudgeHealth(run);
  }
  std::stable_sort(verdicts.begin(), verdicts.end(), [](const Verdict& left, const Verdict& right) {
    if (left.severity != right.severity) return left.severity > right.severity;
    if (Rank(left) != Rank(right)) return Rank(left) < Rank(right);
    return left.saving.value_or(0) > right.saving.value_or(0);
  });
  return verdicts;
}

Json VerdictRows(const std::vector<Verdict>& verdicts) {
  Json rows = Json::array();
  for (const Verdict& verdict : verdicts) {
    Json evidence = Json::array();
    for (const auto& [key, value] : verdict.evidence) evidence.push_back({{"key", key}, {"value", value}});
    Json row;
    row["id"] = verdict.id;
    row["severity"] = ToString(verdict.severity);
    row["sentence"] = verdict.sentence;
    row["evidence"] = std::move(evidence);
    row["suggestion"] = verdict.suggestion;
    row["saving"] = verdict.saving.has_value() ? Json(*verdict.saving) : Json();
    rows.push_back(std::move(row));
  }
  return rows;
}

void AddInsight(Json* document) {
  (*document)["chunk_size_advice"] = ChunkSizeAdviceRows(AdviseChunkSizes(*document));
  (*document)["verdicts"] = VerdictRows(Judge(*document));
  (*document)["headline"] = Headline(*document);  // it looks at the verdicts
}

}  // namespace crema
