// The two sentences that open every summary.

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/engines/engines.h"
#include "collector/format/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/records/facts.h"

namespace crema {
namespace {

using SaidBy = std::array<std::string_view, 2>;  // verdicts that would say the same again
using Parts = std::array<std::string_view, 3>;   // of the budget

/// What the core-seconds were used for, and how a person says it.
struct Use {
  double share;
  bool characterises;
  std::string_view name;
  std::string_view clause;  ///< `{}`: the share of all
  SaidBy said_by = {};
  Parts parts = {};
};

std::string AsSentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

struct Class {
  std::string sentence;
  SaidBy said_by = {};
  /// Losses that it has named; none where it only says that cores were idle, and not when.
  Parts parts = {};

  /// Without the kind: "Your code waited for 44 % of 3 h 21 m of core time and computed for 33 %."
  std::string Clause() const {
    constexpr std::string_view kAfterKind = ": ";
    const size_t kind = sentence.find(kAfterKind);
    return kind == sentence.npos ? "" : AsSentence(sentence.substr(kind + kAfterKind.size()));
  }
};

/// A loss and its share of the core-seconds, or of the worker-seconds where workers were not there.
struct Loss {
  std::string sentence;
  double share = 0;
  std::string_view part = {};  ///< of the budget, where it is one
};

/// "uses a GPU: some kernel ran for 75 % of the time in which it did".
std::string UseOfUncountedGpu(const Measurement& measurement) {
  const std::optional<double> utilization = measurement.Metric("gpu_utilization");
  if (!measurement.Metric("gpu_peak_memory_bytes").has_value()) {
    if (!utilization.has_value()) return "may use a GPU, and what it did is not known";
    return fmt::format("may use a GPU: some kernel, maybe of others, ran on this machine for {} of the time",
                       HumanPercent(*utilization));
  }
  if (!utilization.has_value()) return "uses a GPU: the driver does not report how busy it was";
  return fmt::format("uses a GPU: some kernel ran for {} of the time in which it did", HumanPercent(*utilization));
}

/// The words where a format is: their braces are not placeholders.
std::string AsFormat(const std::string& words) { return absl::StrReplaceAll(words, {{"{", "{{"}, {"}", "}}"}}); }

/// "waiting-bound: your code waited for 44 % of 3 h 21 m of core time and computed for 33 %".
Class WhereTheTimeWent(const Measurement& measurement, const BudgetRows& budget) {
  const double compute = budget.Share("compute");
  const double cpu_wait = budget.Share("cpu_wait");
  const double blocked = budget.Share("blocked") + budget.Share("waiting");
  const double outside = budget.Share("outside_chunk");
  const double process = budget.Share("process_cpu");
  const double process_wait = budget.Share("process_cpu_wait");
  const double framework = budget.Share("framework") + budget.Share("failed");
  const double idle = budget.Share("joined") + budget.Share("startup") + budget.Share("idle") + budget.Share("tail") +
                      budget.Share("shutdown");
  const double unused = budget.Share("unused_by_tasks");
  const double of_silent_jobs = budget.Share("unmeasured_cpu");
  const double unmeasured = budget.Share("unmeasured") + of_silent_jobs;
  const std::string all = CoreTime(budget.core_seconds);
  if (unmeasured > std::max({compute, cpu_wait + blocked, budget.Share("gpu_wait"), outside, process, process_wait,
                             framework, idle, unused})) {
    if (of_silent_jobs > 0) {
      return {fmt::format("not judged: {} of {} were not measured; jobs without records computed for {} of all",
                          HumanPercent(unmeasured), all, HumanPercent(of_silent_jobs))};
    }
    return {fmt::format("not judged: for {} of {} the CPU time of chunks is not known", HumanPercent(unmeasured), all)};
  }
  const std::string of_all = " of " + all;
  const bool is_uncounted = UsesUncountedGpu(measurement);
  Class with_gpu = {
      fmt::format("{}; your code computed or was blocked for {}{}, and may have waited for the GPU meanwhile "
                  "(`crema run --gpu` shows it)",
                  UseOfUncountedGpu(measurement), HumanPercent(compute + blocked), of_all)};
  if (RuleOf("compute-bound").threshold.Holds(compute)) {
    if (is_uncounted) return with_gpu;
    const std::string quota = QuotaThatHeldBack(measurement);
    return {fmt::format("compute-bound: your code computed for {}{}{}", HumanPercent(compute), of_all,
                        quota.empty() ? "" : "; its threads wanted more, and " + quota)};
  }
  const double waiting = cpu_wait + blocked;
  const std::string around = SectionThatFills(measurement, outside * budget.core_seconds);
  const std::string around_clause = "tasks were outside chunks" + AsFormat(around) + ", for {}";
  const std::string busiest = SectionThatFills(measurement, process * budget.core_seconds);
  const std::string process_clause = "processes computed outside chunks" + AsFormat(busiest) + ", for {}";
  const bool is_set_up = around.empty() && IsMostlySetUp(measurement);
  const double wall = measurement.Metric("wall_time").value_or(0);
  const bool may_be_helped = kMostOfIt.Holds(budget.Share("joined") / idle) && HasUnannouncedThreads(measurement);
  const bool are_others_busy = may_be_helped || OthersMayBeBusy(measurement, 0, wall, idle * wall);
  const double gpu = budget.Share("gpu_wait");
  const double copies = measurement.Metric("gpu_copy_seconds").value_or(0);
  const std::array<Use, 8> uses = {{
      {waiting, RuleOf("waiting-bound").threshold.Holds(waiting) || (kWaitsToo.Holds(waiting) && waiting > compute),
       cpu_wait > blocked ? "short of CPU" : "waiting-bound", "your code waited for {}",
       SaidBy{"waiting-bound", "cpu-contention"}, Parts{"cpu_wait", "blocked", "waiting"}},
      {gpu, RuleOf("gpu-bound").threshold.Holds(gpu),
       copies > measurement.Metric("gpu_seconds").value_or(0) ? "gpu-copies" : "gpu-bound",
       "your code waited for the GPU for {}", SaidBy{"gpu-bound", "gpu-copies"}, Parts{"gpu_wait"}},
      {idle, kStarved.Holds(idle), "starved",
       are_others_busy ? "no chunk used the cores for {}" : "cores were idle for {}"},
      {unused, kStarved.Holds(unused), "over-allocated", "tasks held cores that they did not use for {}",
       SaidBy{"unused-cores"}, Parts{"unused_by_tasks"}},
      {process, kOverheadBound.Holds(process), "busy outside chunks",
       busiest.empty() ? "processes computed outside chunks for {}" : std::string_view(process_clause), SaidBy{},
       Parts{"process_cpu"}},
      {process_wait, kOverheadBound.Holds(process_wait), "short of CPU outside chunks",
       "processes waited for a CPU outside chunks for {}", SaidBy{"cpu-contention"}, Parts{"process_cpu_wait"}},
      {framework, kOverheadBound.Holds(framework), "overhead-bound", "the framework and repeated work took {}",
       SaidBy{"framework-overhead", "retry-waste"}, Parts{"framework", "failed"}},
      {outside, RuleOf("opening-bound").threshold.Holds(outside), is_set_up ? "set-up-bound" : "around chunks",
       !around.empty() ? std::string_view(around_clause)
       : is_set_up     ? "tasks were outside chunks, most of it before the first chunk of each thread, for {}"
                       : "tasks were outside chunks for {}",
       SaidBy{"opening-bound"}, Parts{"outside_chunk"}},
  }};
  const Use* most = LargestBy(uses, [](const Use& use) { return use.characterises ? use.share : 0; }).first;
  if (is_uncounted && (most == nullptr || (most == uses.data() && cpu_wait <= blocked))) return with_gpu;
  if (most == nullptr) return {fmt::format("mixed: your code computed for {}{}", HumanPercent(compute), of_all)};
  const bool is_waiting = most == &uses[0];
  const std::string of_quota = cpu_wait > blocked ? QuotaThatHeldBack(measurement) : "";
  const std::string other = is_waiting && blocked >= cpu_wait
                                ? ProcessWithoutGuards(measurement, measurement.Metric("chunk_blocked").value_or(0))
                                : "";
  return {
      fmt::format("{}: {}{}{}{}computed for {}{}", most->name,
                  fmt::format(fmt::runtime(most->clause), HumanPercent(most->share)), of_all,
                  !is_waiting        ? ""
                  : of_quota.empty() ? WhereMostWaiting(measurement, Waiting::kAll)
                                     : " (" + of_quota + ")",
                  is_waiting ? " and " : ", and your code ", HumanPercent(compute), other.empty() ? "" : "; " + other),
      most->said_by, most->parts};
}

/// The judged cause with the largest saving, in the sentence of its verdict; empty where none is worth a sentence.
Loss LargestCause(const Measurement& measurement, const Class& found) {
  const auto [largest, saving] = LargestBy(measurement.verdicts, [&](const VerdictRow& verdict) {
    const double of_verdict = verdict.saving.value_or(0);
    if (!kWorthASentence.Holds(of_verdict) || !verdict.cause.str().empty()) return 0.0;
    if (absl::c_linear_search(found.said_by, verdict.id.str())) return 0.0;
    return verdict.sentence.str() == found.Clause() ? 0 : of_verdict;
  });
  if (largest == nullptr) return {};
  std::string sentence = largest->sentence.str();
  const std::string share = HumanPercent(saving);
  if (sentence.find(share) != std::string::npos) return {sentence, saving};
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  return {sentence + fmt::format("; curing that would save {} of the core-seconds.", share), saving};
}

/// The largest part of the budget that is a loss and that the class has not named; empty where none is worth a
/// sentence.
Loss LargestPart(const Measurement& measurement, const BudgetRows& budget, const Class& found) {
  const auto [largest, share] = LargestBy(kBudgetParts, [&](const BudgetPartKind& part) {
    return part.loss.empty() || absl::c_linear_search(found.parts, part.part) ? 0 : budget.Share(part.part);
  });
  if (largest == nullptr || !kWorthASentence.Holds(share)) return {};
  std::string size = HumanPercent(share);
  if (largest->part == "blocked" || largest->part == "waiting") {
    if (const std::string where = MostWaiting(measurement, Waiting::kBlocked); !where.empty()) size += ", " + where;
  }
  return {fmt::format("The largest {} loss is {} ({}).", found.parts[0].empty() ? "avoidable" : "other", largest->loss,
                      size),
          share, largest->part};
}

/// What workers that were not there would have given, in the sentence of the verdict that has most of it.
Loss AbsentWorkers(const Measurement& measurement) {
  Loss most;
  for (const VerdictRow& verdict : measurement.verdicts) {
    for (const EvidenceRow& evidence : verdict.evidence) {
      if (evidence.key.str() != kMissingShare || evidence.value.value_or(0) <= most.share) continue;
      most = {verdict.sentence.str(), *evidence.value};
    }
  }
  return most;
}

/// What workers that vanished would have given.
Loss VanishedWorkers(const Measurement& measurement) {
  const LostWorkers lost = FindLostWorkers(measurement);
  if (lost.whole_seconds <= 0) return {};
  const double share = lost.absent_seconds / lost.whole_seconds;
  return {fmt::format("The vanished workers would have given {} of the worker-seconds.", HumanPercent(share)), share};
}

Loss LargestLoss(const Measurement& measurement, const RunEvidence& evidence, const Class& said) {
  std::vector<Loss> losses = {LargestCause(measurement, said), LargestPart(measurement, *evidence.budget, said),
                              AbsentWorkers(measurement)};
  if (evidence.state != RunState::kRunning) losses.push_back(VanishedWorkers(measurement));
  const auto [largest, share] = LargestBy(losses, &Loss::share);
  return kWorthASentence.Holds(share) ? *largest : Loss();
}

std::string AndList(const std::vector<std::string>& clauses) {
  std::string text;
  for (size_t i = 0; i < clauses.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == clauses.size() ? " and " : ", ") + clauses[i];
  }
  return text;
}

/// "; decompressing the input took 47 % of the core-seconds (wall time)", which counts as the user's code above. Empty:
/// no verdict warns of it.
std::string AlsoDecompressing(const Measurement& measurement) {
  for (const VerdictRow& verdict : measurement.verdicts) {
    const std::string sentence = verdict.sentence.str();
    if (verdict.severity == "warning" && absl::StartsWith(sentence, kDecompressing))
      return "; d" + sentence.substr(1, sentence.find(',') - 1);
  }
  return "";
}

/// How the run ended where it did not end well, and what is wrong with its results and records.
std::string Trouble(const Measurement& measurement, const RunEvidence& evidence) {
  constexpr size_t kMostClauses = 3;
  std::vector<std::string> clauses;
  const double exit_status = measurement.run.exit_status.value_or(0);
  if (const std::string last = EndNotRecorded(measurement.run); !last.empty()) {
    clauses.push_back("no end was recorded: what is known stops on " + last);
  }
  const std::string error(absl::StripSuffix(measurement.run.error.str(), "."));
  if (evidence.state == RunState::kKilled) {
    clauses.emplace_back("the run was killed");
  } else if (!error.empty()) {
    clauses.push_back("the run failed with " + error);
  } else if (exit_status != 0) {
    clauses.push_back("the command failed with " + ExitStatusWords(std::llround(exit_status)));
  }
  for (const std::string& clause : FindRunTrouble(measurement).clauses) clauses.push_back(clause);
  if (clauses.size() > kMostClauses) clauses.resize(kMostClauses);
  return AndList(clauses);
}

/// `Slurm's log has`, `the logs of HTCondor and Slurm have`. Clears `*are_batch` if any is not a batch system's.
std::string WhoseLogs(const std::string& engines, bool* are_batch) {
  std::vector<std::string> names;
  for (const std::string& text : std::vector<std::string>(absl::StrSplit(engines, ", "))) {
    const Engine* const engine = EngineNamed(text);
    names.emplace_back(engine == nullptr ? text : engine->traits.name);
    *are_batch = *are_batch && engine != nullptr && engine->traits.numbers_jobs;
  }
  return names.size() == 1 ? names.front() + "'s log has" : fmt::format("the logs of {} have", AndList(names));
}

/// For engines' logs alone: what they say of their jobs or tasks; empty: none has begun.
std::string WhatTheLogSays(const Measurement& measurement) {
  const std::string engines = measurement.run.engine.str();
  if (engines.empty()) return "";
  bool are_batch = true;
  const std::string whose = WhoseLogs(engines, &are_batch);
  const std::optional<double> jobs = measurement.Metric("num_jobs");
  const double begun = jobs.value_or(0) - measurement.Metric("num_tasks_never_begun").value_or(0);
  const double ended = jobs.has_value() ? 0 : measurement.Metric("num_tasks").value_or(0);
  double running = 0, cpu_seconds = 0;
  bool lacks_cpu = false;
  for (const WorkerRow& worker : measurement.workers) {
    running += worker.state == "running";
    cpu_seconds += worker.engine_cpu.value_or(0);
    lacks_cpu |= !worker.engine_cpu.has_value();
  }
  std::vector<std::string> has;
  const char* const open = running == 0 || !are_batch ? ""
                           : begun == 1               ? " (it has not ended)"
                                                      : " (not all have ended)";
  if (begun > 0) has.push_back(Counted(begun, "job", "jobs") + (begun < jobs ? " that began" : "") + open);
  if (ended > 0) has.push_back(Counted(ended, "task", "tasks") + " that ended");
  if (running > 0 && !jobs.has_value()) has.push_back(Counted(running, "worker", "workers") + " that had not left");
  if (has.empty()) return "";
  const bool is_one = begun + ended == 1;
  std::vector<std::string> used;
  if (cpu_seconds > 0) {
    used.push_back((lacks_cpu ? "at least " : "") + HumanDuration(cpu_seconds) + " of CPU");
    if (const auto efficiency = measurement.Metric("job_cpu_efficiency")) {
      used.back() += fmt::format(" ({} of {} cores' time{})", HumanPercent(*efficiency), is_one ? "its" : "their",
                                 lacks_cpu ? ", where it is known" : "");
    }
  }
  if (const std::optional<double> peak = measurement.Metric("peak_memory_bytes")) {
    used.push_back("up to " + HumanMemory(*peak) + (is_one ? " of memory" : " of memory each"));
  }
  const std::string text = fmt::format("{} {}", whose, AndList(has));
  return used.empty() ? text : text + ", which used " + AndList(used);
}

/// What is known of a command that recorded no chunk: only what its process tree used.
std::string NoChunk(const Measurement& measurement) {
  if (const std::optional<double> reported = measurement.Metric("num_chunks"); reported.value_or(0) > 0) {
    return fmt::format("no chunk was recorded; Coffea reports {}, but not where their time went",
                       Counted(*reported, "chunk", "chunks"));
  }
  if (const std::string log = WhatTheLogSays(measurement); !log.empty()) return "no chunk was recorded; " + log;
  const std::optional<double> user = measurement.Metric("tree_cpu_user");
  const std::optional<double> system = measurement.Metric("tree_cpu_system");
  const std::optional<double> efficiency = measurement.Metric("job_cpu_efficiency");
  if (!user.has_value() || !system.has_value()) return "no chunk was recorded, so nothing is known about the work";
  const double cpu = *user + *system;
  const double cores = measurement.Metric("allocated_cores").value_or(0);
  std::string text = fmt::format("no chunk was recorded; the command used {} of CPU", HumanDuration(cpu));
  if (efficiency.has_value() && cores > 0) {
    text += fmt::format(", on average {:.1f} of {}", *efficiency * cores, Counted(cores, "core", "cores"));
  }
  const double wait = measurement.Metric("tree_cpu_wait").value_or(0);
  if (RuleOf("cpu-contention").threshold.Holds(wait / (cpu + wait))) {
    text += fmt::format("; its threads waited for a CPU for {} of core time", HumanDuration(wait));
  }
  if (cpu > 0 && kMuchInKernel.Holds(*system / cpu)) {
    text += fmt::format("; {} of the CPU time was in the kernel", HumanPercent(*system / cpu));
  }
  const double written = measurement.Metric("tree_write_bytes").value_or(0);
  if (kMuchInput.Holds(written)) text += fmt::format("; it wrote {}", HumanData(written));
  return text;
}

/// What of the results is fine: that none is missing. Empty where that is not known, or one may be.
std::string ResultsAreThere(const Measurement& measurement, const RunEvidence& evidence) {
  const double exit_status = measurement.run.exit_status.value_or(0);
  if (evidence.state != RunState::kFinished || exit_status != 0 || measurement.run.state == "failed") return "";
  const RunTrouble trouble = FindRunTrouble(measurement);
  const double chunks = measurement.Metric("num_chunks").value_or(0);
  if (trouble.results_may_lack || chunks <= 0 || measurement.Metric("num_unfinished_chunks") != 0) return "";
  // What ended without a report may have been killed before it began others.
  const std::string_view which = measurement.quality.processes_unreported.value_or(0) > 0 ? " that began" : "";
  if (chunks == 1) return fmt::format("the chunk{} has its result", which);
  return fmt::format("all {} chunks{} have results", HumanCount(chunks), which);
}

/// `A is slow; all is there.`
std::string WithWhatIsFine(std::string sentence, const std::string& fine) {
  if (fine.empty()) return sentence;
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  return sentence + "; " + fine + ".";
}

/// One sentence on a run of which little is known; empty where enough is.
std::string LittleIsKnown(const Measurement& measurement, const RunEvidence& evidence) {
  if (evidence.attempts == 0 && evidence.ended == 0) return NoChunk(measurement);
  if (evidence.ended == 0) {
    return fmt::format("no chunk ended, {} begun", HumanCount(evidence.attempts)) +
           (evidence.lost > 0 ? fmt::format(" and {} lost with their process", HumanCount(evidence.lost)) : "");
  }
  if (evidence.IsEnough()) return "";
  if (evidence.LacksCpuTime(measurement)) {
    return "where the core-seconds went is not known, because the records of chunks have no CPU time";
  }
  if (!evidence.budget.has_value()) {
    return fmt::format("too little was measured to judge ({})", measurement.WhyNotMeasured("core_seconds"));
  }
  return fmt::format("too little was measured to judge: {} ended in {}, {} of it CPU in your code",
                     evidence.ended == measurement.Metric("num_chunks")
                         ? Counted(evidence.ended, "chunk", "chunks")
                         : Counted(evidence.ended, "attempt", "attempts"),
                     CoreTime(evidence.budget->core_seconds), HumanPercent(evidence.budget->Share("compute")));
}

}  // namespace

std::vector<NamedLoss> LossesOfBudget(const Measurement& measurement, const BudgetRows& budget) {
  const Class found = WhereTheTimeWent(measurement, budget);
  std::vector<NamedLoss> losses;
  if (!found.parts[0].empty()) {
    NamedLoss& loss = losses.emplace_back(NamedLoss{found.Clause(), 0, {}, true, {}});
    for (const std::string_view part : found.parts) {
      if (part.empty()) continue;
      loss.parts.push_back(part);
      loss.share += budget.Share(part);
    }
  }
  for (const Class& named : {found, Class()}) {  // where there is trouble, the headline names no class
    const Loss loss = LargestPart(measurement, budget, named);
    if (loss.share > 0) losses.push_back({loss.sentence, loss.share, {loss.part}, false, named.said_by});
  }
  return losses;
}

std::string Headline(const Measurement& measurement) {
  const RunEvidence evidence = ReadRunEvidence(measurement);
  const std::string so_far = evidence.state == RunState::kRunning ? "still running; so far " : "";
  const std::string trouble = Trouble(measurement, evidence);
  const std::string before = trouble.empty() ? "" : AsSentence(so_far + trouble) + " ";
  const std::string little = LittleIsKnown(measurement, evidence);
  if (!little.empty()) return before + AsSentence(trouble.empty() ? so_far + little : little);
  const Class found = WhereTheTimeWent(measurement, *evidence.budget);
  const std::string where = found.sentence + AlsoDecompressing(measurement);
  const bool names_a_loss = !found.parts[0].empty();
  const std::string no_loss =
      names_a_loss ? "" : fmt::format("o avoidable loss reaches {}", HumanPercent(kWorthASentence.value, 0));
  const std::string fine = ResultsAreThere(measurement, evidence);
  if (!trouble.empty()) {
    const Loss loss = LargestLoss(measurement, evidence, {});
    if (loss.share > 0) return before + WithWhatIsFine(loss.sentence, fine);
    return before + WithWhatIsFine(AsSentence(where + (names_a_loss ? "" : "; n" + no_loss)), fine);
  }
  const Loss loss = LargestLoss(measurement, evidence, found);
  const std::string first = AsSentence(so_far + where);
  if (loss.share > 0) return first + " " + WithWhatIsFine(loss.sentence, fine);
  return names_a_loss ? WithWhatIsFine(first, fine) : first + " " + WithWhatIsFine("N" + no_loss + ".", fine);
}

}  // namespace crema
