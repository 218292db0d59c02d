#include "collector/metrics/budget/process_cpu.h"

#include <algorithm>
#include <optional>

namespace crema {

ProcessCpu::ProcessCpu(const ProcessRow& process, Quantity quantity) {
  std::vector<CpuReading> all;
  const bool is_cpu = quantity == Quantity::kCpu;
  for (const CpuReading& reading : process.cpu_readings) {
    if (is_cpu) all.push_back(reading);
    if (!is_cpu && reading.run_delay_ns.has_value()) all.push_back({reading.time_ns, *reading.run_delay_ns, {}});
  }
  for (const ProcessSample& sample : process.samples) {
    const std::optional<int64_t>& sum_ns = is_cpu ? sample.cpu_ns : sample.run_delay_ns;
    if (sum_ns.has_value()) all.push_back({sample.time_ns, *sum_ns, {}});
  }
  std::sort(all.begin(), all.end(), [](const CpuReading& a, const CpuReading& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.cpu_ns < b.cpu_ns;
  });
  // The only time of a process that stays on its own clock.
  if (process.start_ns > 0) readings_.push_back({process.start_ns + process.clock_offset_ns.value_or(0), 0});
  for (const CpuReading& reading : all) {
    if (!readings_.empty() && reading.time_ns <= readings_.back().time_ns) continue;
    const int64_t before_ns = readings_.empty() ? 0 : readings_.back().cpu_ns;
    readings_.push_back({reading.time_ns, std::max(before_ns, reading.cpu_ns)});
  }
}

size_t ProcessCpu::ReadingBefore(int64_t time_ns) {
  if (readings_.empty() || time_ns < readings_.front().time_ns) return readings_.size();
  while (hint_ > 0 && readings_[hint_].time_ns > time_ns) --hint_;
  while (hint_ + 1 < readings_.size() && readings_[hint_ + 1].time_ns <= time_ns) ++hint_;
  return hint_;
}

void ProcessCpu::AddChunk(int64_t start_ns, int64_t stop_ns, int64_t cpu_ns) {
  const size_t begun = ReadingBefore(start_ns);
  if (begun < readings_.size()) readings_[begun].chunk_cpu_ns += cpu_ns;
  const size_t ended = ReadingBefore(stop_ns - 1);
  if (ended >= readings_.size()) return;
  const size_t first_inside = begun < readings_.size() ? begun + 1 : 0;
  if (first_inside > ended) return;
  // A chunk that begins or ends at a reading is not open there.
  ++readings_[first_inside].opened;
  if (ended + 1 < readings_.size()) --readings_[ended + 1].opened;
}

void ProcessCpu::AddUnknown(int64_t start_ns, int64_t stop_ns) {
  size_t at = ReadingBefore(start_ns);
  if (at >= readings_.size()) at = 0;
  for (; at + 1 < readings_.size() && readings_[at].time_ns < stop_ns; ++at) {
    const int64_t from_ns = std::max(start_ns, readings_[at].time_ns);
    const int64_t to_ns = std::min(stop_ns, readings_[at + 1].time_ns);
    if (from_ns < to_ns) readings_[at].unknown_ns += to_ns - from_ns;
  }
}

std::vector<OutsideCpu> ProcessCpu::Find() const {
  std::vector<OutsideCpu> stretches;
  std::optional<Reading> from;  // the last one without an open chunk, with the sums since then
  int64_t open = 0;
  for (const Reading& reading : readings_) {
    open += reading.opened;
    if (open == 0) {
      if (from.has_value()) {
        const int64_t cpu_ns = reading.cpu_ns - from->cpu_ns - from->chunk_cpu_ns - from->unknown_ns;
        if (cpu_ns > 0) stretches.push_back({from->time_ns, reading.time_ns, cpu_ns});
      }
      from = reading;
    } else if (from.has_value()) {
      from->chunk_cpu_ns += reading.chunk_cpu_ns;
      from->unknown_ns += reading.unknown_ns;
    }
  }
  return stretches;
}

}  // namespace crema
