#include "collector/insight/verdicts.h"

#include <algorithm>
#include <string_view>

#include "collector/insight/budget_rows.h"
#include "collector/insight/document_fields.h"
#include "collector/insight/headline.h"
#include "collector/insight/human_numbers.h"
#include "collector/insight/run_evidence.h"
#include "collector/insight/trust_limits.h"
#include "collector/insight/verdict_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// From this blocked share on, a run that waits more than it computes is waiting-bound (see the table).
constexpr double kLeastWaiting = 0.15;

Severity SeverityOf(const VerdictRule& rule, double value) {
  return value >= rule.bad ? Severity::kBad : rule.severity;
}

/// The verdicts that say "this part of the budget is large", which only differ in their words.
struct PartVerdict {
  std::string_view id;
  std::string_view part;
  std::string_view sentence;  ///< `{}`: the share
};

constexpr PartVerdict kPartVerdicts[] = {
    {"cpu-contention", "cpu_wait", "Threads were runnable but got no CPU for {} of the core-seconds."},
    {"long-tail", "tail", "While the last chunks ran, free cores cost {} of the core-seconds."},
    {"idle-workers", "idle", "Between chunks, free cores cost {} of the core-seconds."},
    {"startup-dominated", "startup", "Before their first chunk, free cores cost {} of the core-seconds."},
};

void JudgePart(const PartVerdict& words, const BudgetRows& budget, std::vector<Verdict>* verdicts) {
  const VerdictRule& rule = RuleOf(words.id);
  const double share = budget.Share(words.part);
  if (share < rule.threshold) return;
  verdicts->push_back({std::string(rule.id),
                       SeverityOf(rule, share),
                       fmt::format(fmt::runtime(words.sentence), HumanPercent(share)),
                       {{fmt::format("budget.{}.share", words.part), share}},
                       std::string(rule.suggestion),
                       share});
}

void JudgeWaiting(const BudgetRows& budget, std::vector<Verdict>* verdicts) {
  const VerdictRule& rule = RuleOf("waiting-bound");
  // The budget has one row `waiting` where the kernel does not tell the run delay, else `blocked`.
  const bool is_blocked = budget.Share("waiting") == 0;
  const std::string_view part = is_blocked ? "blocked" : "waiting";
  const double waiting = budget.Share(part);
  const double compute = budget.Share("compute");
  if (waiting < rule.threshold && !(waiting > kLeastWaiting && waiting > compute)) return;
  verdicts->push_back({std::string(rule.id),
                       SeverityOf(rule, waiting),
                       fmt::format("Your code {} for {} of the core-seconds and computed for {}.",
                                   is_blocked ? "was blocked on I/O, locks or a device"
                                              : "waited (the kernel did not tell for what; maybe for a CPU)",
                                   HumanPercent(waiting), HumanPercent(compute)),
                       {{fmt::format("budget.{}.share", part), waiting}, {"budget.compute.share", compute}},
                       std::string(rule.suggestion),
                       waiting});
}

void JudgeCompute(const BudgetRows& budget, std::vector<Verdict>* verdicts) {
  const VerdictRule& rule = RuleOf("compute-bound");
  const double compute = budget.Share("compute");
  if (compute < rule.threshold) return;
  verdicts->push_back({std::string(rule.id),
                       SeverityOf(rule, compute),
                       fmt::format("CPU in your code took {} of the core-seconds.", HumanPercent(compute)),
                       {{"budget.compute.share", compute}},
                       std::string(rule.suggestion),
                       std::nullopt});
}

void JudgeStragglers(const Json& document, const BudgetRows& budget, std::vector<Verdict>* verdicts) {
  const double count = Metric(document, "straggler_chunks").value_or(0);
  double excess = 0;
  for (const Json& row : ListField(document, "stragglers")) {
    const std::optional<double> duration = NumberField(row, "duration");
    const std::optional<double> predicted = NumberField(row, "predicted");
    if (duration.has_value() && predicted.has_value()) excess += std::max(0.0, *duration - *predicted);
  }
  const double share = excess / budget.core_seconds;
  const VerdictRule& rule = RuleOf("stragglers");
  if (count < 1 || share < rule.threshold) return;
  verdicts->push_back(
      {std::string(rule.id),
       SeverityOf(rule, share),
       fmt::format("{} took {} longer than chunks of their size do, {} of the core-seconds.",
                   Counted(count, "straggler", "stragglers"), HumanDuration(excess), HumanPercent(share)),
       {{"straggler_chunks", count}, {"stragglers.excess_seconds", excess}},
       std::string(rule.suggestion),
       share});
}

void JudgeOversubscription(const Json& document, const BudgetRows& budget, std::vector<Verdict>* verdicts) {
  const std::optional<double> core_seconds = Metric(document, "core_seconds");
  if (!core_seconds.has_value() || *core_seconds <= 0) return;
  // METRICS.md section 7: the parts add up to core_seconds + oversubscribed_core_seconds
  const double excess = (budget.core_seconds - *core_seconds) / *core_seconds;
  const VerdictRule& rule = RuleOf("oversubscribed");
  if (excess < rule.threshold) return;
  verdicts->push_back(
      {std::string(rule.id),
       SeverityOf(rule, excess),
       fmt::format("More chunks and helpers were open than there were cores: {} beyond the core-seconds.",
                   HumanPercent(excess)),
       {{"oversubscribed_core_seconds", budget.core_seconds - *core_seconds}},
       std::string(rule.suggestion),
       std::nullopt});
}

void JudgeFailures(const Json& document, const RunEvidence& evidence, std::vector<Verdict>* verdicts) {
  const VerdictRule& rule = RuleOf("failing-chunks");
  const double failed = Metric(document, "num_failed_attempts").value_or(0);
  const double without_result = Metric(document, "num_unfinished_chunks").value_or(0);
  if (evidence.attempts <= 0) return;
  const double share = (failed + evidence.lost) / evidence.attempts;
  // while a run goes on, chunks without a result are the open ones and those about to be tried again
  const bool missing = without_result > 0 && evidence.state != RunState::kRunning;
  if (share < rule.threshold && !missing) return;
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
  verdicts->push_back({std::string(rule.id),
                       missing ? Severity::kBad : SeverityOf(rule, share),
                       sentence,
                       {{"num_failed_attempts", failed},
                        {"num_lost_attempts", evidence.lost},
                        {"num_attempts", evidence.attempts},
                        {"num_unfinished_chunks", without_result}},
                       std::string(rule.suggestion),
                       evidence.budget.has_value() ? std::optional(evidence.budget->Share("failed")) : std::nullopt});
}

/// What is missing from the records, as (key, count); coverages as (key, share).
std::vector<std::pair<std::string, double>> Gaps(const Json& document, const RunEvidence& evidence) {
  std::vector<std::pair<std::string, double>> gaps;
  const Json& quality = Field(document, "quality");
  const double threshold = RuleOf("incomplete-measurement").threshold;
  for (std::string_view key : {"records_malformed", "records_torn", "records_dropped", "sections_dropped",
                               "processes_lost", "workers_unseen", "chunks_unjoined"}) {
    // a running job's last line is read while it is being written
    if (key == "records_torn" && evidence.state == RunState::kRunning) continue;
    const double count = NumberField(quality, key).value_or(0);
    if (count >= threshold) gaps.emplace_back("quality." + std::string(key), count);
  }
  for (std::string_view key : {"event_coverage", "fine_metrics_coverage"}) {
    // what a running job has not done yet is no gap
    if (key == "event_coverage" && evidence.state == RunState::kRunning) continue;
    const std::optional<double> share = NumberField(quality, key);
    if (share.has_value() && *share < kFullCoverage) gaps.emplace_back("quality." + std::string(key), *share);
  }
  return gaps;
}

void JudgeMeasurement(const Json& document, const RunEvidence& evidence, std::vector<Verdict>* verdicts) {
  const VerdictRule& rule = RuleOf("incomplete-measurement");
  Verdict verdict{std::string(rule.id),         rule.severity, "", Gaps(document, evidence),
                  std::string(rule.suggestion), std::nullopt};
  if (evidence.attempts == 0 && evidence.ended == 0) {
    verdict.sentence = "No chunk was recorded: nothing is known about the work inside the processes.";
    verdict.evidence.emplace_back("num_attempts", 0);
    verdict.suggestion =
        "Put crema::TrackMetrics around a chunk of work, and check that CREMA_DIR reaches the process.";
  } else if (!evidence.IsEnough()) {
    verdict.severity = evidence.state == RunState::kFinished ? Severity::kWarning : Severity::kInfo;
    verdict.sentence = "Too little was measured to judge where the core-seconds went.";
    verdict.evidence.emplace_back("ended_attempts", evidence.ended);
    if (evidence.budget.has_value()) verdict.evidence.emplace_back("core_seconds", evidence.budget->core_seconds);
    verdict.suggestion = fmt::format("Measure at least {} core-second with a chunk that ends.", kLeastCoreSeconds);
  } else if (!verdict.evidence.empty()) {
    const auto& [key, value] = verdict.evidence.front();
    const std::string name = key.substr(key.find('.') + 1);
    verdict.sentence = fmt::format("The records are not complete ({}: {}{}); sums may be too low.", name,
                                   value < 1 ? HumanPercent(value, 1) : HumanCount(value),
                                   verdict.evidence.size() > 1 ? ", and more" : "");
  } else {
    return;
  }
  verdicts->push_back(std::move(verdict));
}

void JudgeHealth(const Json& document, std::vector<Verdict>* verdicts) {
  const std::optional<double> efficiency = Metric(document, "cpu_efficiency");
  if (!efficiency.has_value() || *efficiency < RuleOf("healthy").threshold) return;
  auto troubles = [](const Verdict& verdict) { return verdict.severity >= Severity::kWarning; };
  if (std::any_of(verdicts->begin(), verdicts->end(), troubles)) return;
  verdicts->push_back({"healthy",
                       RuleOf("healthy").severity,
                       fmt::format("Nothing stands out: CPU efficiency is {}.", HumanPercent(*efficiency)),
                       {{"cpu_efficiency", *efficiency}},
                       "",
                       std::nullopt});
}

}  // namespace

std::vector<Verdict> Judge(const Json& document) {
  const RunEvidence evidence = ReadRunEvidence(document);
  std::vector<Verdict> verdicts;
  JudgeMeasurement(document, evidence, &verdicts);
  JudgeFailures(document, evidence, &verdicts);
  if (evidence.IsEnough()) {
    const BudgetRows& budget = *evidence.budget;
    JudgeCompute(budget, &verdicts);
    JudgeWaiting(budget, &verdicts);
    for (const PartVerdict& part : kPartVerdicts) JudgePart(part, budget, &verdicts);
    JudgeStragglers(document, budget, &verdicts);
    JudgeOversubscription(document, budget, &verdicts);
    JudgeHealth(document, &verdicts);
  }
  std::stable_sort(verdicts.begin(), verdicts.end(), [](const Verdict& left, const Verdict& right) {
    if (left.severity != right.severity) return left.severity > right.severity;
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
  (*document)["headline"] = Headline(*document);
  (*document)["verdicts"] = VerdictRows(Judge(*document));
}

}  // namespace crema
