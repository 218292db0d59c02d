#include "collector/diagnosis/key_figures.h"

#include "collector/diagnosis/verdict_families.h"
#include "collector/engines/engines.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

// In the order of `KeyFigure`.
constexpr KeyFigureBand kBands[] = {
    {KeyFigure::kCpuEfficiency, true, 0.70, 0.40, "CPU efficiency",
     "CPU time of the chunks over the cores' time: computing centres ask for 70 % or more; below 40 % more than half "
     "of the cores' time is lost"},
    {KeyFigure::kWaiting, false, kMostWaiting, 0.30, "waiting in your code, of chunk time",
     "blocked share of chunk time: some reads always wait; from 30 % on a second thread per core would help"},
    {KeyFigure::kMemory, false, kMostMemory, 0.95, "peak memory of its limit",
     "largest worker over its limit: the kernel kills a worker that passes it, and one chunk in twenty is larger than "
     "the others"},
    {KeyFigure::kBalance, true, 0.90, 0.75, "balance",
     "busy share of the cores from the first chunk to the tail: the sizes of chunks alone cost a few per cent; at 75 % "
     "every fourth core is idle"},
    {KeyFigure::kFailedAttempts, false, 0.01, 0.05, "failed attempts, of all",
     "share of attempts that failed or were lost: short failures of storage stay below 1 %; at 5 % something is "
     "broken"},
    {KeyFigure::kEventCoverage, true, kFullCoverage, 0.95, "events recorded, of those that were processed",
     "events in the records over events that were processed: every rate is too low by what is missing"},
    {KeyFigure::kFineCoverage, true, kFullCoverage, 0.90, "fine metrics, of the engine's compute time",
     "seconds in fine metrics over those that the engine counts: a heartbeat may be missing; at 90 % a tenth is "
     "unknown"},
    {KeyFigure::kDroppedRecords, false, 0, 0.001, "dropped records, of all",
     "records that processes could not write: none in ordinary runs; above 0.1 % sums are visibly too low"},
    {KeyFigure::kMeasuringCost, false, 0.01, 0.03, "cost of measuring, of chunk time",
     "cost of measuring over chunk time: 1 % is within the noise of a run, 3 % is not"},
    {KeyFigure::kClockOffset, false, 0.01, 0.05, "clock offset between hosts, or step of a clock, s",
     "clocks that are kept in step differ by far less than 10 ms, which no picture shows; 50 ms change the order of "
     "short chunks"},
};

std::string InWords(KeyFigure figure, double value) {
  if (figure == KeyFigure::kClockOffset) return HumanDuration(value);
  const double percent = value * 100;
  return HumanPercent(value, percent == static_cast<int>(percent) ? 0 : 1);
}

std::optional<TightestWorker> FindTightestWorker(const Measurement& measurement) {
  std::optional<TightestWorker> tightest;
  for (const WorkerRow& worker : measurement.workers) {
    const std::optional<double> peak =
        std::max<std::optional<double>>(worker.peak_memory_bytes, worker.engine_peak_memory_bytes);
    if (!peak.has_value() || worker.memory_limit_bytes.value_or(0) <= 0) continue;
    TightestWorker candidate = {worker.name.str(), *peak, *worker.memory_limit_bytes};
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

/// Adds a note of a metric that was measured.
void AddNote(const Measurement& measurement, std::string_view metric, std::string before, std::string (*words)(double),
             std::string after, KeyFigureRow* row) {
  const std::optional<double> value = measurement.Metric(metric);
  if (!value.has_value()) return;
  row->notes.push_back({std::move(before), words(*value), std::move(after), "metrics." + std::string(metric), *value});
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
  const std::string without = WithoutLostWorkers(measurement);
  AddNote(measurement, "ideal_wall_time", "", HumanDuration, " if chunks filled the cores", &row);
  if (!row.notes.empty() && !without.empty()) row.notes.push_back(NoteOf(without));
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
    row.notes.push_back(NoteOf("results of " + range));
  }
  AddNote(measurement, "event_rate_core_hz", "", HumanRate, " per core", &row);
  return row;
}

KeyFigureRow DataRate(const Measurement& measurement) {
  KeyFigureRow row = RowOf(measurement, {"Data rate", {"overall_rate_gbps", ChangeOf::kRate, true}, HumanBitRate});
  AddNote(measurement, "bytes_read_compressed", "", HumanData, " read", &row);
  AddNote(measurement, "compression_ratio", "compressed ", HumanCount, "×", &row);
  return row;
}

KeyFigureRow ShareRow(const Measurement& measurement, std::string_view label, const ShareFigure& figure,
                      std::string_view meaning) {
  const bool more_is_better = BandOf(figure.band).more_is_better;
  KeyFigureRow row =
      RowOf(measurement, {label, {figure.key, ChangeOf::kShare, more_is_better, figure.scale}, HumanPercent, meaning});
  row.share = ShareOf(measurement, figure);
  if (!row.share.has_value()) return row;
  row.text = HumanPercent(*row.share);
  if (!ReadRunEvidence(measurement).IsEnough()) {  // as the headline says then
    row.notes.push_back(NoteOf("too little to judge"));
    return row;
  }
  row.band = BandOf(figure.band);
  row.mark = MarkOf(figure.band, *row.share);
  row.notes.push_back(NoteOf(GoodHint(figure.band)));
  return row;
}

KeyFigureRow CpuEfficiency(const Measurement& measurement) {
  KeyFigureRow row = ShareRow(measurement, "CPU efficiency", kCpuEfficiencyShare, "CPU time ÷ (cores × elapsed)");
  AddNote(measurement, "job_cpu_efficiency", "of the whole job ", HumanPercent, "", &row);
  if (UsesUncountedGpu(measurement)) {
    row.mark = std::nullopt;
    row.notes.insert(row.notes.begin(), NoteOf("threads may spin for the GPU"));
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
                          HumanPercent,
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
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  const bool has_long_tail = budget.has_value() && budget->Share("tail") >= kMostTail;
  if (row.mark == Mark::kGood && has_long_tail) row.mark.reset();  // work that was not shared evenly is in the tail
  const std::string without = WithoutLostWorkers(measurement);
  if (without.empty() || !row.mark.has_value()) return row;
  if (row.mark == Mark::kGood) row.mark = Mark::kWatch;
  row.notes.insert(row.notes.begin(), NoteOf(without));
  return row;
}

KeyFigureRow Blocked(const Measurement& measurement) {
  KeyFigureRow row = ShareRow(measurement, "Blocked in code", kBlockedShare, "of chunk time: reads, locks");
  const std::optional<double> cpu_wait = CpuWaitShare(measurement);
  if (row.share.has_value() && cpu_wait.has_value()) row.notes.push_back({"CPU wait ", HumanPercent(*cpu_wait), ""});
  return row;
}

constexpr std::string_view kTreeMemory = "tree_peak_memory_bytes";

/// The metric of what all processes used at most: older measurements only know it with shared pages in each of them.
std::string_view TreeMemoryKey(const Measurement& measurement) {
  return measurement.Metric(kTreeMemory).has_value() ? kTreeMemory : "tree_peak_rss_bytes";
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
    row.notes = {NoteOf(GoodHint(memory->band)),
                 {"", HumanPercent(tightest.share()), " of " + HumanMemory(tightest.limit_bytes)},
                 {"on ", "", "", "", 0, tightest.name}};
    return row;
  }
  if (!memory->is_of_worker) row.notes.push_back(NoteOf("largest process"));
  AddNote(measurement, TreeMemoryKey(measurement), "", HumanMemory, " in all processes", &row);
  row.notes.push_back(NoteOf("no limit known"));
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
    row.notes.push_back(NoteOf(Counted(figure->without_result, "chunk", "chunks") + " without result"));
  }
  if (figure->lost_workers > 0)
    row.notes.push_back(NoteOf(Counted(figure->lost_workers, "worker", "workers") + " lost"));
  row.notes.push_back(NoteOf(GoodHint(KeyFigure::kFailedAttempts)));
  if (figure->lost > 0) AddNote(measurement, "num_lost_attempts", "", HumanCount, " lost", &row);
  if (figure->is_all_recovered) row.notes.push_back(NoteOf("all ok on retry"));
  return row;
}

/// A figure, and one that is beside it.
struct TreeFigure {
  std::string_view label;
  std::string_view key;
  std::string (*words)(double);
  ChangeOf kind;
  bool more_is_better;
  std::string_view meaning;
  std::string_view beside_key;
  std::string_view beside_words;
  std::string_view beside_one = "";  ///< the words for 1
};

constexpr TreeFigure kTreeFigures[] = {
    {"Elapsed", "wall_time", HumanDuration, ChangeOf::kRate, false, "", "", ""},
    {"CPU efficiency", "job_cpu_efficiency", HumanPercent, ChangeOf::kShare, true, "of its cores, over its whole time",
     "allocated_cores", "cores given"},
    {"CPU in program", "tree_cpu_user", HumanDuration, ChangeOf::kRate, false, "user time", "tree_cpu_system",
     "of CPU in the kernel"},
    {"Peak memory", kTreeMemory, HumanMemory, ChangeOf::kMemory, false, "of all processes", "process_peak_rss_bytes",
     "in the largest process"},
    {"From storage", "tree_read_bytes", HumanData, ChangeOf::kRate, false, "mapped files and read-ahead included",
     "tree_rchar_bytes", "by read calls, cached or not"},
    {"To storage", "tree_write_bytes", HumanData, ChangeOf::kRate, false, "", "tree_wchar_bytes", "by write calls"},
    {"Processes", "max_processes", HumanCount, ChangeOf::kRate, false, "at once", "max_threads", "threads at once",
     "thread at once"},
    {"Major faults", "major_faults", HumanCount, ChangeOf::kRate, false, "pages that came from storage",
     "context_switches_involuntary", "involuntary context switches"}};

constexpr TreeFigure kEngineLogFigures[] = {
    {"Elapsed", "wall_time", HumanDuration, ChangeOf::kRate, false, "", "core_seconds", "of core time"},
    {"Tasks", "num_tasks", HumanCount, ChangeOf::kRate, true, "that ended", "num_failed_tasks", "failed"},
    {"CPU efficiency", "job_cpu_efficiency", HumanPercent, ChangeOf::kShare, true, "of the jobs' cores", "", ""},
    {"Peak memory", "peak_memory_bytes", HumanMemory, ChangeOf::kMemory, false, "of one worker",
     "peak_total_memory_bytes", "of all at once"},
    {"Workers", "peak_workers", HumanCount, ChangeOf::kRate, true, "at once", "peak_cores", "cores"},
    {"Queue", "task_queue_seconds", HumanDuration, ChangeOf::kRate, false, "waiting of all tasks", "", ""}};

template <size_t kCount>
std::vector<KeyFigureRow> RowsOf(const TreeFigure (&figures)[kCount], const Measurement& measurement) {
  std::vector<KeyFigureRow> rows;
  for (const TreeFigure& figure : figures) {
    const std::string_view key = figure.key == kTreeMemory ? TreeMemoryKey(measurement) : figure.key;
    KeyFigureRow row =
        RowOf(measurement, {figure.label, {key, figure.kind, figure.more_is_better}, figure.words, figure.meaning});
    if (!row.value.has_value()) row.why_not = measurement.WhyNotMeasured(figure.key);
    if (row.value.has_value() && figure.kind == ChangeOf::kShare) row.share = std::clamp(*row.value, 0.0, 1.0);
    if (const std::optional<double> beside = measurement.Metric(figure.beside_key); beside.has_value()) {
      const std::string& unit = FindMetric(figure.beside_key)->unit;
      row.notes.push_back(
          {"", unit == "cores" ? HumanNumber(*beside) : HumanQuantity(figure.beside_key, *beside, unit),
           " " + std::string(*beside == 1 && !figure.beside_one.empty() ? figure.beside_one : figure.beside_words),
           "metrics." + std::string(figure.beside_key), *beside});
    }
    const std::optional<double> of_each = measurement.Metric("tree_peak_rss_bytes");
    if (figure.key == kTreeMemory && row.value.has_value() && of_each.value_or(0) > *row.value)
      AddNote(measurement, "tree_peak_rss_bytes", "", HumanMemory, " with shared pages in each", &row);
    const bool is_sum = of_each.has_value() && row.value == of_each &&
                        *of_each > measurement.Metric("process_peak_rss_bytes").value_or(*of_each);
    if (figure.key == kTreeMemory && is_sum && !measurement.Metric("tree_peak_pss_bytes").has_value()) {
      row.notes.push_back(NoteOf("a sum of RSS: shared pages count in each process"));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Whether there is only a log of an engine, and no record of any process.
bool IsEngineLogOnly(const Measurement& measurement) {
  return !measurement.run.engine.empty() && !measurement.Metric("num_attempts").has_value() &&
         measurement.quality.tasks_read.value_or(0) > 0 && measurement.fine.empty();
}

/// The key figures of such a run.
std::vector<KeyFigureRow> EngineLogFigureRows(const Measurement& measurement) {
  std::vector<KeyFigureRow> rows = RowsOf(kEngineLogFigures, measurement);
  const std::optional<PeakMemory> memory = FindPeakMemory(measurement);
  for (KeyFigureRow& row : rows) {
    if (row.label != "Peak memory" || !memory.has_value() || !memory->tightest.has_value()) continue;
    row.share = memory->tightest->share();
    row.notes.push_back({"", HumanPercent(*row.share), " of its limit, " + HumanMemory(memory->tightest->limit_bytes)});
  }
  return rows;
}

}  // namespace

std::vector<KeyFigureBand> KeyFigureBands() {
  std::vector<KeyFigureBand> bands;
  for (const KeyFigureBand& band : kBands) {
    bands.push_back(band);
    if (band.figure != KeyFigure::kMemory) continue;
    for (const Engine* engine : Engines()) {
      if (engine->traits.memory.has_value()) bands.push_back(MemoryBand(engine->traits.name));
    }
  }
  return bands;
}

const KeyFigureBand& BandOf(KeyFigure figure) { return kBands[static_cast<size_t>(figure)]; }

KeyFigureBand MemoryBand(std::string_view engine) {
  KeyFigureBand band = BandOf(KeyFigure::kMemory);
  const Engine* known = EngineNamed(engine);
  if (known == nullptr || !known->traits.memory.has_value()) return band;
  const EngineMemory& memory = *known->traits.memory;
  return {band.figure, band.more_is_better, memory.good, memory.bad, memory.name, memory.reason};
}

Mark MarkOf(const KeyFigureBand& band, double value) {
  const double sign = band.more_is_better ? 1 : -1;
  if (sign * value >= sign * band.good) return Mark::kGood;
  return sign * value < sign * band.bad ? Mark::kBad : Mark::kWatch;
}

std::string_view ToString(Mark mark) {
  constexpr std::string_view kNames[] = {"good", "watch", "bad"};
  return kNames[static_cast<size_t>(mark)];
}

std::string_view SignOf(Mark mark) {
  constexpr std::string_view kSigns[] = {"✓", "▲", "✕"};
  return kSigns[static_cast<size_t>(mark)];
}

std::string GoodHint(const KeyFigureBand& band) {
  if (band.good == 0) return "good: none";
  return (band.more_is_better ? "good ≥ " : "good ≤ ") + InWords(band.figure, band.good);
}

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

std::vector<KeyFigureRow> KeyFigureRows(const Measurement& measurement) {
  if (IsProcessTreeOnly(measurement)) return RowsOf(kTreeFigures, measurement);
  if (IsEngineLogOnly(measurement)) return EngineLogFigureRows(measurement);
  std::vector<KeyFigureRow> rows = {
      Elapsed(measurement), EventRate(measurement),     DataRate(measurement), CpuEfficiency(measurement),
      Blocked(measurement), PeakMemoryRow(measurement), Balance(measurement),  FailedAttemptsRow(measurement)};
  if (measurement.Metric("gpu_utilization").has_value()) rows.push_back(Gpu(measurement));
  return rows;
}

bool IsProcessTreeOnly(const Measurement& measurement) {
  return (measurement.Metric("tree_cpu_user").has_value() || measurement.Metric("tree_peak_rss_bytes").has_value()) &&
         measurement.Metric("num_attempts").value_or(0) == 0 && measurement.Metric("num_chunks").value_or(0) == 0 &&
         measurement.workers.empty() && measurement.fine.empty();
}

std::optional<TreeBudget> ReadTreeBudget(const Measurement& measurement) {
  const std::optional<double> user = measurement.Metric("tree_cpu_user"),
                              system = measurement.Metric("tree_cpu_system");
  const std::optional<double> cores = measurement.Metric("allocated_cores"), wall = measurement.Metric("wall_time");
  if (!user.has_value() || !system.has_value() || !cores.has_value() || !wall.has_value()) return std::nullopt;
  TreeBudget budget;
  budget.cores = *cores;
  budget.core_seconds = std::max(*cores * *wall, *user + *system);
  if (!(budget.core_seconds > 0)) return std::nullopt;
  const double left = budget.core_seconds - *user - *system;
  budget.parts = {{kTreeProgram, "cpu", *user}, {kTreeKernel, "opening", *system}};
  const std::optional<double> waited = measurement.Metric("tree_cpu_wait");
  const double wait = std::min(left, waited.value_or(0));
  if (wait > 0) budget.parts.push_back({kTreeWait, "wait", wait});
  budget.parts.push_back({waited.has_value() ? "Not used by it" : "Not used, or waiting", "idle", left - wait});
  for (TreeBudgetPart& part : budget.parts) part.share = part.core_seconds / budget.core_seconds;
  return budget;
}

double TreeBudget::Share(std::string_view part) const {
  const TreeBudgetPart* found = FindBy(parts, &TreeBudgetPart::name, part);
  return found == nullptr ? 0 : found->share;
}

std::string_view GuardOfChunks(const Measurement& measurement) {
  const std::optional<std::vector<std::string>>& command = measurement.run.command;
  const std::string program = command.has_value() && !command->empty() ? command->front() : "";
  const size_t name = program.rfind('/') + 1;
  const bool is_python = program.find("python", name) == name;
  return is_python ? "@crema_hep.track_metrics (in ROOT, crema_hep.root.track)"
                   : "crema::TrackMetrics (in ROOT, crema::TrackDataFrame)";
}

}  // namespace crema
