// Verdicts on chunks and workers that came to nothing.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/lost_workers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// ` of file x.root`: all attempts that failed are in one row of a table of several, which has no more than its share;
/// empty where they are not.
template <class Row>
std::string AllOf(const std::vector<Row>& rows, double failed, double attempts, std::string_view what) {
  for (const Row& row : rows) {
    const bool is_its_share = kMostOfIt.Holds(row.attempts.value_or(0) / attempts);
    if (!kSeveral.Holds(failed) || row.failed.value_or(0) != failed || is_its_share) continue;
    return fmt::format(", all of them {}{}", what, ShortName(row.name.str()));
  }
  return "";
}

void JudgeAttempts(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("failing-chunks");
  const RunEvidence& evidence = run.evidence;
  const double failed = run.Metric("num_failed_attempts");
  const double without_result = run.Metric("num_unfinished_chunks");
  if (evidence.attempts <= 0) return;
  const double share = (failed + evidence.lost) / evidence.attempts;
  // while a run goes on, chunks without a result are the open ones and those about to be tried again
  const bool missing = without_result > 0 && !run.is_running();
  if (!rule.threshold.Holds(share) && !missing) return;
  std::string sentence;
  if (failed > 0) {
    sentence = fmt::format("{} of {} attempts failed", HumanCount(failed), HumanCount(evidence.attempts));
    const Measurement& all = run.measurement;
    std::string where = AllOf(all.files, failed, evidence.attempts, "of file ");
    if (where.empty()) where = AllOf(all.datasets, failed, evidence.attempts, "of dataset ");
    if (where.empty()) where = AllOf(all.workers, failed, evidence.attempts, "on ");
    sentence += where;
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
  run.Add(rule, missing ? rule.threshold.bad : share, sentence,
          {{"num_failed_attempts", failed},
           {"num_lost_attempts", evidence.lost},
           {"num_attempts", evidence.attempts},
           {"num_unfinished_chunks", without_result}},
          evidence.budget.has_value() ? std::optional(evidence.budget->Share("failed")) : std::nullopt);
}

void JudgeFailedTasks(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("failing-tasks");
  const double failed = run.Metric("num_failed_tasks");
  if (run.is_running() || !rule.threshold.Holds(failed)) return;
  const double tasks = run.measurement.Metric("num_tasks").value_or(failed);
  const double without_chunk = run.Metric("num_failed_tasks_without_chunk");
  std::string sentence =
      fmt::format("{} says that {} of {} failed and {} not tried again.", run.measurement.run.engine.str(),
                  HumanCount(failed), Counted(tasks, "task", "tasks"), failed == 1 ? "was" : "were");
  if (without_chunk > 0) {
    sentence += fmt::format(" No chunk was recorded in {}, so nobody knows what {} would have added.",
                            without_chunk < failed ? HumanCount(without_chunk) + " of them"
                            : failed == 1          ? "it"
                                                   : "them",
                            without_chunk == 1 ? "it" : "they");
  }
  run.Add(rule, without_chunk > 0 ? rule.threshold.bad : 0, sentence,
          {{"num_failed_tasks", failed}, {"num_failed_tasks_without_chunk", without_chunk}, {"num_tasks", tasks}});
}

void JudgeLostWorkers(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("worker-loss");
  const LostWorkers lost = FindLostWorkers(run.measurement);
  const auto count = static_cast<double>(lost.names.size());
  if (!rule.threshold.Holds(count)) return;
  std::string sentence = fmt::format("{} of {} vanished without an end ({}): {}", HumanCount(count),
                                     Counted(lost.workers, "worker", "workers"), lost.Names(), lost.Why());
  if (lost.absent_seconds > 0 && !run.is_running()) {
    sentence += fmt::format("; {} of the worker-seconds that the run could have had are missing",
                            HumanPercent(lost.absent_seconds / lost.whole_seconds));
  }
  if (lost.uncertain_chunks > 0) {
    const double events = run.Metric("total_events");
    sentence += fmt::format("; {} had ended there, and whether their results were used is not known",
                            Counted(lost.uncertain_chunks, "chunk", "chunks"));
    if (const std::string range = RangeOfResults(lost, events); !range.empty()) {
      sentence += ": the results are of " + range;
    }
  }
  run.Add(rule, count, sentence + ".",
          {{"workers.lost", count},
           {"num_lost_attempts", run.evidence.lost},
           {"workers.absent_seconds", lost.absent_seconds},
           {"workers.uncertain_chunks", lost.uncertain_chunks},
           {"workers.uncertain_events", lost.uncertain_events}});
}

}  // namespace

void JudgeFailures(const JudgedRun& run) {
  JudgeAttempts(run);
  JudgeFailedTasks(run);
  JudgeLostWorkers(run);
}

}  // namespace crema
