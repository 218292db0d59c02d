#include "collector/metrics/tree/tree_timelines.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace crema {
namespace {

constexpr size_t kMostByCpu = 24, kMostByMemory = 8;

using Lines = std::map<std::string, Timeline>;
using ProcessKey = std::pair<int64_t, int64_t>;  // pid, start

double SecondsAt(int64_t time_ns, const RunWindow& run) { return static_cast<double>(time_ns - run.start_ns) / 1e9; }

void AddPoint(double seconds, double value, Timeline* line) {
  if (!line->empty() && line->back().value == value) return;
  line->push_back({seconds, value});
}

// A rate holds from the reading before: it is what was used since then.
template <class Reading>
void AddRates(const std::vector<Reading>& readings,
              const std::function<std::optional<int64_t>(const Reading&)>& counter, double unit, const RunWindow& run,
              Timeline* line) {
  const Reading* before = nullptr;
  for (const Reading& reading : readings) {
    if (before != nullptr && reading.time_ns > before->time_ns) {
      const auto now = counter(reading), then = counter(*before);
      const double seconds = static_cast<double>(reading.time_ns - before->time_ns) / 1e9;
      if (now.has_value() && then.has_value()) {
        const double rate = unit * static_cast<double>(std::max<int64_t>(0, *now - *then)) / seconds;
        AddPoint(std::max(0.0, SecondsAt(before->time_ns, run)), rate, line);
      }
    }
    before = &reading;
  }
  if (before != nullptr && !line->empty()) AddPoint(SecondsAt(before->time_ns, run), 0, line);
}

template <class Reading>
void AddLevels(const std::vector<Reading>& readings, const std::function<std::optional<int64_t>(const Reading&)>& level,
               const RunWindow& run, Timeline* line) {
  for (const Reading& reading : readings) {
    const auto value = level(reading);
    if (value.has_value()) AddPoint(std::max(0.0, SecondsAt(reading.time_ns, run)), static_cast<double>(*value), line);
  }
  if (readings.size() < 2 || line->empty()) return;
  // What was there at the last reading had ended before the next.
  const int64_t last_ns = readings.back().time_ns;
  const int64_t next_ns = std::min(run.stop_ns, 2 * last_ns - readings[readings.size() - 2].time_ns);
  if (next_ns > last_ns) AddPoint(SecondsAt(next_ns, run), 0, line);
}

// Those with a line of their own.
std::set<ProcessKey> Largest(const TreeRun& tree) {
  std::vector<std::pair<int64_t, ProcessKey>> cpu, memory;
  for (const auto& [key, samples] : tree.processes) {
    int64_t used = 0, held = 0;
    for (const ProcessSample& sample : samples) {
      used = std::max(used, sample.cpu_ns.value_or(0));
      held = std::max(held, sample.rss_bytes.value_or(0));
    }
    cpu.emplace_back(used, key);
    memory.emplace_back(held, key);
  }
  std::set<ProcessKey> largest;
  const auto take = [&largest](std::vector<std::pair<int64_t, ProcessKey>>& by, size_t most) {
    std::sort(by.rbegin(), by.rend());
    for (size_t i = 0; i < std::min(most, by.size()); ++i) largest.insert(by[i].second);
  };
  take(cpu, kMostByCpu);
  take(memory, kMostByMemory);
  return largest;
}

std::optional<std::map<std::string, Timeline>> IfAny(Lines lines) {
  for (auto line = lines.begin(); line != lines.end();) line = line->second.empty() ? lines.erase(line) : ++line;
  if (lines.empty()) return std::nullopt;
  return lines;
}

}  // namespace

void AddTreeTimelines(const TreeAccumulator& trees, const RunWindow& run, WorkerTimelines* timelines) {
  Lines cpu, system, memory, pss, processes, threads, read, write, rchar, wchar, received, sent;
  Lines gpu_utilization, gpu_memory, gpu_power;
  Lines process_cpu, process_memory, process_threads;
  for (const TreeRun* tree : trees.Runs()) {
    const std::string name = tree->run.host + ":" + std::to_string(tree->run.pid);
    const std::vector<TreePoint>& points = tree->points;
    AddRates<TreePoint>(
        points, [](const TreePoint& point) { return point.cpu_ns; }, 1e-9, run, &cpu[name]);
    AddRates<TreePoint>(
        points, [](const TreePoint& point) { return point.cpu_system_ns; }, 1e-9, run, &system[name]);
    AddLevels<TreePoint>(
        points, [](const TreePoint& point) { return point.rss_bytes; }, run, &memory[name]);
    AddLevels<TreePoint>(
        points, [](const TreePoint& point) { return point.pss_bytes; }, run, &pss[name]);
    AddLevels<TreePoint>(
        points, [](const TreePoint& point) { return point.processes; }, run, &processes[name]);
    AddLevels<TreePoint>(
        points, [](const TreePoint& point) { return point.threads; }, run, &threads[name]);
    const auto io = [](int64_t TreeIo::*field) {
      return [field](const TreePoint& point) {
        return point.io.has_value() ? std::optional<int64_t>((*point.io).*field) : std::nullopt;
      };
    };
    AddRates<TreePoint>(points, io(&TreeIo::read_bytes), 1, run, &read[name]);
    AddRates<TreePoint>(points, io(&TreeIo::write_bytes), 1, run, &write[name]);
    AddRates<TreePoint>(points, io(&TreeIo::rchar_bytes), 1, run, &rchar[name]);
    AddRates<TreePoint>(points, io(&TreeIo::wchar_bytes), 1, run, &wchar[name]);
    const auto net = [](int64_t TreeNet::*field) {
      return [field](const TreePoint& point) {
        return point.net.has_value() ? std::optional<int64_t>((*point.net).*field) : std::nullopt;
      };
    };
    AddRates<TreePoint>(points, net(&TreeNet::rx_bytes), 1, run, &received[name]);
    AddRates<TreePoint>(points, net(&TreeNet::tx_bytes), 1, run, &sent[name]);
    for (const auto& [index, gpu] : tree->gpus) {
      const auto level = [index = index](std::optional<int64_t> TreeGpu::*field) {
        return [index, field](const TreePoint& point) {
          for (const TreeGpu& reading : point.gpus) {
            if (reading.index == index) return reading.*field;
          }
          return std::optional<int64_t>();
        };
      };
      const std::string label = tree->run.host + ":" + std::to_string(index);
      AddLevels<TreePoint>(points, level(&TreeGpu::utilization_percent), run, &gpu_utilization[label]);
      AddLevels<TreePoint>(points, level(&TreeGpu::memory_used_bytes), run, &gpu_memory[label]);
      AddLevels<TreePoint>(points, level(&TreeGpu::power_mw), run, &gpu_power[label]);
    }
    for (const ProcessKey& key : Largest(*tree)) {
      const std::vector<ProcessSample>& samples = tree->processes.at(key);
      const auto named = tree->names.find(key);
      const std::string label =
          (named == tree->names.end() ? tree->run.host : named->second) + ":" + std::to_string(key.first);
      AddRates<ProcessSample>(
          samples, [](const ProcessSample& sample) { return sample.cpu_ns; }, 1e-9, run, &process_cpu[label]);
      AddLevels<ProcessSample>(
          samples, [](const ProcessSample& sample) { return sample.rss_bytes; }, run, &process_memory[label]);
      AddLevels<ProcessSample>(
          samples, [](const ProcessSample& sample) { return sample.threads; }, run, &process_threads[label]);
    }
  }
  std::vector<TimelinesByWorker>& series = timelines->series;
  series.push_back({"tree_cpu", IfAny(std::move(cpu))});
  series.push_back({"tree_cpu_system", IfAny(std::move(system))});
  series.push_back({"tree_memory", IfAny(std::move(memory))});
  series.push_back({"tree_pss", IfAny(std::move(pss))});
  series.push_back({"tree_processes", IfAny(std::move(processes))});
  series.push_back({"tree_threads", IfAny(std::move(threads))});
  series.push_back({"tree_read_bps", IfAny(std::move(read))});
  series.push_back({"tree_write_bps", IfAny(std::move(write))});
  series.push_back({"tree_rchar_bps", IfAny(std::move(rchar))});
  series.push_back({"tree_wchar_bps", IfAny(std::move(wchar))});
  series.push_back({"tree_net_rx_bps", IfAny(std::move(received))});
  series.push_back({"tree_net_tx_bps", IfAny(std::move(sent))});
  series.push_back({"gpu_utilization_percent", IfAny(std::move(gpu_utilization))});
  series.push_back({"gpu_memory", IfAny(std::move(gpu_memory))});
  series.push_back({"gpu_power_mw", IfAny(std::move(gpu_power))});
  series.push_back({"process_cpu", IfAny(std::move(process_cpu))});
  series.push_back({"process_memory", IfAny(std::move(process_memory))});
  series.push_back({"process_threads", IfAny(std::move(process_threads))});
}

}  // namespace crema
