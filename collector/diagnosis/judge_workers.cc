// Verdicts on workers: their memory, and when they came; then failures, and events that go from thread to thread.

#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/text.h"
#include "collector/metrics/statistics/bounded_names.h"

namespace crema {
namespace {

constexpr double kMinute = 60;

/// `; at its end it gained 270 MB a minute, and was 90.0 s from its limit`; empty where its memory did not grow at
/// last.
std::string HowSoonAtLimit(const JudgedRun& run, const WorkerRow& worker) {
  const auto limit = static_cast<int64_t>(worker.memory_limit_bytes.value_or(0));
  const std::vector<MemoryPoint> memory = LastMemoryOf(run.measurement, worker.name.str());
  const std::optional<double> growth = GrowthOf(memory, limit);
  if (!growth.has_value()) return "";
  return fmt::format("; {} {} a minute, and {} {} from it", run.is_running() ? "it gains" : "at its end it gained",
                     HumanMemory(kMinute * *growth), run.is_running() ? "is" : "was",
                     HumanDuration(*SecondsToLimit(memory, limit)));
}

void JudgePressure(const JudgedRun& run) {
  const std::optional<double> used = run.measurement.Metric("memory_utilization_max");
  if (!used.has_value()) return;
  const KeyFigureBand band = MemoryBand(run.measurement.run.engine.str());
  if (!From(band.good).Holds(*used)) return;
  const auto share_of_limit = [](const WorkerRow& row) {
    const double limit = row.memory_limit_bytes.value_or(0);
    return limit > 0 ? row.peak_memory_bytes.value_or(0) / limit : 0;
  };
  const WorkerRow* worker = LargestBy(run.measurement.workers, share_of_limit).first;
  const std::string name = worker == nullptr ? "" : worker->name.str();
  // what it used after its last sample is not known
  const bool is_lost = worker != nullptr && worker->state == "lost";
  Verdict& verdict = run.Add("memory-pressure", 0,
                             fmt::format("{} used {}{} of its memory limit{}.",
                                         name.empty() ? "A worker" : ShortName(name), is_lost ? "at least " : "",
                                         HumanPercent(*used), worker == nullptr ? "" : HowSoonAtLimit(run, *worker)),
                             {{"memory_utilization_max", *used}});
  if (From(band.bad).Holds(*used)) verdict.severity = Severity::kBad;
}

void JudgeGrowth(const JudgedRun& run) {
  const std::optional<double> low = run.measurement.Metric("rss_slope_low");
  const std::optional<double> slope = run.measurement.Metric("rss_slope");
  if (!low.has_value() || !slope.has_value() || *low <= 0) return;
  double events = 0;
  double memory = 0;
  for (const WorkerRow& worker : run.measurement.workers) {
    events = std::max(events, worker.events.value_or(0));
    const double peak = worker.peak_memory_bytes.value_or(0);
    memory = std::max(memory, worker.memory_limit_bytes.value_or(peak));
  }
  // what the lower end of the interval adds over the events of the busiest worker
  constexpr double kEventsOfSlope = 1000;
  const double growth = *low / kEventsOfSlope * events;
  if (memory <= 0 || !run.Holds("memory-growth", growth / memory)) return;
  run.Add("memory-growth", growth / memory,
          fmt::format("Memory grows by {} with every 1 000 events, and does not come back.", HumanMemory(*slope)),
          {{"rss_slope", *slope}, {"rss_slope_low", *low}, {"workers.events", events}});
}

void JudgeLeaks(const JudgedRun& run) {
  const double most_live = run.Metric("peak_live_bytes");
  const auto [worst, worst_growth] = LargestBy(run.measurement.sections, [&](const SectionRow& row) {
    const double growth = row.live_growth_bytes.value_or(0);
    const double chunks = row.chunks.value_or(row.count.value_or(0));
    if (most_live <= 0 || !kMuchKept.Holds(growth) || !run.Holds("leaking-section", growth / most_live)) return 0.0;
    return kChunksOfLeak.Holds(chunks) ? growth : 0;
  });
  if (worst == nullptr) return;
  const std::string path = worst->path.str();
  run.Add("leaking-section", worst_growth / most_live,
          fmt::format("{} keeps memory from chunk to chunk: {} more is live at the end than half-way.",
                      path == kOtherName ? "Code of chunks outside every section" : "Section " + ShortName(path),
                      HumanMemory(worst_growth)),
          {{"sections.live_growth_bytes", worst_growth},
           {"sections.live_bytes", worst->live_bytes.value_or(0)},
           {"peak_live_bytes", most_live}});
}

/// Waiting for workers: the worker-seconds that were missing until nearly all were there.
struct Lag {
  double seconds = 0;          ///< until then
  double missing = 0;          ///< of the most workers over the whole run
  double missing_seconds = 0;  ///< of workers
  double most = 0;
};

/// The largest number of workers that were there for a tenth of the run: where one pool replaces another, both are
/// there for a moment.
double MostForLong(const std::vector<TimelinePoint>& counts, double wall) {
  std::map<double, double, std::greater<>> seconds;  // by number
  for (size_t i = 0; i < counts.size(); ++i) {
    const double until = i + 1 < counts.size() ? counts[i + 1].seconds : wall;
    if (counts[i].value > 0) seconds[counts[i].value] += std::max(0.0, until - counts[i].seconds);
  }
  double sum = 0;
  for (const auto& [count, of_count] : seconds) {
    if (kLongEnough.Holds((sum += of_count) / wall)) return count;
  }
  return 0;
}

Lag FindLag(const Measurement& measurement) {
  Lag lag;
  const double wall = measurement.Metric("wall_time").value_or(0);
  lag.most = MostForLong(measurement.timelines.worker_counts, wall);
  if (wall <= 0 || lag.most <= 0) return lag;
  double before = 0;
  double workers = 0;
  double missing = 0;
  for (const TimelinePoint& point : measurement.timelines.worker_counts) {
    const double seconds = std::clamp(point.seconds, 0.0, wall);
    missing += std::max(0.0, lag.most - workers) * (seconds - before);
    before = seconds;
    workers = std::isnan(point.value) ? 0 : point.value;
    if (!kNearlyAllWorkers.Holds(workers / lag.most)) continue;
    lag.seconds = seconds;
    lag.missing_seconds = missing;
    lag.missing = missing / (lag.most * wall);
    break;
  }
  return lag;
}

void JudgeAbsence(const JudgedRun& run, double from) {
  const double wall = run.Metric("wall_time");
  const std::vector<WorkerGap> gaps = GapsOfWorkers(run.measurement, from);
  const double seconds = SumOf<double>(gaps, &WorkerGap::seconds);
  const double share = wall > 0 ? seconds / wall : 0;
  if (!kLongAbsence.Holds(seconds) || !run.Holds("no-workers", share)) return;
  const WorkerGap& longest =
      *absl::c_max_element(gaps, [](const WorkerGap& a, const WorkerGap& b) { return a.seconds() < b.seconds(); });
  const std::string when = from > 0 ? fmt::format("After {}, no worker", HumanDuration(from)) : "No worker";
  run.Add("no-workers", share,
          fmt::format("{} lived for {} of {} ({}); the core-seconds do not include this time{}.", when,
                      HumanDuration(seconds), HumanDuration(wall), HumanPercent(share),
                      OthersBusy(run.measurement, longest.from, longest.until, longest.seconds())),
          {{"timelines.worker_counts.seconds", seconds}, {std::string(kMissingShare), share}});
}

void JudgeScaling(const JudgedRun& run) {
  const Lag lag = FindLag(run.measurement);
  const bool is_late = kSeveral.Holds(lag.most) && kLongLag.Holds(lag.seconds) && run.Holds("scaling-lag", lag.missing);
  JudgeAbsence(run, is_late ? lag.seconds : 0);
  if (!is_late) return;
  run.Add("scaling-lag", lag.missing,
          fmt::format("It took {} until nearly all of the {} workers were there; {} of what they could have done is "
                      "missing.",
                      HumanDuration(lag.seconds), HumanCount(lag.most), HumanPercent(lag.missing)),
          {{"timelines.worker_counts.workers", lag.most},
           {"timelines.worker_counts.seconds", lag.seconds},
           {"workers.missing_seconds", lag.missing_seconds},
           {std::string(kMissingShare), lag.missing}});
}

/// When workers ran out of chunks, one after another.
struct RunningOut {
  double most = 0;   ///< workers between their first and last chunk at once
  double saved = 0;  ///< seconds that the run would have been shorter, had they shared the rest
  double alone = 0;  ///< seconds for which only `last` had one
  std::string last;
};

RunningOut FindRunningOut(const Measurement& measurement) {
  RunningOut found;
  struct Change {
    double at, more;  // workers more or fewer
    bool retires;
  };
  std::vector<Change> changes;
  double last = 0, before_last = 0;
  for (const WorkerRow& worker : measurement.workers) {
    if (!worker.first_chunk.has_value() || !worker.last_chunk.has_value() || worker.state == "lost") continue;
    changes.push_back({*worker.first_chunk, 1, false});
    changes.push_back({*worker.last_chunk, -1, worker.left_reason == "retired"});
    before_last = std::max(before_last, std::min(last, *worker.last_chunk));
    if (*worker.last_chunk > last) found.last = worker.name.str();
    last = std::max(last, *worker.last_chunk);
  }
  SortBy(&changes, [](const Change& change) { return std::pair(change.at, change.more); });
  double active = 0;
  for (const Change& change : changes) found.most = std::max(found.most, active += change.more);
  double from = 0, present = found.most;  // workers that could have chunks: one that was retired can have no more
  for (const Change& change : changes) {
    const bool is_shared = present <= 0 || kNearlyAllWorkers.Holds(active / present);
    if (is_shared) found.saved = 0;
    if (!is_shared && active > 0) found.saved += (change.at - from) * (1 - active / present);
    from = change.at;
    active += change.more;
    if (change.retires) present -= 1;
    if (change.more > 0) present = std::min(present + 1, found.most);
    present = std::max(present, active);
  }
  found.alone = last - before_last;
  return found;
}

void JudgeLastWorker(const JudgedRun& run) {
  const double wall = run.Metric("wall_time");
  const RunningOut found = FindRunningOut(run.measurement);
  if (run.is_running() || wall <= 0 || !kSeveral.Holds(found.most) || !run.Holds("last-worker", found.saved / wall))
    return;
  std::string sentence = fmt::format(
      "Workers ran out of chunks at different times: sharing the rest would have saved up to {} of {}, if it did not "
      "need their results.",
      HumanDuration(found.saved), HumanDuration(wall));
  if (kMostOfIt.Holds(found.alone / found.saved)) {
    sentence = fmt::format("For {} of {} the run waited for {} alone: all others had ended their last chunks.",
                           HumanDuration(found.alone), HumanDuration(wall), ShortName(found.last));
  }
  run.Add("last-worker", found.saved / wall, sentence,
          // of the elapsed time, not of the core-seconds
          {{"workers.last_chunk.saved_seconds", found.saved}, {"workers.last_chunk.alone_seconds", found.alone}});
}

}  // namespace

void JudgeWorkers(const JudgedRun& run) {
  JudgePressure(run);
  JudgeGrowth(run);
  JudgeLeaks(run);
  JudgeScaling(run);
  JudgeLastWorker(run);
}

// Verdicts on chunks and workers that came to nothing.

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

void JudgeState(const JudgedRun& run) {
  const RunFacts& facts = run.measurement.run;
  const StateInWords state = StateOf(run.measurement);
  if (state.ending != RunEnding::kFailed) return;
  const std::string why = facts.error.empty() ? state.text : facts.error.str();
  Verdict& verdict =
      run.Add("failed-run", 1, fmt::format("The run failed: {}{}", why, EndsWith(why, ".") ? "" : "."), {});
  if (facts.exit_status.has_value()) verdict.evidence.emplace_back("run.exit_status", *facts.exit_status);
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
  run.Add(rule.id, missing ? rule.threshold.bad : share, sentence,
          {{"num_failed_attempts", failed},
           {"num_lost_attempts", evidence.lost},
           {"num_attempts", evidence.attempts},
           {"num_unfinished_chunks", without_result}},
          // Part of the budget is what repeats of results took.
          evidence.budget.has_value() && run.Metric("num_recomputed_chunks") <= 0
              ? std::optional(evidence.budget->Share("failed"))
              : std::nullopt);
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
  run.Add(rule.id, without_chunk > 0 ? rule.threshold.bad : 0, sentence,
          {{"num_failed_tasks", failed}, {"num_failed_tasks_without_chunk", without_chunk}, {"num_tasks", tasks}});
}

void JudgeLostWorkers(const JudgedRun& run) {
  const LostWorkers lost = FindLostWorkers(run.measurement);
  const auto count = static_cast<double>(lost.names.size());
  if (!run.Holds("worker-loss", count)) return;
  std::string sentence = fmt::format("{} of {} vanished without an end ({}): {}", HumanCount(count),
                                     Counted(lost.workers, "worker", "workers"), lost.Names(), lost.Why());
  if (lost.absent_seconds > 0 && !run.is_running()) {
    sentence += fmt::format("; {} of the worker-seconds that the run could have had are missing",
                            HumanPercent(lost.absent_seconds / lost.whole_seconds));
  }
  if (lost.uncertain_chunks > 0) {
    const double events = run.Metric("total_events");
    sentence += fmt::format("; {} had ended there, and crema does not know whether their results were used",
                            Counted(lost.uncertain_chunks, "chunk", "chunks"));
    if (const std::string range = RangeOfResults(lost, events); !range.empty()) {
      sentence += ": the results are of " + range;
    }
  }
  run.Add("worker-loss", count, sentence + ".",
          {{"workers.lost", count},
           {"num_lost_attempts", run.evidence.lost},
           {"workers.absent_seconds", lost.absent_seconds},
           {"workers.uncertain_chunks", lost.uncertain_chunks},
           {"workers.uncertain_events", lost.uncertain_events}});
  if (run.measurement.run.engine.has_value() || lost.workers > 1) return;
  run.verdicts->back().suggestion =
      "crema show --table chunks --failed lists chunks that were open. The program's last messages, a core file or a "
      "debugger show where it ended.";
}

}  // namespace

void JudgeFailures(const JudgedRun& run) {
  JudgeState(run);
  JudgeAttempts(run);
  JudgeFailedTasks(run);
  JudgeLostWorkers(run);
}

// Verdicts on events that go from thread to thread.

TaskTotals TotalsOf(const Measurement& measurement) {
  TaskTotals all;
  all.cores = measurement.Metric("total_cores");
  for (const EventLatencyRow& row : measurement.events) {
    const double latency = row.latency_seconds.value_or(0);
    all.events += row.events.value_or(0);
    all.events_per_second += row.events_per_second.value_or(0);
    all.in_flight += row.in_flight.value_or(0);
    all.latency += latency;
    all.active += row.active_seconds.value_or(0);
    all.queued += row.queued_seconds.value_or(0);
    all.external += row.external_seconds.value_or(0);
    all.rest += row.rest_seconds.value_or(0);
    all.not_divided += row.not_divided.value_or(0);
    if (latency > 0) all.lanes += row.in_flight.value_or(0) * row.work_seconds.value_or(0) / latency;
  }
  for (const ModuleRow& row : measurement.modules) {
    if (row.operation.has_value()) continue;
    all.own += row.own_seconds.value_or(0);
    all.cpu += row.cpu_seconds.value_or(0);
    all.stolen += row.stolen_seconds.value_or(0);
    all.calls += row.calls.value_or(0);
    all.marked_calls += row.queued_calls.value_or(0);
  }
  return all;
}

namespace {

void JudgeSerial(const JudgedRun& run, const TaskTotals& all) {
  const auto [worst, most] = LargestBy(run.measurement.modules, [&](const ModuleRow& row) {
    if (row.at_once.value_or(0) != 1 || row.ceiling.value_or(0) <= 0) return 0.0;
    if (!kEventsQueueBehind.Holds(row.behind_seconds.value_or(0) / all.latency)) return 0.0;
    return all.events_per_second * row.calls.value_or(0) / all.events / *row.ceiling;
  });
  if (worst == nullptr || !run.Holds("serial-module", most)) return;
  const double behind = worst->behind_seconds.value_or(0);
  run.Add("serial-module", most,
          fmt::format("{} runs one at a time, for {} of the run: at most {} calls/s, whatever the cores. Events were "
                      "queued behind it for {} of their latency.",
                      ShortName(worst->module.str()), HumanPercent(std::min(most, 1.0)),
                      HumanCount(worst->ceiling.value_or(0)), HumanPercent(behind / all.latency)),
          {{"modules.ceiling", worst->ceiling.value_or(0)},
           {"modules.union_seconds", worst->union_seconds.value_or(0)},
           {"modules.behind_seconds", behind}});
}

void JudgeExternal(const JudgedRun& run, const TaskTotals& all) {
  const double share = all.external / all.latency;
  if (!run.Holds("external-work", share) || !kFreeForEvents.Holds(all.Free())) return;
  const double needed = all.lanes > 0 ? *all.cores / all.lanes * all.in_flight * (1 - all.queued / all.latency) : 0;
  run.Add("external-work", share,
          fmt::format("Events waited for requests for {} of their latency, and {} of the cores ran no task. With {} "
                      "events open at once{}, all cores would have work, if the servers keep up.",
                      HumanPercent(share), HumanPercent(all.Free()), HumanCount(std::max(needed, all.in_flight)),
                      fmt::format(" instead of {:.1f}", all.in_flight)),
          {{"events.external_seconds", all.external},
           {"events.latency_seconds", all.latency},
           {"events.in_flight", all.in_flight}});
}

void JudgeStolen(const JudgedRun& run, const TaskTotals& all) {
  const double share = all.own > 0 ? all.stolen / all.own : 0;
  if (!run.Holds("stolen-work", share)) return;
  const auto [worst, longest] =
      LargestBy(run.measurement.modules, [](const ModuleRow& row) { return row.stolen_seconds.value_or(0); });
  run.Add("stolen-work", share,
          fmt::format("While tasks waited, their threads ran other tasks inside them for {}, most of all inside {} "
                      "({}).",
                      HumanDuration(all.stolen), ShortName(worst->module.str()), HumanDuration(longest)),
          {{"modules.stolen_seconds", all.stolen}, {"modules.own_seconds", all.own}});
}

void JudgeRest(const JudgedRun& run, const TaskTotals& all) {
  const double share = all.rest / all.latency;
  if (!run.Holds("nothing-ready", share) || !kFreeForEvents.Holds(all.Free())) return;
  if (all.calls <= 0 || !kMostAreMarked.Holds(all.marked_calls / all.calls)) return;
  run.Add("nothing-ready", share,
          fmt::format("For {} of their latency, events had no task at work or ready and no request open, and {} of the "
                      "cores ran no task.",
                      HumanPercent(share), HumanPercent(all.Free())),
          {{"events.rest_seconds", all.rest}, {"events.latency_seconds", all.latency}});
}

}  // namespace

void JudgeTasks(const JudgedRun& run) {
  const TaskTotals all = TotalsOf(run.measurement);
  if (all.events <= 0 || all.latency <= 0) return;
  JudgeSerial(run, all);
  JudgeExternal(run, all);
  JudgeStolen(run, all);
  JudgeRest(run, all);
}

}  // namespace crema
