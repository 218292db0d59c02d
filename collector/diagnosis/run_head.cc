#include "collector/diagnosis/run_head.h"

#include "absl/time/time.h"
#include "collector/diagnosis/evidence.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"
#include "collector/records/facts.h"

namespace crema {
namespace {

void Add(RunTrouble& trouble, Mark mark, std::string clause, std::string brief) {
  if (trouble.brief.empty()) trouble.brief = std::move(brief);
  trouble.clauses.push_back(std::move(clause));
  if (mark == Mark::kBad || trouble.mark == Mark::kGood) trouble.mark = mark;
}

void AddMissingResults(const Measurement& measurement, RunTrouble& trouble) {
  const double unfinished = measurement.Metric("num_unfinished_chunks").value_or(0);
  if (unfinished <= 0) return;
  const double all = measurement.Metric("num_chunks").value_or(0) + unfinished;
  trouble.results_may_lack = true;
  Add(trouble, Mark::kBad,
      fmt::format("{} of {} {} no result", HumanCount(unfinished), Counted(all, "chunk", "chunks"),
                  unfinished == 1 ? "has" : "have"),
      Counted(unfinished, "chunk", "chunks") + " without a result");
}

/// By the engine's own log, without the tasks whose chunks are named as lost or as without a result.
void AddFailedTasks(const Measurement& measurement, RunTrouble& trouble) {
  const double failed = measurement.Metric("num_failed_tasks").value_or(0);
  if (failed <= 0) return;
  const double without_chunk = measurement.Metric("num_failed_tasks_without_chunk").value_or(0);
  const double named = std::max(measurement.Metric("num_unfinished_chunks").value_or(0),
                                measurement.Metric("num_lost_attempts").value_or(0));
  const double shown = failed - without_chunk > named ? failed : without_chunk;
  trouble.results_may_lack = true;
  if (shown <= 0) return;
  std::string clause = fmt::format("{} of {} failed", HumanCount(shown),
                                   Counted(measurement.Metric("num_tasks").value_or(failed), "task", "tasks"));
  if (shown == without_chunk) {
    clause += " without a recorded chunk";
  } else if (without_chunk > 0) {
    clause += fmt::format(", {} without a recorded chunk", HumanCount(without_chunk));
  }
  Add(trouble, without_chunk > 0 ? Mark::kBad : Mark::kWatch, std::move(clause),
      Counted(shown, "task", "tasks") + " failed");
}

void AddLostWorkers(const Measurement& measurement, RunTrouble& trouble) {
  const LostWorkers lost = FindLostWorkers(measurement);
  if (!lost.any()) return;
  const auto count = static_cast<double>(lost.names.size());
  trouble.results_may_lack |= lost.uncertain_chunks > 0;
  std::string clause = fmt::format("{} of {} vanished ({})", HumanCount(count),
                                   Counted(lost.workers, "worker", "workers"), lost.Names());
  if (lost.uncertain_chunks > 0) {
    clause += fmt::format(" after {} whose results may be lost too",
                          Counted(lost.uncertain_chunks, "ended chunk", "ended chunks"));
  }
  Add(trouble, lost.uncertain_chunks > 0 ? Mark::kBad : Mark::kWatch, std::move(clause),
      Counted(count, "worker", "workers") + " lost");
}

/// By a batch system's log: jobs of which nothing ran, and those that their user ended.
void AddJobsWithoutWork(const Measurement& measurement, RunTrouble& trouble) {
  const double never_began = measurement.Metric("num_tasks_never_begun").value_or(0);
  const double removed = measurement.Metric("num_tasks_removed").value_or(0);
  const auto of_all = [&measurement](double jobs) {
    const std::optional<double> all = measurement.Metric("num_jobs");
    return all.has_value() ? fmt::format("{} of {}", HumanCount(jobs), Counted(*all, "job", "jobs"))
                           : Counted(jobs, "job", "jobs");
  };
  if (never_began > 0) {
    const std::vector<NeverBegunRow>& reasons = measurement.run.never_began;
    const auto most = absl::c_max_element(
        reasons, [](const NeverBegunRow& one, const NeverBegunRow& other) { return one.jobs < other.jobs; });
    std::string why = most == reasons.end() ? "" : most->reason.str();
    if (reasons.size() > 1) why = fmt::format("{} of them {}", HumanCount(*most->jobs), why);
    Add(trouble, Mark::kWatch, fmt::format("{} never began ({})", of_all(never_began), why),
        Counted(never_began, "job", "jobs") + " never began");
  }
  if (removed > 0) {
    Add(trouble, Mark::kWatch,
        of_all(removed) + (removed == 1 ? " was removed by its user" : " were removed by their user"),
        Counted(removed, "job", "jobs") + " removed");
  }
}

void AddIncompleteRecords(const Measurement& measurement, RunTrouble& trouble) {
  const Quality& quality = measurement.quality;
  const std::optional<double> coverage = quality.event_coverage;
  // What a misused guard was given is missing; the record of its chunk is there.
  const double misused = quality.guards_misused.value_or(0);
  const double dropped = std::max(0.0, quality.records_dropped.value_or(0) - misused);
  trouble.results_may_lack |= coverage.value_or(1) < 1 || dropped > 0;
  const double read = quality.records_read.value_or(0);
  if (coverage.has_value() && MarkOf(KeyFigure::kEventCoverage, *coverage) != Mark::kGood) {
    Add(trouble, MarkOf(KeyFigure::kEventCoverage, *coverage),
        fmt::format("the records hold only {} of the events", HumanPercent(*coverage)), "records incomplete");
  } else if (dropped > 0 && MarkOf(KeyFigure::kDroppedRecords, dropped / (dropped + read)) == Mark::kBad) {
    Add(trouble, Mark::kWatch, Counted(dropped, "record was", "records were") + " lost", "records incomplete");
  }
  if (misused > 0) {
    Add(trouble, Mark::kWatch,
        Counted(misused, "guard was", "guards were") +
            " not used as they should be (a line on the program's standard error names the first)",
        Counted(misused, "guard", "guards") + " misused");
  }
  constexpr std::tuple<Number Quality::*, const char*, const char*> kLogs[] = {
      {&Quality::logs_missing, "is gone since the measurement was made", "are gone since the measurement was made"},
      {&Quality::logs_left_out, "was left out", "were left out"},
      {&Quality::logs_damaged, "is damaged", "are damaged"},
  };
  for (const auto& [member, one, many] : kLogs) {
    const double logs = (quality.*member).value_or(0);
    if (logs == 0) continue;
    trouble.results_may_lack = true;
    Add(trouble, Mark::kWatch, fmt::format("{} {}", Counted(logs, "log", "logs"), logs == 1 ? one : many),
        "records incomplete");
  }
  if (const double lost = quality.records_lost.value_or(0); lost > 0) {
    trouble.results_may_lack = true;
    Add(trouble, Mark::kWatch,
        lost == 1 ? "the record of 1 ended chunk is lost"
                  : fmt::format("the records of {} ended chunks are lost", HumanCount(lost)),
        "records incomplete");
  }
}

std::string UtcTime(double unix_ns, const char* format) {
  return absl::FormatTime(format, absl::UnixEpoch() + absl::Nanoseconds(unix_ns), absl::UTCTimeZone());
}

struct Count {
  Number Quality::*member;
  std::string_view one;
  std::string_view many;
  bool is_shown_at_zero;
};

constexpr Count kCounts[] = {
    {&Quality::records_dropped, "record dropped", "records dropped", true},
    {&Quality::guards_misused, "of these a misused guard", "of these misused guards", false},
    {&Quality::records_unwritten, "of these a line that was not written", "of these lines that were not written",
     false},
    {&Quality::values_outside_chunks, "of these a value outside chunks", "of these values outside chunks", false},
    {&Quality::records_lost, "record of an ended chunk lost", "records of ended chunks lost", false},
    {&Quality::logs_left_out, "log left out", "logs left out", false},
    {&Quality::logs_damaged, "damaged log", "damaged logs", false},
    {&Quality::logs_missing, "log missing", "logs missing", false},
    {&Quality::records_malformed, "malformed line", "malformed lines", true},
    {&Quality::records_torn, "torn line", "torn lines", false},
    {&Quality::records_unknown, "line of unknown type", "lines of unknown type", false},
    {&Quality::summed_chunks, "chunk summed, totals exact", "chunks summed, totals exact", false},
    {&Quality::tasks_left_out, "task left out", "tasks left out", false},
    {&Quality::lost_samples, "sample of stacks lost", "samples of stacks lost", false},
    {&Quality::sections_dropped, "section dropped", "sections dropped", false},
    {&Quality::chunks_without_events, "chunk without events", "chunks without events", false},
    {&Quality::processes_lost, "process lost", "processes lost", true},
    {&Quality::processes_unreported, "process ended without a report", "processes ended without a report", false},
    {&Quality::chunks_unjoined, "chunk without a task", "chunks without a task", false},
    {&Quality::workers_unseen, "worker unseen", "workers unseen", false},
    {&Quality::processes_left_running, "process left running", "processes left running", false},
};

Mark MarkOfCount(const Measurement& measurement, const Count& count, double number) {
  // the last line of a running job is read while it is being written
  const bool is_running = measurement.run.state.str() == "running";
  if (number == 0 || (is_running && count.member == &Quality::records_torn)) return Mark::kGood;
  if (count.member == &Quality::processes_unreported) return Mark::kGood;  // no chunk lacks
  if (count.member != &Quality::records_dropped) return Mark::kWatch;
  const double read = measurement.quality.records_read.value_or(0);
  return MarkOf(KeyFigure::kDroppedRecords, number / (number + read));
}

}  // namespace

RunTrouble FindRunTrouble(const Measurement& measurement) {
  RunTrouble trouble;
  const bool is_running = ReadRunEvidence(measurement).state == RunState::kRunning;
  if (!is_running) AddMissingResults(measurement, trouble);
  AddFailedTasks(measurement, trouble);
  AddLostWorkers(measurement, trouble);
  AddJobsWithoutWork(measurement, trouble);
  if (!is_running) AddIncompleteRecords(measurement, trouble);
  return trouble;
}

std::string RunName(const Measurement& measurement) {
  const RunFacts& run = measurement.run;
  if (!run.name.empty()) return run.name;
  return run.id.empty() ? "unnamed run" : run.id.str();
}

std::string OnWhat(const Measurement& measurement) {
  const std::optional<double> workers = measurement.Metric("peak_workers");
  const std::optional<double> cores = measurement.Metric("cores_per_worker");
  if (!workers.has_value()) return "";
  std::string text = Counted(*workers, "worker", "workers");
  if (cores.has_value()) text += " × " + Counted(*cores, "core", "cores");
  const size_t hosts = measurement.hosts.size();
  if (hosts > 0) text += " on " + Counted(static_cast<double>(hosts), "host", "hosts");
  return text;
}

std::optional<RunTimes> TimesOf(const RunFacts& run, const DayStyle& style) {
  const Number &start = run.start_ns, &stop = run.stop_ns;
  if (!start.has_value()) return std::nullopt;
  const std::string day = UtcTime(*start, style.day);
  RunTimes times = {day + style.before_time + UtcTime(*start, "%H:%M:%S"), "", UtcTime(*start, "%Y-%m-%dT%H:%M:%SZ")};
  if (stop.has_value() && run.state.str() != "running") {
    const std::string last_day = UtcTime(*stop, style.day);
    times.stop = (last_day == day ? "" : last_day + style.before_time) + UtcTime(*stop, "%H:%M:%S");
  }
  return times;
}

std::string EndNotRecorded(const RunFacts& run) {
  if (run.state.has_value() || !run.stop_ns.has_value()) return "";
  return UtcTime(*run.stop_ns, "%Y-%m-%d %H:%M UTC");
}

StateInWords StateOf(const Measurement& measurement) {
  const RunFacts& run = measurement.run;
  const std::string state = run.state.str();
  const double exit_status = run.exit_status.value_or(0);
  if (state == "killed") return {RunEnding::kKilled, "killed", Mark::kBad};
  if (state == "running") return {RunEnding::kRunning, "running", std::nullopt};
  if (state == "failed") return {RunEnding::kFailed, "failed", Mark::kBad};
  if (exit_status != 0) return {RunEnding::kFailed, ExitStatusWords(std::llround(exit_status)), Mark::kBad};
  if (!EndNotRecorded(run).empty()) return {RunEnding::kUnknown, "without an end", Mark::kWatch};
  const RunTrouble trouble = FindRunTrouble(measurement);
  if (state != "finished") {
    return trouble.any() ? StateInWords{RunEnding::kUnknown, trouble.brief, trouble.mark} : StateInWords();
  }
  return {RunEnding::kFinished, trouble.any() ? "finished, " + trouble.brief : "finished", trouble.mark};
}

std::string WhyNotWhole(const Measurement& measurement) {
  const StateInWords state = StateOf(measurement);
  if (state.ending == RunEnding::kRunning) return "it has not ended";
  if (state.ending == RunEnding::kKilled) return "it was killed";
  if (state.ending == RunEnding::kFailed) {
    return "it failed: " + (measurement.run.error.empty() ? state.text : measurement.run.error.str());
  }
  return EndNotRecorded(measurement.run).empty() ? "" : "no end was recorded";
}

std::vector<UnmeasuredFigures> FindUnmeasured(const Measurement& measurement) {
  std::vector<UnmeasuredFigures> found;
  std::map<std::string, size_t> of_reason;
  for (const MetricDefinition& definition : MetricCatalog()) {
    for (const std::string& key : {definition.key, definition.alias}) {
      const std::string reason(measurement.metrics.Reason(key));
      if (reason.empty()) continue;
      const auto [at, is_new] = of_reason.emplace(reason, found.size());
      if (is_new) found.push_back({reason, {}});
      found[at->second].keys.push_back(key);
    }
  }
  return found;
}

std::vector<TrustItem> TrustItems(const Measurement& measurement) {
  const Quality& quality = measurement.quality;
  std::vector<TrustItem> items;
  const auto add = [&](std::string_view key, KeyFigure figure, double value, std::string before, std::string words,
                       std::string after) {
    items.push_back(
        {MarkOf(figure, value), {std::move(before), std::move(words), std::move(after), std::string(key), value}});
  };
  if (const std::optional<double> coverage = quality.event_coverage) {
    add("quality.event_coverage", KeyFigure::kEventCoverage, *coverage, "", HumanPercent(*coverage, 1),
        " of events recorded");
  }
  const Number &records = quality.records_read, &counting = quality.allocations_cost_s;
  if (records.has_value() && !(*records == 0 && IsProcessTreeOnly(measurement))) {
    items.push_back({*records > 0 ? Mark::kGood : Mark::kWatch,
                     {"", HumanCount(*records), *records == 1 ? " record read" : " records read",
                      "quality.records_read", *records}});
  }
  for (const Count& count : kCounts) {
    const Number& number = quality.*count.member;
    if (!number.has_value() || (*number == 0 && !count.is_shown_at_zero)) continue;
    items.push_back({MarkOfCount(measurement, count, *number),
                     {"", HumanCount(*number), " " + std::string(*number == 1 ? count.one : count.many),
                      "quality." + std::string(ColumnOfMember(count.member).key), *number}});
  }
  if (const std::optional<double> fine = quality.fine_metrics_coverage) {
    add("quality.fine_metrics_coverage", KeyFigure::kFineCoverage, *fine, "fine metrics cover ", HumanPercent(*fine, 1),
        " of compute time");
  }
  if (const std::optional<double> offset = quality.clock_offset_max_s) {
    add("quality.clock_offset_max_s", KeyFigure::kClockOffset, *offset, "clock offset between hosts ",
        "≤ " + HumanDuration(*offset), "");
  }
  if (const std::optional<double> step = quality.clock_step_max_s) {
    add("quality.clock_step_max_s", KeyFigure::kClockOffset, *step, *step == 0 ? "no clock step" : "clock steps ",
        *step == 0 ? "" : "≤ " + HumanDuration(*step), "");
  }
  if (const std::optional<double> cost = measurement.Metric("instrumentation_overhead")) {
    add("metrics.instrumentation_overhead", KeyFigure::kMeasuringCost, *cost, "measuring cost ", HumanPercent(*cost),
        "");
  }
  const std::optional<double> threads = TimeOfThreads(measurement);
  if (counting.has_value() && threads.value_or(0) > 0) {
    const double share = *counting / *threads;
    items.push_back({MarkOf(KeyFigure::kMeasuringCost, share),
                     {"of the busy time, counting allocations cost ", HumanPercent(share), "",
                      "quality.allocations_cost_s", *counting}});
  }
  SortLargestFirst(&items, &TrustItem::mark);
  return items;
}

}  // namespace crema
