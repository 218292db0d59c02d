#include "collector/server/live_figures.h"

#include <algorithm>
#include <cmath>

namespace crema {
namespace {

/// Blocks of this many seconds, and so many of them, tell how the rate varies.
constexpr int64_t kBlockSeconds = 10;
constexpr int64_t kBlocks = 6;
constexpr int64_t kLeastBlocks = 3;

void SetRecent(const LiveModel& model, LiveFigures& figures) {
  const int64_t seconds = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(figures.wall_seconds)), 1, kRecentSeconds);
  const RunSecond sum = model.recent().Sum(model.second() - seconds, model.second() - 1);
  figures.recent_seconds = static_cast<double>(seconds);
  figures.event_rate = static_cast<double>(sum.events) / figures.recent_seconds;
  figures.byte_rate = static_cast<double>(sum.bytes) / figures.recent_seconds;
  if (sum.core_ns <= 0 || model.state() != LiveState::kRunning) return;
  const double known = sum.compute_ns + sum.waiting_ns + sum.failed_ns + sum.joined_ns;
  // a task around a chunk is one lane with it
  const double around = std::max(0.0, sum.task_ns - sum.chunk_ns);
  const double occupied = std::max(sum.occupied_ns, known + around);
  const double whole = std::max(sum.core_ns, occupied);
  const double idle = whole - occupied + sum.joined_ns;
  figures.busy_share = std::min(1.0, occupied / whole);
  figures.recent = {
      {"compute", "CPU in your code", sum.compute_ns / whole},
      {"waiting", "Waiting in your code", sum.waiting_ns / whole},
      {"framework", "Framework and opening", (around + sum.failed_ns) / whole},
      {"open", "In chunks still open", (occupied - known - around) / whole},
      {"idle", "Idle", idle / whole},
  };
}

void SetLeft(const LiveModel& model, Progress& progress) {
  if (!progress.total_events.has_value() || model.state() != LiveState::kRunning) return;
  const auto remaining = static_cast<double>(*progress.total_events - progress.events);
  if (remaining <= 0) return;
  const auto blocks = std::min<int64_t>(kBlocks, static_cast<int64_t>(model.wall_seconds()) / kBlockSeconds);
  double sum = 0;
  double squares = 0;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t last = model.second() - 1 - block * kBlockSeconds;
    const double rate = static_cast<double>(model.recent().Sum(last - kBlockSeconds + 1, last).events) / kBlockSeconds;
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

/// Of the workers that run; of a run that is over, by the peaks that they had.
std::optional<WorstMemory> FindWorstMemory(const LiveModel& model) {
  std::optional<WorstMemory> worst;
  double largest = -1;
  const bool is_over = model.state() != LiveState::kRunning;
  for (const LiveWorker& worker : model.workers()) {
    const int64_t bytes = is_over ? worker.peak_rss_bytes : worker.rss_bytes;
    if ((!is_over && worker.state != LiveState::kRunning) || bytes <= 0) continue;
    // workers without a limit are compared by size, after those with one
    const double measure = worker.memory_limit_bytes.value_or(0) > 0
                               ? 1 + static_cast<double>(bytes) / static_cast<double>(*worker.memory_limit_bytes)
                               : static_cast<double>(bytes) / 1e18;
    if (measure <= largest) continue;
    largest = measure;
    worst = WorstMemory{worker.name, bytes, worker.memory_limit_bytes, is_over ? std::nullopt : SecondsToLimit(worker)};
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
  if (knows_power) used.power_watts = static_cast<double>(power_mw) / 1e3;
  return used;
}

void SetShare(Progress& progress) {
  if (!progress.total_events.has_value() || *progress.total_events <= 0) return;
  progress.share = static_cast<double>(progress.events) / static_cast<double>(*progress.total_events);
}

}  // namespace

LiveFigures ComputeLiveFigures(const LiveModel& model) {
  LiveFigures figures;
  const LiveTotals& totals = model.totals();
  figures.wall_seconds = model.wall_seconds();
  if (figures.wall_seconds > 0) {
    if (totals.events_known) figures.mean_event_rate = static_cast<double>(totals.events) / figures.wall_seconds;
    if (totals.bytes_known) figures.mean_byte_rate = static_cast<double>(totals.bytes_read) / figures.wall_seconds;
  }
  figures.cores = model.live_cores();
  for (const LiveWorker& worker : model.workers()) {
    if (worker.state != LiveState::kRunning) continue;
    figures.busy += std::min(worker.cores(), static_cast<int64_t>(worker.open.size()));
  }
  figures.core_seconds = model.core_seconds();
  if (totals.cpu_known && figures.core_seconds > 0) {
    figures.cpu_efficiency = static_cast<double>(totals.cpu_ns) / 1e9 / figures.core_seconds;
  }
  figures.memory = FindWorstMemory(model);
  figures.gpus = GpusOf(model);
  figures.unrecovered = model.unrecovered();
  SetRecent(model, figures);
  figures.progress.events = totals.events;
  figures.progress.total_events = model.total_events();
  SetShare(figures.progress);
  SetLeft(model, figures.progress);
  return figures;
}

Progress ProgressOf(const LiveModel& model, const LiveDataset& dataset) {
  Progress progress;
  progress.events = dataset.events;
  progress.total_events = model.total_events_of(dataset.name);
  SetShare(progress);
  return progress;
}

std::string_view NameOf(LiveState state) {
  switch (state) {
    case LiveState::kRunning:
      return "running";
    case LiveState::kEnded:
      return "finished";
    case LiveState::kUnreported:
      return "";
    case LiveState::kLost:
      break;
  }
  return "killed";
}

std::string_view NameOfWorkerState(LiveState state) {
  switch (state) {
    case LiveState::kRunning:
      return "running";
    case LiveState::kEnded:
      return "ended";
    case LiveState::kUnreported:
      return "unreported";
    case LiveState::kLost:
      break;
  }
  return "lost";
}

}  // namespace crema
