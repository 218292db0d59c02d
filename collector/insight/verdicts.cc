#include "collector/insight/verdicts.h"

#include "collector/insight/chunk_size_advice.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/headline.h"
#include "collector/insight/run_head.h"
#include "collector/insight/verdict_families.h"

namespace crema {

std::vector<Verdict> Judge(const Measurement& measurement) {
  const RunEvidence evidence = ReadRunEvidence(measurement);
  std::vector<Verdict> verdicts;
  const JudgedRun run = {measurement, evidence, &verdicts};
  JudgeMeasurement(run);
  JudgeFailures(run);
  JudgeCommand(run);
  if (evidence.IsEnough()) {
    JudgeBudget(run);
    JudgeChunkSizes(run);
    JudgeOutliers(run);
    JudgeContention(run);
    JudgeWorkers(run);
    JudgeData(run);
    JudgeRequests(run);
    JudgeTasks(run);
    JudgeKernel(run);
    JudgeGpu(run);
    JudgeHealth(run);
  }
  FindCauses(measurement, &verdicts);
  if (evidence.IsEnough()) JudgeRest(run);
  OrderByCause(&verdicts);
  return verdicts;
}

std::vector<VerdictRow> VerdictRows(const std::vector<Verdict>& verdicts) {
  std::vector<VerdictRow> rows;
  for (const Verdict& verdict : verdicts) {
    VerdictRow& row = rows.emplace_back();
    row.id = verdict.id;
    row.severity = ToString(verdict.severity);
    row.sentence = verdict.sentence;
    for (const auto& [key, value] : verdict.evidence) row.evidence.push_back({key, value});
    row.suggestion = verdict.suggestion;
    row.saving = verdict.saving;
    row.cause = Text::OrNull(verdict.cause);
  }
  return rows;
}

void AddInsight(Measurement* measurement) {
  measurement->chunk_size_advice = ChunkSizeAdviceRows(AdviseChunkSizes(*measurement));
  measurement->resource_advice = AdviseResources(*measurement);
  measurement->verdicts = VerdictRows(Judge(*measurement));
  measurement->headline = Headline(*measurement);  // it looks at the verdicts
  const StateInWords state = StateOf(*measurement);
  measurement->trouble = {state.text, state.mark.has_value() ? Text(ToString(*state.mark)) : Text(),
                          FindRunTrouble(*measurement).clauses};
}

}  // namespace crema
