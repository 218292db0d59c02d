#include "collector/metrics/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/measurement/quality_limits.h"
#include "collector/metrics/attempts/file_table.h"
#include "collector/metrics/attempts/input_table.h"
#include "collector/metrics/contents/activity_table.h"
#include "collector/metrics/contents/custom_metric_table.h"
#include "collector/metrics/contents/cut_table.h"
#include "collector/metrics/contents/function_table.h"
#include "collector/metrics/contents/memory_section_table.h"
#include "collector/metrics/contents/request_table.h"
#include "collector/metrics/contents/section_table.h"
#include "collector/metrics/contents/span_table.h"

namespace crema {
namespace {

// A wall clock that moved further than this makes times of different processes doubtful.
constexpr double kClockStepSeconds = 0.1;

void WarnOfOmissions(const RunFigures& figures, std::vector<std::string>& warnings) {
  const Omissions& omissions = figures.findings.omissions;
  if (omissions.section_paths > 0) {
    warnings.push_back(fmt::format("{} readings of sections beyond {} paths are part of `(other)`; use fewer names",
                                   omissions.section_paths, SectionTable::kMaxPaths));
  }
  if (omissions.memory_paths > 0) {
    warnings.push_back(
        fmt::format("{} readings of memory sections beyond {} paths are one row `(other)`; use fewer names",
                    omissions.memory_paths, MemorySectionTable::kMaxPaths));
  }
  if (omissions.metrics > 0) {
    warnings.push_back(fmt::format("{} readings of metrics beyond {} names are together in `(other)`; use fewer names",
                                   omissions.metrics, CustomMetricTable::kMaxMetrics));
  }
  if (omissions.cuts > 0) {
    warnings.push_back(fmt::format("{} readings of cuts beyond {} were left out; use fewer names", omissions.cuts,
                                   CutTable::kMaxCuts));
  }
  if (omissions.activities > 0) {
    warnings.push_back(
        fmt::format("{} readings of activities were not finite, or are in `(other)`, beyond {} rows; use fewer names",
                    omissions.activities, ActivityTable::kMaxRows));
  }
  if (omissions.requests > 0) {
    warnings.push_back(fmt::format("{} requests to storage beyond {} servers and operations are one row `(other)`",
                                   omissions.requests, RequestTable::kMaxRows));
  }
  if (omissions.functions > 0) {
    warnings.push_back(
        fmt::format("{} samples of functions beyond {} rows are one row `(other)`, so that no share is known",
                    omissions.functions, FunctionTable::kMaxRows));
  }
  if (omissions.columns) {
    warnings.push_back(fmt::format("only {} of the columns' names were kept", FileTable::kMaxColumns));
  }
  if (omissions.spans) warnings.push_back(fmt::format("only the first {} spans were kept", SpanTable::kMaxSpans));
  if (omissions.inconsistent_chunks > 0) {
    warnings.push_back(
        fmt::format("the sections of {} chunks claim more than the chunk's duration and were not used; "
                    "the writer of these records is at fault",
                    omissions.inconsistent_chunks));
  }
  if (figures.by_worker.size() > WorkerRows::kMost) {
    warnings.push_back(fmt::format("workers beyond {} are shown together as {}", WorkerRows::kMost, kOtherName));
  }
  for (const std::string& file : figures.findings.attempts.files) {
    if (file == kOtherName) {
      warnings.push_back(fmt::format(
          "files beyond {}{} are shown together as {}", InputTable::kMaxInputs,
          figures.findings.sums.chunks > 0 ? ", and some of the chunks that were summed," : "", kOtherName));
    }
  }
}

std::string_view WordsOf(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"log_share", "their lines would have taken more than a tenth of what was free on the disk"},
      {"free_space", "the disk was nearly full"},
      {"disk_full", "the disk was full, or a quota reached"},
      {"log_size", "the log came near CREMA_MAX_LOG_BYTES"},
      {"file_size", "the log came near the largest size that files may have (ulimit -f)"},
      {"asked_for", "the program asked for it (kSummed)"},
      {"write_error", "their lines could not be written"},
  };
  for (const auto& [name, words] : kWords) {
    if (name == reason) return words;
  }
  return reason.empty() ? "their process did not say why" : reason;
}

void WarnOfSums(const RunFigures& figures, std::vector<std::string>& warnings) {
  const SumsFindings& sums = figures.findings.sums;
  if (sums.chunks > 0) {
    std::vector<std::string> reasons;
    for (const auto& [reason, chunks] : sums.chunks_by_reason) {
      reasons.push_back(sums.chunks_by_reason.size() == 1 ? std::string(WordsOf(reason))
                                                          : fmt::format("{} ({})", WordsOf(reason), chunks));
    }
    const int64_t attempts = figures.totals.counts.num_attempts;
    warnings.push_back(fmt::format(
        "{} of {} chunks were summed, because {}: totals are exact; quantiles, stragglers, fits, columns, lists and "
        "timelines of chunks are of the other {}",
        sums.chunks, attempts, fmt::join(reasons, "; "), attempts - sums.chunks));
  }
  if (const int64_t missing = figures.findings.processes.summed_chunks - sums.chunks; missing > 0) {
    warnings.push_back(fmt::format("{} more chunks were summed whose sums could not be read", missing));
  }
  if (sums.rows_left_out > 0) {
    warnings.push_back(fmt::format("{} sums beyond {} datasets, files and processes were left out; totals are too low",
                                   sums.rows_left_out, SumsTable::kMaxRows));
  }
}

/// What the SDK could not keep, by cause.
void WarnOfDrops(const ProcessFindings& processes, std::vector<std::string>& warnings) {
  if (const int64_t misused = processes.guards_misused; misused > 0) {
    warnings.push_back(
        fmt::format("{} guards were not used as they should be (a chunk that ended on another thread, sections that do "
                    "not nest): what they were told is missing",
                    misused));
  }
  if (const int64_t unwritten = processes.records_unwritten; unwritten > 0) {
    warnings.push_back(
        fmt::format("{} records could not be written (the disk was full, the log was removed, or files may not be "
                    "larger): sums are too low",
                    unwritten));
  }
  if (const int64_t outside = processes.values_outside_chunks; outside > 0) {
    warnings.push_back(
        fmt::format("{} values or guards were given where no chunk was open, and are missing: put them inside "
                    "TrackMetrics",
                    outside));
  }
  if (const int64_t unknown = processes.records_of_unknown_cause; unknown > 0) {
    warnings.push_back(
        fmt::format("{} records could not be written or kept by their processes (full disk, file size limit, no "
                    "memory, or no open chunk; these processes do not tell which)",
                    unknown));
  }
  if (const int64_t without_room = processes.records_without_room; without_room > 0) {
    warnings.push_back(fmt::format(
        "{} values or records found no room in their processes: there was no memory, or a chunk had too many names",
        without_room));
  }
  if (const int64_t tasks = processes.tasks_left_out; tasks > 0) {
    warnings.push_back(
        fmt::format("{} tasks have no record, because the disk of their worker was short: what is known by task is too "
                    "low",
                    tasks));
  }
}

void WarnOfPartialSums(const RunFigures& figures, std::vector<std::string>& warnings) {
  const AttemptTotals& totals = figures.totals;
  const auto warn = [&](const KnownSum& sum, const char* what) {
    if (sum.count > 0 && sum.count < totals.ended) {
      warnings.push_back(fmt::format("{} is known of {} of {} ended attempts; its sums are over these", what, sum.count,
                                     totals.ended));
    }
  };
  warn(totals.cpu_ns, "CPU time");
  warn(totals.cpu_wait_ns, "the run delay");
  // Failed attempts seldom get as far as telling.
  const int64_t with_bytes = figures.findings.attempts.bytes.with_read;
  if (with_bytes > 0 && with_bytes + totals.counts.num_failed_attempts < totals.ended) {
    warnings.push_back(
        fmt::format("bytes read are known of {} of {} ended attempts; bytes_read_chunks is too low (use "
                    "AddBytesRead)",
                    with_bytes, totals.ended));
  }
  if (totals.events.count > 0 && totals.events.count < totals.counts.num_chunks) {
    warnings.push_back(fmt::format("events are known of {} of {} chunks; event rates are too low (use SetEvents)",
                                   totals.events.count, totals.counts.num_chunks));
  }
}

void WarnOfTimes(const RunFigures& figures, const Quality& quality, std::vector<std::string>& warnings) {
  if (quality.clock_step_max_s.value_or(0) > kClockStepSeconds) {
    warnings.push_back(
        fmt::format("a wall clock stepped by {} during the run; durations are right, times of "
                    "different processes may not fit together",
                    HumanDuration(*quality.clock_step_max_s)));
  }
  const AttemptTotals& totals = figures.totals;
  const RunWindow& window = figures.bounds.window;
  if (totals.first_start_ns.has_value() &&
      (*totals.first_start_ns < window.start_ns || totals.last_stop_ns.value_or(0) > window.stop_ns)) {
    warnings.push_back("some chunks lie outside the run's bounds; they count in sums and not in time averages");
  }
  if (const int64_t open = totals.counts.num_open_attempts; open > 0) {
    warnings.push_back(fmt::format("{} still open; this is a state on the way",
                                   open == 1 ? "one attempt is" : fmt::format("{} attempts are", open)));
  }
}

/// There are no records that a worker's could lack beside.
bool IsLogAlone(const RunFigures& figures) {
  return figures.engine.tells_tasks && !figures.findings.processes.has_records();
}

void WarnOfEngine(const RunFigures& figures, std::vector<std::string>& warnings) {
  const EngineFigures& engine = figures.engine;
  warnings.insert(warnings.end(), engine.complaints.begin(), engine.complaints.end());
  if (engine.lost_bytes > 0) {
    warnings.push_back(
        fmt::format("{} bytes of records were sent and did not fit in the {}'s memory; collect the workers' "
                    "directories too, "
                    "or attach with a larger keep_bytes",
                    engine.lost_bytes, engine.traits.scheduler));
  }
  if (engine.workers_unseen > 0 && !IsLogAlone(figures)) {
    warnings.push_back(fmt::format("{} of the {}'s workers sent no records; their {}s are missing",
                                   engine.workers_unseen, engine.traits.scheduler,
                                   engine.tells_tasks ? "chunk" : engine.traits.task));
  }
  const FineCoverage fine = engine.fine_coverage.value_or(FineCoverage{1, 0});
  if (fine.excess > 1 - kFullCoverage) {
    warnings.push_back(
        fmt::format("the engine's activities come to {} more than its own compute time: activities in seconds overlap",
                    HumanPercent(fine.excess, 1)));
  }
  if (fine.share < kFullCoverage) {
    warnings.push_back(fmt::format("the engine's activities cover {} of its own compute time; the rest was lost",
                                   HumanPercent(fine.share, 1)));
  }
  if (!figures.findings.tasks.empty() && engine.join.chunks_unjoined > 0) {
    const int64_t unjoined = engine.join.chunks_unjoined;
    warnings.push_back(fmt::format("{} to no {} that was seen, so the time around is not known",
                                   unjoined == 1 ? "one chunk belongs" : fmt::format("{} chunks belong", unjoined),
                                   engine.traits.task));
  }
  if (figures.findings.omissions.fine > 0) {
    warnings.push_back(
        fmt::format("{} readings of the engine's activities were not finite, or found no room and are in `(other)`",
                    figures.findings.omissions.fine));
  }
}

/// docs/metrics.md, "quality": events in records over the report's, else over what the run said that it would process.
std::optional<double> EventCoverage(const RunFigures& figures) {
  if (!figures.findings.processes.has_records()) return std::nullopt;
  std::optional<int64_t> expected = figures.coffea.report.entries;
  if (!expected.has_value()) expected = figures.findings.processes.total_events;
  if (!expected.has_value()) expected = figures.coffea.of_datasets.entries;
  if (!expected.has_value()) return std::nullopt;
  const std::optional<double> events = figures.totals.events.In(1);
  if (!events.has_value() && figures.totals.counts.num_chunks > 0) return std::nullopt;  // chunks that do not tell
  const auto announced = static_cast<double>(*expected);
  if (figures.coffea.reports > 1 && events.value_or(0) < announced) {
    double computed = 0;  // each report may count a chunk that others count, too
    for (const AttemptRow& attempt : figures.findings.attempts.rows) {
      if (attempt.status == AttemptState::kOk) computed += static_cast<double>(std::max<int64_t>(0, attempt.events));
    }
    if (computed >= announced) return std::nullopt;
  }
  return Ratio(events.value_or(0), announced);
}

}  // namespace

Quality JudgeQuality(const RunFigures& figures, ReadingQuality reading) {
  Quality quality;
  const ProcessFindings& processes = figures.findings.processes;
  const AttemptTotals& totals = figures.totals;
  const EngineFigures& engine = figures.engine;
  const int64_t records_lost = figures.findings.attempts.records_lost;
  quality.records_read = reading.records_read;
  quality.records_malformed = reading.records_malformed;
  quality.records_torn = reading.records_torn;
  quality.records_unknown = reading.records_unknown;
  quality.logs_left_out = reading.logs_left_out;
  quality.logs_damaged = reading.logs_damaged;
  quality.logs_missing = reading.logs_missing;
  quality.records_dropped = processes.records_dropped;
  quality.guards_misused = processes.guards_misused;
  if (processes.records_of_unknown_cause == 0) {
    quality.records_unwritten = processes.records_unwritten;
    quality.values_outside_chunks = processes.values_outside_chunks;
  }
  quality.tasks_left_out = processes.tasks_left_out;
  quality.lost_samples = processes.lost_samples;
  quality.summed_chunks = figures.findings.sums.chunks;
  quality.sections_dropped = figures.findings.omissions.section_paths;
  if (processes.has_records()) {
    quality.records_lost = records_lost;
    quality.chunks_without_events = totals.counts.num_chunks - totals.events.count;
  }
  const auto in_state = [&processes](ProcessState state) {
    return std::count_if(processes.processes.begin(), processes.processes.end(),
                         [state](const ProcessRow& process) { return process.state == state; });
  };
  quality.processes_ended = in_state(ProcessState::kEnded);
  quality.processes_running = in_state(ProcessState::kRunning);
  quality.processes_lost = in_state(ProcessState::kLost);
  quality.processes_unreported = in_state(ProcessState::kUnreported);
  quality.tasks_read = figures.findings.tasks.rows.size();
  if (!figures.findings.tasks.empty()) {
    quality.chunks_joined_to_tasks = engine.join.chunks_joined;
    quality.chunks_unjoined = engine.join.chunks_unjoined;
    if (figures.findings.sums.chunks == 0) quality.tasks_without_chunk = engine.join.tasks_without_chunk;
  }
  if (engine.fine_coverage.has_value()) quality.fine_metrics_coverage = engine.fine_coverage->share;
  if (engine.has_scheduler) {
    if (!IsLogAlone(figures)) quality.workers_unseen = engine.workers_unseen;
    quality.records_lost_bytes = engine.lost_bytes;
  }
  if (const std::optional<int64_t>& cost_ns = figures.findings.allocations.cost_ns; cost_ns.has_value()) {
    quality.allocations_cost_s = SecondsOf(*cost_ns);
  }
  quality.event_coverage = EventCoverage(figures);
  if (processes.clock_step_ns.has_value()) quality.clock_step_max_s = SecondsOf(*processes.clock_step_ns);
  if (processes.sampling_gap_ns.has_value()) quality.sampling_gap_max_s = SecondsOf(*processes.sampling_gap_ns);
  if (figures.tree.has_value()) {
    if (figures.tree->samples > 1) {
      quality.sampling_gap_max_s =
          std::max(quality.sampling_gap_max_s.value_or(0), figures.tree->sampling_gap_max_seconds);
    }
    quality.tree_cpu_sampled = figures.tree->totals.tree_cpu_sampled;
    quality.processes_left_running = figures.tree->totals.processes_left_running;
  }
  quality.warnings = std::move(reading.warnings);
  WarnOfDrops(processes, quality.warnings);
  WarnOfSums(figures, quality.warnings);
  if (records_lost > 0) {
    quality.warnings.push_back(fmt::format(
        "the {} of {} that ended {} lost, so sums are too low: recording was off, the disk had no room, or "
        "the log is damaged",
        records_lost == 1 ? "record" : "records",
        records_lost == 1 ? "one chunk" : fmt::format("{} chunks", records_lost), records_lost == 1 ? "is" : "are"));
  }
  WarnOfOmissions(figures, quality.warnings);
  WarnOfPartialSums(figures, quality.warnings);
  for (const ProcessRow& process : processes.processes) {
    if (!process.clock_offset_ns.has_value()) continue;
    const double offset = std::abs(SecondsOf(*process.clock_offset_ns));
    quality.clock_offset_max_s = std::max(quality.clock_offset_max_s.value_or(0), offset);
  }
  WarnOfTimes(figures, quality, quality.warnings);
  WarnOfEngine(figures, quality.warnings);
  for (std::string& line :
       CompareSources(figures.chosen, totals, figures.bytes_read_chunks(), figures.coffea, figures.by_dataset)) {
    quality.warnings.push_back(std::move(line));
  }
  return quality;
}

}  // namespace crema
