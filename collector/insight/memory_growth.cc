#include "collector/insight/memory_growth.h"

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"

namespace crema {
namespace {

/// Bytes a second by least squares over the samples from `from` on; nullopt where they are all of one moment.
std::optional<double> GrowthSince(const std::vector<MemoryPoint>& memory, size_t from) {
  const MemoryPoint& first = memory[from];
  double n = 0, sum_t = 0, sum_m = 0, sum_tt = 0, sum_tm = 0;
  for (size_t i = from; i < memory.size(); ++i) {
    const MemoryPoint& point = memory[i];
    const double t = static_cast<double>(point.time_ns - first.time_ns) / 1e9;
    const auto m = static_cast<double>(point.rss_bytes);
    n += 1;
    sum_t += t;
    sum_m += m;
    sum_tt += t * t;
    sum_tm += t * m;
  }
  const double spread = n * sum_tt - sum_t * sum_t;
  return spread <= 0 ? std::nullopt : std::optional<double>((n * sum_tm - sum_t * sum_m) / spread);
}

int64_t Nanoseconds(double seconds) { return absl::ToInt64Nanoseconds(absl::Seconds(seconds)); }

}  // namespace

std::optional<double> GrowthOf(const std::vector<MemoryPoint>& memory, int64_t limit_bytes) {
  if (memory.size() < kLeastMemoryPoints) return std::nullopt;
  const auto limit = static_cast<double>(limit_bytes);
  const auto now = static_cast<double>(memory.back().rss_bytes);
  const std::optional<double> overall = GrowthSince(memory, 0);
  const std::optional<double> lately = GrowthSince(memory, memory.size() - memory.size() / kPartsOfMemory);
  if (!overall.has_value() || !lately.has_value()) return std::nullopt;
  const double slope = std::min(*overall, *lately);  // what grew and has come to rest does not reach the limit
  const double span = static_cast<double>(memory.back().time_ns - memory.front().time_ns) / 1e9;
  if (slope * span < kLeastGrowth * limit || now < kLeastMemory * limit || now >= limit) return std::nullopt;
  return slope;
}

std::optional<double> SecondsToLimit(const std::vector<MemoryPoint>& memory, int64_t limit_bytes) {
  const std::optional<double> growth = GrowthOf(memory, limit_bytes);
  if (!growth.has_value()) return std::nullopt;
  return static_cast<double>(limit_bytes - memory.back().rss_bytes) / *growth;
}

std::vector<MemoryPoint> LastMemoryOf(const Measurement& measurement, std::string_view worker) {
  std::vector<MemoryPoint> changes;
  for (const char* key : {"worker_anonymous_memory", "worker_memory"}) {
    const auto* by_worker = measurement.timelines.Find(key);
    if (by_worker == nullptr || !changes.empty()) continue;
    for (const auto& [name, timeline] : *by_worker) {
      if (name != worker) continue;
      for (const TimelinePoint& point : timeline) {
        if (!std::isnan(point.value)) changes.push_back({Nanoseconds(point.seconds), std::llround(point.value)});
      }
    }
  }
  std::vector<MemoryPoint> memory;
  if (changes.empty()) return memory;
  int64_t end_ns = changes.back().time_ns;
  for (const WorkerRow& row : measurement.workers) {
    if (row.name.str() != worker) continue;
    end_ns = std::max(end_ns, Nanoseconds(row.stop.value_or(0)));
  }
  size_t next = 0;
  for (int64_t time_ns = std::max(changes.front().time_ns, end_ns - kMemorySpanNs); time_ns <= end_ns;
       time_ns += kMemoryStepNs) {
    while (next < changes.size() && changes[next].time_ns <= time_ns) ++next;
    // 0 is no memory: the worker is gone
    if (changes[next - 1].rss_bytes > 0) memory.push_back({time_ns, changes[next - 1].rss_bytes});
  }
  return memory;
}

}  // namespace crema
