#include "collector/insight/key_figures.h"

#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/lost_workers.h"
#include "collector/insight/tree_figures.h"
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
  memory.all_processes_bytes = measurement.Metric(TreeMemoryKey(measurement));
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

}  // namespace crema
