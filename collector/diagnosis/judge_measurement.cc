// Verdicts on the measurement itself, and the one that finds nothing to say.

#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"

namespace crema {
namespace {

/// What is missing from the records, as (key, count); coverages as (key, share).
std::vector<std::pair<std::string, double>> Gaps(const JudgedRun& run) {
  std::vector<std::pair<std::string, double>> gaps;
  const Quality& quality = run.measurement.quality;
  const auto add = [&](Number Quality::*member, double value) {
    gaps.emplace_back("quality." + std::string(ColumnOfMember(member).key), value);
  };
  const Bound& threshold = RuleOf("incomplete-measurement").threshold;
  for (Number Quality::*member :
       {&Quality::logs_missing, &Quality::logs_left_out, &Quality::logs_damaged, &Quality::records_malformed,
        &Quality::records_torn, &Quality::records_dropped, &Quality::guards_misused, &Quality::records_lost,
        &Quality::sections_dropped, &Quality::processes_lost, &Quality::workers_unseen, &Quality::chunks_unjoined}) {
    // a running job's last line is read while it is being written
    if (member == &Quality::records_torn && run.is_running()) continue;
    double count = (quality.*member).value_or(0);
    if (member == &Quality::records_dropped) count -= quality.guards_misused.value_or(0);  // which come next
    if (threshold.Holds(count)) add(member, count);
  }
  for (Number Quality::*member : {&Quality::event_coverage, &Quality::fine_metrics_coverage}) {
    // what a running job has not done yet is not a gap
    if (member == &Quality::event_coverage && run.is_running()) continue;
    const Number& share = quality.*member;
    if (share.has_value() && kIncompleteCoverage.Holds(*share)) add(member, *share);
  }
  if (run.evidence.budget.has_value() && !run.is_running()) {
    const double cpu = run.Share("unmeasured_cpu"), rest = run.Share("unmeasured");
    if (kMuchUnmeasured.Holds(cpu + rest)) {
      if (cpu > 0) gaps.emplace_back("budget.unmeasured_cpu.share", cpu);
      if (rest > 0) gaps.emplace_back("budget.unmeasured.share", rest);
    }
  }
  return gaps;
}

void JudgeGaps(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("incomplete-measurement");
  const RunEvidence& evidence = run.evidence;
  Verdict verdict{std::string(rule.id), rule.threshold.severity, "", Gaps(run), std::string(rule.suggestion), {}};
  if (verdict.evidence.empty() && IsProcessTreeOnly(run.measurement)) return;  // of a command, nothing else is asked
  if (evidence.attempts == 0 && evidence.ended == 0) {
    verdict.sentence = "No chunk was recorded: nothing is known about the work inside the processes.";
    verdict.evidence.emplace_back("num_attempts", 0);
    verdict.suggestion = fmt::format("Put {} around a chunk of work, and check that CREMA_DIR reaches the process.",
                                     GuardOfChunks(run.measurement));
  } else if (!evidence.IsEnough()) {
    verdict.severity = evidence.state == RunState::kFinished ? Severity::kWarning : Severity::kInfo;
    verdict.sentence = "Too little was measured to judge where the core-seconds went.";
    verdict.evidence.emplace_back("ended_attempts", evidence.ended);
    if (evidence.budget.has_value()) verdict.evidence.emplace_back("core_seconds", evidence.budget->core_seconds);
    verdict.suggestion =
        fmt::format("Measure at least {} core-second with a chunk that ends.", kEnoughCoreSeconds.value);
    if (evidence.ended > 0 && !evidence.budget.has_value()) {
      verdict.sentence =
          fmt::format("Where the core-seconds went is not known: {}.", run.measurement.WhyNotMeasured("core_seconds"));
      verdict.suggestion = "See what is missing: crema show --table quality.";
    }
    if (evidence.LacksCpuTime(run.measurement)) {
      verdict.sentence = "Where the core-seconds went is not known: the records of chunks have no CPU time.";
      verdict.suggestion = "Record with crema's guards, whose records have it.";
    }
  } else if (!verdict.evidence.empty()) {
    const auto& [key, value] = verdict.evidence.front();
    std::string name = key.substr(key.find('.') + 1);
    std::replace(name.begin(), name.end(), '_', ' ');
    if (key == "quality.guards_misused") {
      verdict.sentence = fmt::format(
          "{} not used as they should be. The values that they got are lost; a chunk that another thread ended lasts "
          "until its own thread records again.",
          Counted(value, "guard was", "guards were"));
      verdict.suggestion =
          "Suspend a chunk before another thread ends it, and let sections nest. A line `crema: ...` on the program's "
          "standard error names the first such guard.";
      run.verdicts->push_back(std::move(verdict));
      return;
    }
    verdict.sentence = fmt::format("The records are not complete ({}: {}{}). Sums may be too low.", name,
                                   value < 1 ? HumanPercent(value, 1) : HumanCount(value),
                                   verdict.evidence.size() > 1 ? ", and more" : "");
    if (key == "quality.chunks_unjoined" && verdict.evidence.size() == 1) {  // the chunks themselves are there
      verdict.sentence = fmt::format("{} to no task that was seen, so the time around is not known.",
                                     Counted(value, "chunk belongs", "chunks belong"));
    }
  } else {
    return;
  }
  run.verdicts->push_back(std::move(verdict));
}

void JudgeOverhead(const JudgedRun& run) {
  const bool is_beyond = run.measurement.WhyNotMeasured("instrumentation_overhead") == kTooManySeconds;
  const std::optional<double> overhead =
      is_beyond ? std::optional(1.0) : run.measurement.Metric("instrumentation_overhead");
  const std::optional<double> threads = TimeOfThreads(run.measurement);
  if (!overhead.has_value() || !run.Holds("instrumentation-heavy", *overhead) || !run.evidence.IsEnough()) return;
  std::optional<double> saving;
  if (threads.has_value()) saving = run.ShareOfCores(*overhead * *threads);
  if (saving.has_value() && !kMuchMeasuring.Holds(*saving)) return;
  const std::string share =
      is_beyond ? "longer than the chunks themselves" : HumanPercent(*overhead) + " of the chunks' time";
  Verdict& verdict = run.Add("instrumentation-heavy", *overhead, fmt::format("Measuring itself took {}.", share),
                             {{"instrumentation_overhead", *overhead}}, saving);
  if (is_beyond) verdict.evidence = {{"busy_time", run.Metric("busy_time")}};
  const double compiling = SumOf<double>(run.measurement.process_sections, [](const SectionRow& row) {
    return LastPart(row.path.str()) == kCompileGuards ? row.total.value_or(0) : 0;
  });
  const double guards = run.Metric("num_attempts") + SumOf<double>(run.measurement.sections, [](const SectionRow& row) {
                          return row.count.value_or(0);
                        });
  if (threads.has_value() && kMostOfIt.Holds(compiling / (*overhead * *threads))) {
    verdict.sentence.back() = ':';
    verdict.sentence += fmt::format(" section {} took {}.", kCompileGuards, HumanDuration(compiling));
    verdict.suggestion = kGuardsAreCompiledOnce;
  } else if (const std::optional<double> mean = run.measurement.Metric("busy_time_per_attempt");
             mean.has_value() && kShortChunk.Holds(*mean)) {
    verdict.sentence.back() = ':';
    verdict.sentence += fmt::format(" a chunk takes {} on average.", HumanDuration(*mean));
    verdict.suggestion = "Make chunks of more events: recording one costs the same, however few are in it.";
  } else if (!run.measurement.functions.empty()) {
    verdict.suggestion = "Stacks were taken: take fewer a second (--stacks=HZ), or none.";
  } else if (!kManyGuards.Holds(guards)) {
    verdict.suggestion = "Guards were few. Measure a longer run: what recording costs once is a smaller share of it.";
  }
}

}  // namespace

void JudgeMeasurement(const JudgedRun& run) {
  JudgeGaps(run);
  JudgeOverhead(run);
}

void JudgeHealth(const JudgedRun& run) {
  const std::optional<double> efficiency = run.measurement.Metric("cpu_efficiency");
  if (!efficiency.has_value() || !run.Holds("healthy", *efficiency)) return;
  if (UsesUncountedGpu(run.measurement)) return;  // the CPU may have spun
  if (absl::c_any_of(*run.verdicts, [](const auto& verdict) { return verdict.severity >= Severity::kWarning; })) return;
  run.Add("healthy", *efficiency, fmt::format("Nothing stands out: CPU efficiency is {}.", HumanPercent(*efficiency)),
          {{"cpu_efficiency", *efficiency}});
}

}  // namespace crema
