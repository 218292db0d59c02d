// Verdicts on chunks and workers that came to nothing.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

void JudgeAttempts(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("failing-chunks");
  const RunEvidence& evidence = run.evidence;
  const double failed = Metric(run.document, "num_failed_attempts").value_or(0);
  const double without_result = Metric(run.document, "num_unfinished_chunks").value_or(0);
  if (evidence.attempts <= 0) return;
  const double share = (failed + evidence.lost) / evidence.attempts;
  // while a run goes on, chunks without a result are the open ones and those about to be tried again
  const bool missing = without_result > 0 && !run.is_running();
  if (!rule.threshold.Holds(share) && !missing) return;
  std::string sentence;
  if (failed > 0) {
    sentence = fmt::format("{} of {} attempts failed", HumanCount(failed), HumanCount(evidence.attempts));
    if (evidence.lost > 0) sentence += fmt::format(", {} more lost", HumanCount(evidence.lost));
  } else if (evidence.lost > 0) {
    sentence = fmt::format("{} of {} attempts {} lost", HumanCount(evidence.lost), HumanCount(evidence.attempts),
                           evidence.lost == 1 ? "was" : "were");
  }
  if (missing) {
    if (!sentence.empty()) sentence += "; ";
    sentence += Counted(without_result, "chunk has", "chunks have") + " no result";
  }
  sentence += ".";
  run.verdicts->push_back(
      {std::string(rule.id),
       missing || share >= rule.bad ? Severity::kBad : rule.severity,
       sentence,
       {{"num_failed_attempts", failed},
        {"num_lost_attempts", evidence.lost},
        {"num_attempts", evidence.attempts},
        {"num_unfinished_chunks", without_result}},
       std::string(rule.suggestion),
       evidence.budget.has_value() ? std::optional(evidence.budget->Share("failed")) : std::nullopt});
}

void JudgeLostWorkers(const JudgedRun& run) {
  if (run.evidence.state == RunState::kKilled) return;  // then all of them ended with the run
  const VerdictRule& rule = RuleOf("worker-loss");
  const auto& workers = ListField(run.document, "workers");
  double lost = 0;
  std::string name;
  for (const auto& worker : workers) {
    if (TextField(worker, "state") != "lost") continue;
    if (lost++ == 0) name = TextField(worker, "name");
  }
  if (!rule.threshold.Holds(lost)) return;
  run.Add(rule, lost,
          fmt::format("{} of {} vanished without an end ({}{}): killed, crashed, or out of memory.", HumanCount(lost),
                      Counted(static_cast<double>(workers.size()), "worker", "workers"), ShortName(name),
                      lost > 1 ? " first" : ""),
          {{"workers.lost", lost}, {"num_lost_attempts", run.evidence.lost}}, std::nullopt);
}

}  // namespace

void JudgeFailures(const JudgedRun& run) {
  JudgeAttempts(run);
  JudgeLostWorkers(run);
}

}  // namespace crema
