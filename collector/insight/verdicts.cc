#include "collector/insight/verdicts.h"

#include "collector/insight/chunk_size_advice.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/headline.h"
#include "collector/insight/resource_advice.h"
#include "collector/insight/run_head.h"
#include "collector/insight/run_trouble.h"
#include "collector/insight/verdict_families.h"

namespace crema {

using Json = nlohmann::ordered_json;

namespace {

/// What pill and headline begin with, for scripts.
Json TroubleRow(const Json& document) {
  const StateInWords state = StateOf(document);
  return {{"state", state.text},
          {"mark", state.mark.has_value() ? Json(ToString(*state.mark)) : Json()},
          {"clauses", FindRunTrouble(document).clauses}};
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
    JudgeContention(run);
    JudgeWorkers(run);
    JudgeData(run);
    JudgeRequests(run);
    JudgeGpu(run);
    JudgeHealth(run);
  }
  FindCauses(document, &verdicts);
  OrderByCause(&verdicts);
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
    row["cause"] = verdict.cause.empty() ? Json() : Json(verdict.cause);
    rows.push_back(std::move(row));
  }
  return rows;
}

void AddInsight(Json* document) {
  (*document)["chunk_size_advice"] = ChunkSizeAdviceRows(AdviseChunkSizes(*document));
  (*document)["resource_advice"] = ResourceAdviceRows(AdviseResources(*document));
  (*document)["verdicts"] = VerdictRows(Judge(*document));
  (*document)["headline"] = Headline(*document);  // it looks at the verdicts
  (*document)["trouble"] = TroubleRow(*document);
}

}  // namespace crema
