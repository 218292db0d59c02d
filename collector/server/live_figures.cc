#include "collector/server/live_figures.h"

#include "collector/format/human_numbers.h"
#include "collector/metrics/run_figures.h"

namespace crema {
namespace {

/// Blocks of this many seconds, and so many of them, show how the rate varies.
constexpr int64_t kBlockSeconds = 10;
constexpr int64_t kBlocks = 6;
constexpr int64_t kLeastBlocks = 3;

void SetRecent(const LiveModel& model, LiveFigures& figures) {
  const int64_t seconds = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(figures.wall_seconds)), 1, kRecentSeconds);
  const RunSecond sum = model.recent().Sum(model.second() - seconds, model.second() - 1);
  figures.recent_seconds = static_cast<double>(seconds);
  figures.event_rate = sum.events / figures.recent_seconds;
  figures.byte_rate = sum.bytes / figures.recent_seconds;
  if (sum.core_ns <= 0 || model.state() != ProcessState::kRunning) return;
  const double known = sum.compute_ns + sum.waiting_ns + sum.failed_ns + sum.joined_ns;
  // a task around a chunk is one lane with it
  const double around = std::max(0.0, sum.task_ns - sum.chunk_ns);
  const double occupied = std::max(sum.occupied_ns, known + around);
  const double whole = std::max(sum.core_ns, occupied);
  const double idle = whole - occupied + sum.joined_ns;
  figures.busy_share = std::min(1.0, occupied / whole);
  figures.recent = {
      {"compute", "CPU in your code", "CPU", sum.compute_ns / whole},
      {"waiting", "Waiting in your code", "waiting", sum.waiting_ns / whole},
      {"framework", "Framework, opening, failed attempts", "framework, failed", (around + sum.failed_ns) / whole},
      {"open", "In chunks still open", "still open", (occupied - known - around) / whole},
      {"idle", "Idle", "idle", idle / whole},
  };
}

void SetLeft(const LiveModel& model, Progress& progress) {
  if (!progress.total_events.has_value() || model.state() != ProcessState::kRunning) return;
  const auto remaining = static_cast<double>(*progress.total_events - progress.events);
  if (remaining <= 0) return;
  const auto blocks = std::min<int64_t>(kBlocks, static_cast<int64_t>(model.wall_seconds()) / kBlockSeconds);
  double sum = 0;
  double squares = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t last = model.second() - 1 - block * kBlockSeconds;
    double events = model.recent().Sum(last - kBlockSeconds + 1, last).events;
    for (const LiveWorker& worker : model.workers()) {  // those that are gone give no more
      if (worker.state != ProcessState::kRunning) events -= worker.SumOf(last - kBlockSeconds + 1, last).events;
    }
    const double rate = std::max(0.0, events) / kBlockSeconds;
    sum += rate;
    squares += rate * rate;
  }
  if (blocks == 0 || sum <= 0) return;
  const auto n = static_cast<double>(blocks);
  const double mean = sum / n;
  progress.left = remaining / mean;
  if (blocks < kLeastBlocks) return;
  const double variance = std::max(0.0, (squares - n * mean * mean) / (n - 1));
  const double error = 2 * std::sqrt(variance / n);
  progress.left_low = remaining / (mean + error);
  if (mean > error) progress.left_high = remaining / (mean - error);
}

/// By the workers that run; for a run that is over, by the peaks that they had.
std::optional<WorstMemory> FindWorstMemory(const LiveModel& model) {
  std::optional<WorstMemory> worst;
  double largest = -1;
  const bool is_over = model.state() != ProcessState::kRunning;
  for (const LiveWorker& worker : model.workers()) {
    const int64_t bytes = is_over ? worker.peak_rss_bytes() : worker.rss_bytes;
    if ((!is_over && worker.state != ProcessState::kRunning) || bytes <= 0) continue;
    // workers without a limit are compared by size, after those with one
    const double measure = worker.memory_limit_bytes.value_or(0) > 0
                               ? 1 + static_cast<double>(bytes) / static_cast<double>(*worker.memory_limit_bytes)
                               : static_cast<double>(bytes) / 1e18;
    if (measure <= largest) continue;
    largest = measure;
    worst =
        WorstMemory{worker.worker(), bytes, worker.memory_limit_bytes, is_over ? std::nullopt : SecondsToLimit(worker)};
  }
  return worst;
}

LiveGpus GpusOf(const LiveModel& model) {
  LiveGpus used;
  int64_t percent = 0, power_mw = 0;
  bool knows_utilization = true, knows_power = true;
  used.memory_bytes = 0;
  const auto add = [&](const TreeGpu& gpu) {
    if (gpu.tree_memory_bytes.value_or(gpu.utilization_percent.value_or(0)) == 0) return;
    ++used.count;
    percent += gpu.utilization_percent.value_or(0);
    power_mw += gpu.power_mw.value_or(0);
    knows_utilization = knows_utilization && gpu.utilization_percent.has_value();
    knows_power = knows_power && gpu.power_mw.has_value();
    if (!gpu.tree_memory_bytes.has_value()) used.memory_bytes.reset();
    if (used.memory_bytes.has_value()) *used.memory_bytes += *gpu.tree_memory_bytes;
  };
  for (const auto& [host, gpus] : model.gpus()) {
    for (const TreeGpu& gpu : gpus) add(gpu);
  }
  if (used.count == 0) return {};
  if (knows_utilization) used.utilization = static_cast<double>(percent) / (100. * static_cast<double>(used.count));
  if (knows_power) used.power_watts = power_mw / 1e3;
  return used;
}

void SetShare(Progress& progress) {
  if (!progress.total_events.has_value() || *progress.total_events <= 0) return;
  progress.share = static_cast<double>(progress.events) / static_cast<double>(*progress.total_events);
}

double BitRate(double bytes_per_second) { return bytes_per_second * 8 / 1e9; }

KeyFigureRow Unknown(KeyFigureRow row, std::string why) {
  row.why_not = std::move(why);
  return row;
}

/// A rate of the last seconds, beside that of the whole run.
KeyFigureRow RateRow(KeyFigureRow row, const LiveFigures& figures, double now, double mean,
                     std::string (*words)(double)) {
  row.value = now;
  row.text = words(now);
  row.notes = {NoteOf(fmt::format("last {:.0f} s", figures.recent_seconds)), NoteOf("run mean " + words(mean))};
  return row;
}

KeyFigureRow EventRate(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Event rate", {"event_rate_wall_khz", ChangeOf::kRate, true}};
  if (model.totals().events.count == 0) return Unknown(std::move(row), "no chunk said its events (SetEvents)");
  return RateRow(std::move(row), figures, figures.event_rate, figures.mean_event_rate.value_or(0), HumanRate);
}

KeyFigureRow DataRate(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Data rate", {"overall_rate_gbps", ChangeOf::kRate, true}};
  const ByteSums& bytes = model.totals().bytes;
  if (bytes.with_read == 0) return Unknown(std::move(row), "no chunk said its bytes (AddBytesRead)");
  row = RateRow(std::move(row), figures, BitRate(figures.byte_rate), BitRate(figures.mean_byte_rate.value_or(0)),
                HumanBitRate);
  row.notes.push_back(NoteOf(HumanData(static_cast<double>(bytes.read)) + " read"));
  return row;
}

KeyFigureRow CoresBusy(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Cores busy", {"core_efficiency", ChangeOf::kShare, true}};
  if (model.has_schedulers_only()) return Unknown(std::move(row), "no chunk was recorded");
  row.value = static_cast<double>(figures.busy);
  row.text = fmt::format("{} of {}", figures.busy, figures.cores);
  row.share = figures.busy_share;
  if (figures.busy_share.has_value()) {
    row.notes = {
        NoteOf(fmt::format("{} of the last {:.0f} s", HumanPercent(*figures.busy_share), figures.recent_seconds))};
  }
  return row;
}

KeyFigureRow CpuEfficiency(const LiveFigures& figures) {
  KeyFigureRow row = {"CPU efficiency", {"cpu_efficiency", ChangeOf::kShare, true}};
  if (!figures.cpu_efficiency.has_value()) return Unknown(std::move(row), "not recorded, or more than the cores have");
  row.value = row.share = figures.cpu_efficiency;
  row.text = HumanPercent(*figures.cpu_efficiency);
  row.notes = {NoteOf("since start")};
  if (!kEnoughCoreSeconds.Holds(figures.core_seconds)) {
    row.notes.push_back(NoteOf("too little to judge"));
    return row;
  }
  if (figures.gpus.count > 0) {
    row.notes.push_back(NoteOf("threads may spin for the GPU"));
    return row;
  }
  row.band = BandOf(KeyFigure::kCpuEfficiency);
  row.mark = MarkOf(*row.band, *row.share);
  row.notes.push_back(NoteOf(GoodHint(*row.band)));
  return row;
}

KeyFigureRow FullestMemory(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Peak memory", {"peak_memory_bytes", ChangeOf::kMemory, false}};
  if (!figures.memory.has_value()) return Unknown(std::move(row), "no worker was sampled");
  const WorstMemory& worst = *figures.memory;
  row.value = static_cast<double>(worst.bytes);
  row.text = HumanMemory(*row.value);
  const double limit = static_cast<double>(worst.limit_bytes.value_or(0));
  if (!(limit > 0)) {
    row.notes = {{"on ", "", "", "", 0, worst.worker}, NoteOf("no limit known")};
    return row;
  }
  row.band = MemoryBand(model.engine());
  row.share = *row.value / limit;
  row.mark = MarkOf(*row.band, *row.share);
  if (worst.seconds_to_limit.has_value())
    row.notes.push_back(NoteOf("full in " + HumanDuration(*worst.seconds_to_limit)));
  row.notes.push_back(NoteOf(fmt::format("{} of {}", HumanPercent(*row.share), HumanMemory(limit))));
  row.notes.push_back({"on ", "", "", "", 0, worst.worker});
  row.notes.push_back(NoteOf(GoodHint(*row.band)));
  return row;
}

KeyFigureRow Failures(const LiveModel& model, const LiveFigures& figures) {
  KeyFigureRow row = {"Failed attempts", {"num_failed_attempts", ChangeOf::kFailures, false}};
  const LiveTotals& totals = model.totals();
  if (model.has_schedulers_only()) return Unknown(std::move(row), "no chunk was recorded");
  const auto gone = static_cast<double>(totals.gone()), attempts = static_cast<double>(model.attempts());
  row.value = gone;
  row.text = fmt::format("{} of {}", HumanCount(gone), HumanCount(attempts));
  if (!(attempts > 0)) return row;
  row.band = BandOf(KeyFigure::kFailedAttempts);
  row.share = gone / attempts;
  row.mark = MarkOf(*row.band, *row.share);
  // a run that goes on may still try again
  if (model.state() != ProcessState::kRunning && figures.unrecovered > 0) row.mark = Mark::kBad;
  if (gone == 0) {
    row.notes = {NoteOf(GoodHint(*row.band))};
  } else if (figures.unrecovered == 0) {
    row.notes = {NoteOf("all ok on retry")};
  } else {
    row.notes = {NoteOf(HumanCount(figures.unrecovered) + " without a result"),
                 NoteOf(HumanCount(totals.recovered) + " ok on retry")};
  }
  if (const int64_t workers = figures.workers.lost; workers > 0) {
    if (row.mark == Mark::kGood) row.mark = Mark::kWatch;
    row.notes.insert(row.notes.begin(), NoteOf(Counted(workers, "worker", "workers") + " lost"));
  }
  if (const int64_t lost = totals.counts.num_lost_attempts; lost > 0) {
    row.notes.push_back(NoteOf(HumanCount(lost) + " lost"));
  }
  return row;
}

KeyFigureRow Gpu(const LiveGpus& gpus) {
  KeyFigureRow row = {"GPU", {"gpu_utilization", ChangeOf::kShare, true}};
  row.value = row.share = gpus.utilization;
  row.text = gpus.utilization.has_value() ? HumanPercent(*gpus.utilization) : "–";
  row.notes = {NoteOf(gpus.utilization.has_value() ? "a kernel ran" : "the driver does not report how busy it is")};
  if (gpus.count > 1) row.notes.push_back(NoteOf(fmt::format("mean of {} GPUs", gpus.count)));
  if (gpus.memory_bytes.has_value()) {
    row.notes.push_back(NoteOf(HumanMemory(*gpus.memory_bytes) + " of its memory"));
  } else {
    row.notes.push_back(NoteOf("maybe of other programs"));
  }
  if (gpus.power_watts.has_value()) row.notes.push_back(NoteOf(fmt::format("{:.0f} W", *gpus.power_watts)));
  return row;
}

}  // namespace

LiveFigures ComputeLiveFigures(const LiveModel& model) {
  LiveFigures figures;
  const LiveTotals& totals = model.totals();
  figures.wall_seconds = model.wall_seconds();
  figures.cores = model.live_cores();
  for (const LiveWorker& worker : model.workers()) {
    if (worker.state == ProcessState::kRunning) figures.busy += worker.busy_cores();
    figures.workers.recorded += worker.has_recorded();
    figures.workers.at_work += worker.is_at_work();
    figures.workers.lost += worker.state == ProcessState::kLost && worker.has_recorded();
  }
  figures.core_seconds = model.core_seconds();
  figures.metrics.Set("core_seconds", figures.core_seconds);
  SetSumsSoFar(totals, totals.bytes, figures.wall_seconds, &figures.metrics);
  figures.cpu_efficiency = figures.metrics.Number("cpu_efficiency");
  figures.mean_event_rate = Ratio(figures.metrics.Number("total_events"), figures.wall_seconds);
  figures.mean_byte_rate = Ratio(figures.metrics.Number("bytes_read_chunks"), figures.wall_seconds);
  figures.memory = FindWorstMemory(model);
  figures.gpus = GpusOf(model);
  figures.unrecovered = model.unrecovered();
  SetRecent(model, figures);
  figures.progress.events = totals.events_so_far();
  figures.progress.total_events = model.total_events();
  SetShare(figures.progress);
  SetLeft(model, figures.progress);
  return figures;
}

std::string_view NameOfRunState(ProcessState state) {
  constexpr std::string_view kNames[] = {"finished", "running", "killed", ""};
  return kNames[static_cast<size_t>(state)];
}

std::vector<KeyFigureRow> LiveKeyFigureRows(const LiveModel& model, const LiveFigures& figures) {
  std::vector<KeyFigureRow> rows = {EventRate(model, figures), DataRate(model, figures),      CoresBusy(model, figures),
                                    CpuEfficiency(figures),    FullestMemory(model, figures), Failures(model, figures)};
  if (figures.gpus.count > 0) rows.push_back(Gpu(figures.gpus));
  return rows;
}

std::string LiveTrouble(const LiveModel& model, const LiveFigures& figures) {
  if (model.state() == ProcessState::kLost) return "";
  if (model.state() != ProcessState::kRunning && figures.unrecovered > 0) {
    return Counted(figures.unrecovered, "chunk", "chunks") + " without a result";
  }
  const auto& [recorded, at_work, lost] = figures.workers;
  return lost > 0 ? fmt::format("{} of {} lost", lost, Counted(recorded, "worker", "workers")) : "";
}

WorkerConcern ConcernOf(const LiveModel& model, const LiveWorker& worker) {
  if (worker.state == ProcessState::kLost) return WorkerConcern::kVanished;
  if (worker.state != ProcessState::kRunning) return WorkerConcern::kEnded;
  return worker.slow_is_warned || worker.memory_is_warned || MemoryMarkOf(model, worker) == Mark::kBad
             ? WorkerConcern::kTroubled
             : WorkerConcern::kRunning;
}

Mark MemoryMarkOf(const LiveModel& model, const LiveWorker& worker) {
  if (worker.memory_limit_bytes.value_or(0) <= 0 || worker.rss_bytes <= 0) return Mark::kGood;
  return MarkOf(MemoryBand(model.engine()),
                static_cast<double>(worker.rss_bytes) / static_cast<double>(*worker.memory_limit_bytes));
}

std::vector<size_t> WorstWorkersFirst(const LiveModel& model, size_t most) {
  const auto& workers = model.workers();
  std::vector<size_t> order;
  for (size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].has_recorded() && !workers[i].is_other()) order.push_back(i);
  }
  const auto rank = [&](size_t i) {
    const bool is_gone = workers[i].state != ProcessState::kRunning;
    return std::make_pair(ConcernOf(model, workers[i]), is_gone ? -workers[i].last_ns : static_cast<int64_t>(i));
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  if (order.size() <= most) return order;
  const auto others = std::find_if(order.begin(), order.end(),
                                   [&](size_t i) { return ConcernOf(model, workers[i]) != WorkerConcern::kVanished; });
  const size_t vanished = static_cast<size_t>(others - order.begin());
  const size_t kept = std::max(most / 2, most - std::min(most, order.size() - vanished));
  if (vanished > kept) order.erase(order.begin() + static_cast<int64_t>(kept), others);
  order.resize(std::min(order.size(), most));
  return order;
}

}  // namespace crema
