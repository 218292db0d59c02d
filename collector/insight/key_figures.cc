#include "collector/insight/key_figures.h"

#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/lost_workers.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::optional<TightestWorker> FindTightestWorker(const Json& document) {
  std::optional<TightestWorker> tightest;
  for (const Json& worker : ListField(document, "workers")) {
    const std::optional<double> peak =
        std::max(NumberField(worker, "peak_memory_bytes"), NumberField(worker, "engine_peak_memory_bytes"));
    const std::optional<double> limit = NumberField(worker, "memory_limit_bytes");
    if (!peak.has_value() || limit.value_or(0) <= 0) continue;
    TightestWorker candidate = {TextField(worker, "name"), *peak, *limit};
    if (!tightest.has_value() || candidate.share() > tightest->share()) tightest = std::move(candidate);
  }
  return tightest;
}

// A worker that was killed, perhaps because it was out of memory, did not say its last: the kernel did.
bool IsPeakOfWorkersKnown(const Json& document) {
  const std::optional<double> of_workers = Metric(document, "peak_memory_bytes");
  const bool any_lost = NumberField(Field(document, "quality"), "processes_lost").value_or(0) > 0;
  return of_workers.has_value() && !(any_lost && Metric(document, "process_peak_rss_bytes").value_or(0) > *of_workers);
}

}  // namespace

std::optional<double> ShareOf(const Json& document, const ShareFigure& figure) {
  std::optional<double> share = Metric(document, figure.key);
  if (share.has_value()) *share *= figure.scale;
  return share;
}

std::optional<double> CpuWaitShare(const Json& document) {
  const std::optional<double> cpu_wait = Metric(document, "chunk_cpu_wait");
  const double busy = Metric(document, "busy_time").value_or(0);
  if (!cpu_wait.has_value() || !(busy > 0)) return std::nullopt;
  return *cpu_wait / busy;
}

std::string CompressionNote(const Json& document) {
  const std::optional<double> ratio = Metric(document, "compression_ratio");
  return ratio.has_value() ? fmt::format("compressed {}×", HumanCount(*ratio)) : "";
}

std::optional<PeakMemory> FindPeakMemory(const Json& document) {
  PeakMemory memory;
  memory.is_of_worker = IsPeakOfWorkersKnown(document);
  memory.key = memory.is_of_worker ? "peak_memory_bytes" : "process_peak_rss_bytes";
  const std::optional<double> bytes = Metric(document, memory.key);
  if (!bytes.has_value()) return std::nullopt;
  memory.bytes = *bytes;
  if (memory.is_of_worker) memory.tightest = FindTightestWorker(document);
  memory.band = MemoryBand(TextField(Field(document, "run"), "engine"));
  memory.all_processes_bytes = Metric(document, "tree_peak_rss_bytes");
  return memory;
}

std::optional<FailedAttempts> FindFailedAttempts(const Json& document) {
  const std::optional<double> attempts = Metric(document, "num_attempts");
  const std::optional<double> failed = Metric(document, "num_failed_attempts");
  if (!attempts.has_value() || !failed.has_value()) return std::nullopt;
  FailedAttempts figure;
  figure.attempts = *attempts;
  figure.failed = *failed;
  figure.lost = Metric(document, "num_lost_attempts").value_or(0);
  figure.lost_workers = static_cast<double>(FindLostWorkers(document).names.size());
  if (!(*attempts > 0)) return figure;
  figure.mark = MarkOf(KeyFigure::kFailedAttempts, figure.gone() / *attempts);
  if (figure.lost_workers > 0 && figure.mark == Mark::kGood) figure.mark = Mark::kWatch;
  const std::optional<double> unfinished = Metric(document, "num_unfinished_chunks");
  if (!unfinished.has_value() || TextField(Field(document, "run"), "state") == "running") return figure;
  figure.without_result = *unfinished;
  figure.is_all_recovered = *unfinished == 0 && figure.gone() > 0;
  if (*unfinished > 0) figure.mark = Mark::kBad;
  return figure;
}

}  // namespace crema
