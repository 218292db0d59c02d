#include "collector/insight/key_figure_rows.h"

#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/lost_workers.h"
#include "collector/insight/tree_figures.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {

namespace {

std::optional<TightestWorker> FindTightestWorker(const Measurement& measurement) {
  std::optional<TightestWorker> tightest;
  for (const WorkerRow& worker : measurement.workers) {
    const std::optional<double> peak =
        std::max<std::optional<double>>(worker.peak_memory_bytes, worker.engine_peak_memory_bytes);
    const std::optional<double> limit = worker.memory_limit_bytes;
    if (!peak.has_value() || limit.value_or(0) <= 0) continue;
    TightestWorker candidate = {worker.name.str(), *peak, *limit};
    if (!tightest.has_value() || candidate.share() > tightest->share()) tightest = std::move(candidate);
  }
  return tightest;
}

// A worker that was killed, perhaps because it was out of memory, did not say its last: the kernel did.
bool IsPeakOfWorkersKnown(const Measurement& measurement) {
  const std::optional<double> of_workers = measurement.Metric("peak_memory_bytes");
  const bool any_lost =
      measurement.quality.processes_lost.value_or(0) + measurement.quality.processes_unreported.value_or(0) > 0;
  return of_workers.has_value() &&
         !(any_lost && measurement.Metric("process_peak_rss_bytes").value_or(0) > *of_workers);
}

}  // namespace

std::optional<double> ShareOf(const Measurement& measurement, const ShareFigure& figure) {
  std::optional<double> share = measurement.Metric(figure.key);
  if (share.has_value()) *share *= figure.scale;
  return share;
}

std::optional<double> TimeOfThreads(const Measurement& measurement) {
  const std::optional<double> lanes = measurement.Metric("lane_time");
  return lanes.has_value() ? lanes : measurement.Metric("busy_time");  // of a live run, and of older documents
}

std::optional<double> CpuWaitShare(const Measurement& measurement) {
  const bool of_lanes = measurement.Metric("lane_cpu_wait").has_value();  // else of owners, in older documents
  const std::optional<double> cpu_wait = measurement.Metric(of_lanes ? "lane_cpu_wait" : "chunk_cpu_wait");
  const double threads = measurement.Metric(of_lanes ? "lane_time" : "busy_time").value_or(0);
  if (!cpu_wait.has_value() || !(threads > 0)) return std::nullopt;
  return *cpu_wait / threads;
}

std::string CompressionNote(const Measurement& measurement) {
  const std::optional<double> ratio = measurement.Metric("compression_ratio");
  return ratio.has_value() ? fmt::format("compressed {}×", HumanCount(*ratio)) : "";
}

std::optional<PeakMemory> FindPeakMemory(const Measurement& measurement) {
  PeakMemory memory;
  memory.is_of_worker = IsPeakOfWorkersKnown(measurement);
  memory.key = memory.is_of_worker ? "peak_memory_bytes" : "process_peak_rss_bytes";
  const std::optional<double> bytes = measurement.Metric(memory.key);
  if (!bytes.has_value()) return std::nullopt;
  memory.bytes = *bytes;
  if (memory.is_of_worker) memory.tightest = FindTightestWorker(measurement);
  memory.band = MemoryBand(measurement.run.engine.str());
  return memory;
}

std::optional<FailedAttempts> FindFailedAttempts(const Measurement& measurement) {
  const std::optional<double> attempts = measurement.Metric("num_attempts");
  const std::optional<double> failed = measurement.Metric("num_failed_attempts");
  if (!attempts.has_value() || !failed.has_value()) return std::nullopt;
  FailedAttempts figure;
  figure.attempts = *attempts;
  figure.failed = *failed;
  figure.lost = measurement.Metric("num_lost_attempts").value_or(0);
  figure.lost_workers = static_cast<double>(FindLostWorkers(measurement).names.size());
  if (!(*attempts > 0)) return figure;
  figure.mark = MarkOf(KeyFigure::kFailedAttempts, figure.gone() / *attempts);
  if (figure.lost_workers > 0 && figure.mark == Mark::kGood) figure.mark = Mark::kWatch;
  const std::optional<double> unfinished = measurement.Metric("num_unfinished_chunks");
  if (!unfinished.has_value() || measurement.run.state.str() == "running") return figure;
  figure.without_result = *unfinished;
  figure.is_all_recovered = *unfinished == 0 && figure.gone() > 0;
  if (*unfinished > 0) figure.mark = Mark::kBad;
  return figure;
}

namespace {

std::string RoundShare(double share) { return HumanPercent(share); }

FigureText Words(std::string words) { return {std::move(words), "", ""}; }

FigureText NoteOf(std::string before, std::string_view metric, double value, std::string figure, std::string after) {
  return {std::move(before), std::move(figure), std::move(after), "metrics." + std::string(metric), value};
}

/// Adds a note of a metric that was measured.
void AddNote(const Measurement& measurement, std::string_view metric, std::string before, std::string (*words)(double),
             std::string after, KeyFigureRow* row) {
  const std::optional<double> value = measurement.Metric(metric);
  if (!value.has_value()) return;
  row->notes.push_back(NoteOf(std::move(before), metric, *value, words(*value), std::move(after)));
}

/// The value of the metric, or why there is none.
KeyFigureRow RowOf(const Measurement& measurement, KeyFigureRow row) {
  row.value = measurement.Metric(row.figure.key);
  if (row.value.has_value()) row.text = row.words(*row.value * row.figure.scale);
  if (!row.value.has_value()) row.why_not = measurement.WhyNotMeasured(row.figure.key);
  return row;
}

/// What a figure says of the workers that stayed alone; empty: none was lost.
std::string WithoutLostWorkers(const Measurement& measurement) {
  const auto lost = static_cast<double>(FindLostWorkers(measurement).names.size());
  return lost == 0 ? "" : "without " + Counted(lost, "lost worker", "lost workers");
}

KeyFigureRow Elapsed(const Measurement& measurement) {
  KeyFigureRow row = RowOf(measurement, {"Elapsed", {"wall_time", ChangeOf::kRate, false}, HumanDuration});
  if (!measurement.Metric("ideal_wall_time").has_value()) return row;
  AddNote(measurement, "ideal_wall_time", "ideal ", HumanDuration, "", &row);
  const std::string without = WithoutLostWorkers(measurement);
  row.notes.push_back(Words(without.empty() ? "if only chunks ran" : without));
  return row;
}

KeyFigureRow EventRate(const Measurement& measurement) {
  KeyFigureRow row =
      RowOf(measurement, {"Event rate", {"event_rate_wall_khz", ChangeOf::kRate, true, 1000}, HumanRate});
  // what ended in a process that died may not be among the results
  const std::string range =
      RangeOfResults(FindLostWorkers(measurement), measurement.Metric("total_events").value_or(0));
  if (range.empty()) {
    AddNote(measurement, "total_events", "", HumanCount, " events", &row);
  } else {
    row.notes.push_back(Words("results of " + range));
  }
  AddNote(measurement, "event_rate_core_hz", "", HumanRate, " per core", &row);
  return row;
}

KeyFigureRow DataRate(const Measurement& measurement) {
  KeyFigureRow row = RowOf(measurement, {"Data rate", {"overall_rate_gbps", ChangeOf::kRate, true}, HumanBitRate});
  AddNote(measurement, "bytes_read_compressed", "", HumanData, " read", &row);
  const std::string compression = CompressionNote(measurement);
  if (!compression.empty()) row.notes.push_back(Words(compression));
  return row;
}

KeyFigureRow ShareRow(const Measurement& measurement, std::string_view label, const ShareFigure& figure,
                      std::string_view meaning) {
  const bool more_is_better = BandOf(figure.band).more_is_better;
  KeyFigureRow row =
      RowOf(measurement, {label, {figure.key, ChangeOf::kShare, more_is_better, figure.scale}, RoundShare, meaning});
  row.share = ShareOf(measurement, figure);
  if (!row.share.has_value()) return row;
  row.text = HumanPercent(*row.share);
  if (!ReadRunEvidence(measurement).IsEnough()) {  // as the headline says then
    row.notes.push_back(Words("too little to judge"));
    return row;
  }
  row.band = BandOf(figure.band);
  row.mark = MarkOf(figure.band, *row.share);
  row.notes.push_back(Words(GoodHint(figure.band)));
  return row;
}

KeyFigureRow CpuEfficiency(const Measurement& measurement) {
  KeyFigureRow row = ShareRow(measurement, "CPU efficiency", kCpuEfficiencyShare, "CPU time ÷ (cores × elapsed)");
  const std::optional<double> job = measurement.Metric("job_cpu_efficiency");
  if (job.has_value()) {
    row.notes.push_back(NoteOf("of the whole job ", "job_cpu_efficiency", *job, HumanPercent(*job), ""));
  }
  if (UsesUncountedGpu(measurement)) {
    row.mark = std::nullopt;
    row.notes.insert(row.notes.begin(), Words("threads may spin for the GPU"));
  } else if (measurement.Metric("gpu_wait_cpu_seconds").value_or(0) > 0) {
    AddNote(measurement, "gpu_wait_cpu_seconds", "", HumanDuration, " of it spinning for the GPU", &row);
  }
  return row;
}

KeyFigureRow Gpu(const Measurement& measurement) {
  const bool is_known_to_use_it = measurement.Metric("gpu_peak_memory_bytes").has_value();
  KeyFigureRow row =
      RowOf(measurement, {"GPU",
                          {"gpu_utilization", ChangeOf::kShare, true},
                          RoundShare,
                          is_known_to_use_it ? "a kernel ran while it was used" : "a kernel ran, maybe of others"});
  AddNote(measurement, "gpu_seconds", "", HumanDuration, " of kernels", &row);
  AddNote(measurement, "gpu_peak_memory_bytes", "", HumanMemory, " of its memory", &row);
  AddNote(
      measurement, "gpu_energy", "", [](double joules) { return HumanCount(joules) + " J"; }, "", &row);
  return row;
}

/// What vanished has no tail: the others may well have been busy until theirs.
KeyFigureRow Balance(const Measurement& measurement) {
  KeyFigureRow row = ShareRow(measurement, "Balance", kBalanceShare, "cores busy until the tail");
  const std::optional<double> cores = measurement.Metric("peak_cores");
  if (cores.has_value() && !kSeveralCores.Holds(*cores)) row.mark.reset();  // one core shares work with nobody
  const std::string without = WithoutLostWorkers(measurement);
  if (without.empty() || !row.mark.has_value()) return row;
  if (row.mark == Mark::kGood) row.mark = Mark::kWatch;
  row.notes.insert(row.notes.begin(), Words(without));
  return row;
}

KeyFigureRow Blocked(const Measurement& measurement) {
  KeyFigureRow row = ShareRow(measurement, "Blocked in code", kBlockedShare, "of chunk time: reads, locks");
  const std::optional<double> cpu_wait = CpuWaitShare(measurement);
  if (row.share.has_value() && cpu_wait.has_value()) row.notes.push_back({"CPU wait ", HumanPercent(*cpu_wait), ""});
  return row;
}

KeyFigureRow PeakMemoryRow(const Measurement& measurement) {
  KeyFigureRow row = {"Peak memory", {"peak_memory_bytes", ChangeOf::kMemory, false}, HumanMemory};
  const std::optional<PeakMemory> memory = FindPeakMemory(measurement);
  if (memory.has_value()) row.figure.key = memory->key;
  row = RowOf(measurement, std::move(row));
  if (!memory.has_value()) return row;
  if (memory->tightest.has_value()) {
    const TightestWorker& tightest = *memory->tightest;
    row.band = memory->band;
    row.share = tightest.share();
    row.mark = MarkOf(memory->band, tightest.share());
    row.notes = {Words(GoodHint(memory->band)),
                 {"", HumanPercent(tightest.share()), " of " + HumanMemory(tightest.limit_bytes)},
                 {"on ", "", "", "", 0, tightest.name}};
    return row;
  }
  if (!memory->is_of_worker) row.notes.push_back(Words("largest process"));
  AddNote(measurement, TreeMemoryKey(measurement), "", HumanMemory, " in all processes", &row);
  row.notes.push_back(Words("no limit known"));
  return row;
}

KeyFigureRow FailedAttemptsRow(const Measurement& measurement) {
  KeyFigureRow row =
      RowOf(measurement, {"Failed attempts", {"num_failed_attempts", ChangeOf::kFailures, false}, HumanCount});
  const std::optional<FailedAttempts> figure = FindFailedAttempts(measurement);
  if (!figure.has_value()) {
    row.value = std::nullopt;
    row.text = "–";
    row.why_not = measurement.WhyNotMeasured(row.figure.key);
    return row;
  }
  row.value = figure->gone();
  row.text = HumanCount(figure->gone()) + " of " + HumanCount(figure->attempts);
  row.mark = figure->mark;
  if (!figure->mark.has_value()) return row;
  row.band = BandOf(KeyFigure::kFailedAttempts);
  row.share = figure->gone() / figure->attempts;
  if (figure->without_result > 0) {
    row.notes.push_back(Words(Counted(figure->without_result, "chunk", "chunks") + " without result"));
  }
  if (figure->lost_workers > 0)
    row.notes.push_back(Words(Counted(figure->lost_workers, "worker", "workers") + " lost"));
  row.notes.push_back(Words(GoodHint(KeyFigure::kFailedAttempts)));
  if (figure->lost > 0) AddNote(measurement, "num_lost_attempts", "", HumanCount, " lost", &row);
  if (figure->is_all_recovered) row.notes.push_back(Words("all ok on retry"));
  return row;
}

}  // namespace

std::vector<KeyFigureRow> KeyFigureRows(const Measurement& measurement) {
  if (IsProcessTreeOnly(measurement)) return TreeFigureRows(measurement);
  if (IsEngineLogOnly(measurement)) return EngineLogFigureRows(measurement);
  std::vector<KeyFigureRow> rows = {
      Elapsed(measurement), EventRate(measurement),     DataRate(measurement), CpuEfficiency(measurement),
      Blocked(measurement), PeakMemoryRow(measurement), Balance(measurement),  FailedAttemptsRow(measurement)};
  if (measurement.Metric("gpu_utilization").has_value()) rows.push_back(Gpu(measurement));
  return rows;
}

}  // namespace crema
