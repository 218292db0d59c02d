#include "collector/diagnosis/verdicts.h"

#include <set>

#include "collector/diagnosis/chunk_size_advice.h"
#include "collector/diagnosis/run_head.h"
#include "collector/format/human_numbers.h"
#include "collector/metrics/attempts/stragglers.h"
#include "collector/metrics/statistics/bounded_names.h"

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

namespace {

/// Symptoms come of `cause` where both are found and it applies, unless one further up explains them. What causes
/// another has no cause itself that is not further up.
struct Explanation {
  std::string_view cause;
  std::array<std::string_view, 5> symptoms;  // those that are left are empty
};

constexpr Explanation kExplanations[] = {
    {"worker-loss", {"incomplete-measurement", "failing-chunks", "retry-waste"}},
    {"failing-chunks", {"retry-waste"}},
    {"shared-bottleneck", {"waiting-bound"}},
    {"gil-contention", {"waiting-bound"}},
    {"cpu-contention", {"oversubscribed"}},
    {"oversubscribed", {"cpu-contention"}},
    {"cpu-contention", {"stragglers", "slow-spell", "slow-worker", "slow-file", "skewed-dataset"}},
    {"oversubscribed", {"stragglers", "slow-spell", "slow-worker", "slow-file", "skewed-dataset"}},
    {"slow-worker", {"stragglers", "skewed-dataset", "last-worker"}},
    {"slow-file", {"stragglers", "skewed-dataset", "slow-spell"}},
    {"slow-spell", {"stragglers", "slow-file", "skewed-dataset"}},
    {"oversized-chunks", {"skewed-dataset", "last-worker", "long-tail", "chunks-too-large"}},
    {"chunks-too-large", {"last-worker", "long-tail"}},
    {"too-few-clusters", {"too-few-chunks", "long-tail", "idle-workers"}},
    {"too-few-chunks", {"last-worker", "long-tail", "idle-workers"}},
    {"last-worker", {"long-tail"}},
    {"memory-pressure", {"spilling"}},
    {"slow-batch", {"idle-workers"}},
    {"serial-module", {"idle-workers"}},
    {"external-work", {"idle-workers"}},
    {"nothing-ready", {"idle-workers"}},
    {"page-faults", {"kernel-time"}},
    {"many-small-reads", {"kernel-time"}},
};

bool IsAnyone(const StragglerRow&) { return true; }

/// Whether `explains` holds for most of the excess of the stragglers, or of the slow periods, for which `are` holds.
/// One that has no name or time is of no one.
template <class Row, class Explains, class Are>
bool IsMostOf(const std::vector<Row>& rows, Explains explains, Are are) {
  double explained = 0;
  double all = 0;
  for (const Row& row : rows) {
    if (!are(row)) continue;
    const double excess = row.duration.value_or(0) - row.predicted.value_or(0);
    all += excess;
    if (explains(row)) explained += excess;
  }
  return all > 0 && kMostOfIt.Holds(explained / all);
}

/// The worker, file or dataset of a straggler; nullptr: it does not name its host.
const Text* NameOf(const StragglerRow& straggler, std::string_view by) {
  if (by == "worker") return &straggler.worker;
  if (by == "file") return &straggler.file;
  return by == "dataset" ? &straggler.dataset : nullptr;
}

/// Workers (files) that took `slow` times what chunks of their size take, or more.
std::set<std::string> SlowNames(const Measurement& measurement, std::string_view by, const Bound& slow) {
  std::set<std::string> names;
  for (const ExpectedTimeRow& row : measurement.expected_time) {
    const double predicted = row.predicted.value_or(0);
    const bool is_slow = predicted > 0 && slow.Holds(row.duration.value_or(0) / predicted);
    const bool is_one = !row.name.str().empty() && row.name.str() != kOtherName;
    if (row.by.str() == by && is_slow && is_one) names.insert(row.name.str());
  }
  return names;
}

/// Whether a straggler is of one of these.
auto IsOfSlow(const Measurement& measurement, std::string_view by, const Bound& slow) {
  return [names = SlowNames(measurement, by, slow), by](const StragglerRow& straggler) {
    return names.count(NameOf(straggler, by)->str()) > 0;
  };
}

/// Whether what took longer for this reason waited for a CPU; its helpers may have, while it waited for them.
auto IsShortOfCpu(const Measurement& measurement) {
  const double of_owners = measurement.Metric("chunk_cpu_wait").value_or(0);
  const double of_all = measurement.Metric("lane_cpu_wait").value_or(0);
  return [helpers_wait = of_all - of_owners > of_owners](const auto& row) {
    return row.reason == ToString(StragglerReason::kCpuWait) ||
           (helpers_wait && row.reason == ToString(StragglerReason::kJoined));
  };
}

/// Where no straggler shows when slow files were read: several of them took no longer, together, than a time in which
/// not one file was slow. One cause is likelier than several.
bool MayPeriodsExplainFiles(const Measurement& measurement, const Bound& slow_file) {
  const std::set<std::string> names = SlowNames(measurement, "file", slow_file);
  double of_files = 0, of_periods = 0;
  for (const ExpectedTimeRow& row : measurement.expected_time) {
    if (row.by.str() != "file" || names.count(row.name.str()) == 0) continue;
    of_files += row.duration.value_or(0) - row.predicted.value_or(0);
  }
  for (const SlowPeriodRow& period : measurement.slow_spells) {
    if (period.by.str() != "file") of_periods += period.duration.value_or(0) - period.predicted.value_or(0);
  }
  return kSeveral.Holds(static_cast<double>(names.size())) && kMostOfIt.Holds(of_periods / of_files);
}

/// Whether the worker whose chunks ended last was slow, and would not have been last without that.
bool WasSlowAndLast(const Measurement& measurement) {
  const WorkerRow* last = nullptr;
  double before = 0;  // when the chunks of all others had ended
  for (const WorkerRow& worker : measurement.workers) {
    if (!worker.last_chunk.has_value() || worker.state == "lost") continue;
    if (last != nullptr) before = std::max(before, std::min(*last->last_chunk, *worker.last_chunk));
    if (last == nullptr || *worker.last_chunk > *last->last_chunk) last = &worker;
  }
  return absl::c_any_of(measurement.expected_time, [&](const ExpectedTimeRow& row) {
    if (last == nullptr || row.by.str() != "worker" || !(row.name == last->name)) return false;
    const double excess = row.duration.value_or(0) - row.predicted.value_or(0);
    return kMostOfIt.Holds(excess / (*last->last_chunk - before));
  });
}

bool IsInPeriod(const Measurement& measurement, const StragglerRow& straggler) {
  return absl::c_any_of(measurement.slow_spells, [&](const SlowPeriodRow& period) {
    const double at = straggler.start.value_or(-1);
    const Text* name = NameOf(straggler, period.by);  // without one its time must do
    return at >= period.start.value_or(0) && at <= period.stop.value_or(0) &&
           (name == nullptr || *name == period.name.str());
  });
}

/// Whether most of what the budget says was blocked is what the slope of contention gives.
bool IsMostOfWaiting(const Measurement& measurement) {
  const BudgetRow* const blocked = FindBy(measurement.budget, &BudgetRow::part, "blocked");
  const double seconds = blocked == nullptr ? 0 : blocked->core_seconds.value_or(0);
  const auto excess_of = [](const ContentionRow& row) { return row.excess.value_or(0); };
  return seconds > 0 && kMostOfIt.Holds(SumOf<double>(measurement.contention, excess_of) / seconds);
}

/// Whether the records bear it out: attempts that failed by themselves are not the work of a worker that vanished, and
/// stragglers are elsewhere as often as not.
bool Applies(std::string_view cause, const Verdict& symptom, const Measurement& measurement) {
  if (symptom.id == "incomplete-measurement") {  // and nothing else lacks
    return symptom.evidence.size() == 1 && symptom.evidence.front().first == "quality.processes_lost";
  }
  if (cause == "worker-loss") return measurement.Metric("num_failed_attempts").value_or(0) == 0;
  if (cause == "shared-bottleneck") return IsMostOfWaiting(measurement);
  if (symptom.id == "cpu-contention") return true;
  if (symptom.id == "oversubscribed") return kMostOfIt.Holds(ShareWithoutCpu(measurement));
  const std::vector<StragglerRow>& stragglers = measurement.stragglers;
  // Whom the symptom is about: the slow ones, where it names such.
  const auto are = [&](std::string_view by) -> std::function<bool(const StragglerRow&)> {
    if (symptom.id != "slow-" + std::string(by)) return IsAnyone;
    return IsOfSlow(measurement, by, RuleOf(symptom.id).threshold);
  };
  const auto is_in_period = [&](const StragglerRow& straggler) { return IsInPeriod(measurement, straggler); };
  if (cause == "cpu-contention" || cause == "oversubscribed") {
    const auto is_short = IsShortOfCpu(measurement);
    if (symptom.id == "slow-spell") {
      return IsMostOf(measurement.slow_spells, is_short, [](const SlowPeriodRow&) { return true; });
    }
    return IsMostOf(stragglers, is_short, are(symptom.id == "slow-file" ? "file" : "worker"));
  }
  const Bound& slow_file = RuleOf("slow-file").threshold;
  if (symptom.id == "slow-spell") {  // a slow time makes all files slow that are read then, not one
    return SlowNames(measurement, "file", slow_file).size() == 1 &&
           IsMostOf(stragglers, IsOfSlow(measurement, "file", slow_file), is_in_period);
  }
  if (cause == "slow-spell") {
    return absl::c_any_of(stragglers, are("file")) ? IsMostOf(stragglers, is_in_period, are("file"))
                                                   : MayPeriodsExplainFiles(measurement, slow_file);
  }
  if (cause == "slow-worker" && symptom.id == "last-worker") return WasSlowAndLast(measurement);
  if (symptom.id != "stragglers" && symptom.id != "skewed-dataset") return true;
  if (cause != "slow-worker" && cause != "slow-file") return true;
  const std::string_view by = cause == "slow-worker" ? "worker" : "file";
  return IsMostOf(stragglers, IsOfSlow(measurement, by, RuleOf(cause).threshold), IsAnyone);
}

/// What must be known before the others are believed comes first among those of its severity.
int Rank(const Verdict& verdict) {
  if (verdict.id == "failed-run") return -1;
  if (verdict.id == "incomplete-measurement") return 0;
  if (verdict.id == "worker-loss") return 1;
  return verdict.id == "failing-chunks" || verdict.id == "failing-tasks" ? 2 : 3;
}

Verdict* Find(std::vector<Verdict>& verdicts, std::string_view id) {
  const auto found = absl::c_find_if(verdicts, [&](const Verdict& v) { return v.id == id; });
  return found == verdicts.end() ? nullptr : &*found;
}

}  // namespace

std::vector<VerdictGroup> GroupVerdicts(const Measurement& measurement) {
  constexpr size_t kMostSymptoms = 8;  // no cause has more: what is more was made by hand
  std::vector<VerdictGroup> groups;
  for (const VerdictRow& verdict : measurement.verdicts) {
    const std::string cause = verdict.cause.str();
    const auto of_cause =
        absl::c_find_if(groups, [&](const VerdictGroup& group) { return !cause.empty() && group.cause->id == cause; });
    if (of_cause == groups.end()) {
      groups.push_back({&verdict, {}});
    } else if (of_cause->symptoms.size() < kMostSymptoms) {
      of_cause->symptoms.push_back(&verdict);
    }
  }
  return groups;
}

std::string SavingText(const VerdictRow& verdict) {
  const bool is_worth_showing = kSavingShown.Holds(verdict.saving.value_or(0));
  return is_worth_showing ? "≈ " + HumanPercent(*verdict.saving) : "";
}

std::optional<Mark> MarkOf(const VerdictRow& verdict) {
  if (verdict.severity == "good") return Mark::kGood;
  if (verdict.severity == "warning") return Mark::kWatch;
  return verdict.severity == "bad" ? std::optional(Mark::kBad) : std::nullopt;
}

void FindCauses(const Measurement& measurement, std::vector<Verdict>* verdicts) {
  for (const Explanation& explanation : kExplanations) {
    const Verdict* cause = Find(*verdicts, explanation.cause);
    for (const std::string_view id : explanation.symptoms) {
      Verdict* symptom = Find(*verdicts, id);
      if (symptom == nullptr || cause == nullptr || !symptom->cause.empty() || cause->cause == symptom->id) continue;
      if (Applies(explanation.cause, *symptom, measurement)) symptom->cause = cause->id;
    }
  }
  // What causes a cause causes its symptoms.
  for (Verdict& verdict : *verdicts) {
    for (const Verdict* cause = Find(*verdicts, verdict.cause); cause != nullptr && !cause->cause.empty();
         cause = Find(*verdicts, verdict.cause)) {
      verdict.cause = cause->cause;
    }
  }
}

void OrderByCause(std::vector<Verdict>* verdicts) {
  for (const Verdict& verdict : *verdicts) {
    Verdict* cause = verdict.cause.empty() ? nullptr : Find(*verdicts, verdict.cause);
    if (cause != nullptr) cause->severity = std::max(cause->severity, verdict.severity);
  }
  SortBy(verdicts, [](const Verdict& verdict) {
    return std::tuple(-static_cast<int>(verdict.severity), Rank(verdict), -verdict.saving.value_or(0));
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
