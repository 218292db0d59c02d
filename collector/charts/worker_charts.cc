// Workers beside one another: maps of worker and time, small multiples, and how evenly they were busy.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/heat_map.h"
#include "collector/charts/shown_names.h"
#include "collector/charts/worker_series.h"
#include "collector/charts/workers_of_document.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr size_t kMostPanels = 16;
constexpr size_t kMostBars = 40;

/// Each bin of `above` by that of `below`, times 100.
std::vector<std::optional<double>> PercentOf(const WorkerSeries& above, const WorkerSeries& below) {
  std::vector<std::optional<double>> percent(above.bins.size());
  for (size_t bin = 0; bin < percent.size(); ++bin) {
    const auto value = above.bins[bin].mean(), whole = below.bins[bin].mean();
    if (value.has_value() && whole.has_value() && *whole > 0) percent[bin] = 100 * *value / *whole;
  }
  return percent;
}

size_t WorkersWith(const Measurement& measurement, std::string_view key) {
  const auto* timelines = measurement.timelines.Find(key);
  return timelines == nullptr ? 0 : timelines->size();
}

}  // namespace

Drawing DrawCpuHeatmap(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const size_t bins = HeatMap::BinsFor(WorkersWith(measurement, "worker_cpu"));
  const SeriesOfWorkers cpu = ReadWorkerSeries(measurement, "worker_cpu", bins);
  const SeriesOfWorkers cores = ReadWorkerSeries(measurement, "worker_cores", bins);
  HeatMap map(measurement.Metric("wall_time").value_or(0), "CPU, of the worker's cores [%]");
  map.SetTop(100);
  ShownNames names;
  const WorkerNames workers = NamesOfWorkers(measurement);
  for (const WorkerSeries& series : cpu.workers) {
    if (const WorkerSeries* of = cores.Find(series.worker))
      map.AddRow(names.Of(workers.Of(series.worker)), PercentOf(series, *of));
  }
  if (map.empty()) return NotDrawn("no worker told its CPU time while it ran");
  const std::optional<double> average = measurement.Metric("worker_cpu_utilization_avg");
  return {map.Take(),
          (average.has_value() ? HumanPercent(*average) + " on average" : "grey: not there") + map.LeftOut(), ""};
}

Drawing DrawReadRateHeatmap(const ChartInput& input) {
  if (input.detail == nullptr)
    return NotDrawn("the single chunks are not known: this is a measurement without its records");
  const WorkerGrid& grid = input.detail->by_worker;
  double all = 0;
  for (const double bytes : grid.bytes_read) all += bytes;
  if (!(all > 0)) return NotDrawn("no chunk told how many bytes it read");
  const auto bins = static_cast<size_t>(grid.bins);
  const size_t together = (bins + HeatMap::BinsFor(grid.rows.size()) - 1) / HeatMap::BinsFor(grid.rows.size());
  const double bin_seconds = grid.bin_seconds * static_cast<double>(together);
  HeatMap map(input.detail->seconds, "data read [MB/s]");
  ShownNames names;
  const WorkerNames workers = NamesOfWorkers(*input.measurement);
  for (size_t row = 0; row < grid.rows.size(); ++row) {
    std::vector<std::optional<double>> rates((bins + together - 1) / together);
    for (size_t bin = 0; bin < bins; ++bin) {
      const size_t at = row * bins + bin;
      // where no chunk was open nothing is known of the worker
      if (!(grid.busy_seconds[at] > 0)) continue;
      rates[bin / together] = rates[bin / together].value_or(0) + grid.bytes_read[at] / bin_seconds / 1e6;
    }
    map.AddRow(names.Of(workers.Of(grid.rows[row])), rates, grid.start_seconds, bin_seconds);
  }
  return {map.Take(), HumanData(all) + " read; grey: no chunk open" + map.LeftOut(), ""};
}

Drawing DrawMemorySmallMultiples(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  SeriesOfWorkers memory = ReadWorkerSeries(measurement, "worker_memory", 120);
  if (memory.empty()) return NotDrawn("no worker told its memory while it ran");
  const SeriesOfWorkers limits = ReadWorkerSeries(measurement, "worker_memory_limit", 120);
  const size_t all = memory.workers.size();
  std::stable_sort(memory.workers.begin(), memory.workers.end(),
                   [](const WorkerSeries& a, const WorkerSeries& b) { return a.peak > b.peak; });
  const std::string largest = memory.workers.front().worker;
  const double peak = memory.workers.front().peak;
  if (all > kMostPanels) memory.workers.resize(kMostPanels);
  std::sort(memory.workers.begin(), memory.workers.end(),
            [](const WorkerSeries& a, const WorkerSeries& b) { return IsBefore(a.worker, b.worker); });
  const WorkerNames workers = NamesOfWorkers(measurement);
  Json values = Json::array();
  ShownNames names;
  for (const WorkerSeries& series : memory.workers) {
    const WorkerSeries* limit = limits.Find(series.worker);
    const std::string title =
        fmt::format("{} · peak {}", names.Of(workers.Of(series.worker)), HumanMemory(series.peak));
    for (size_t bin = 0; bin < series.bins.size(); ++bin) {
      const auto mean = series.bins[bin].mean();
      if (!mean.has_value()) continue;
      Json value = {{"worker", title}, {"t", Rounded(memory.CentreOf(bin))}, {"v", Rounded(*mean / kGibibyte)}};
      const auto top = limit == nullptr ? std::nullopt : limit->bins[bin].mean();
      if (top.has_value()) value["limit"] = Rounded(*top / kGibibyte);
      values.push_back(std::move(value));
    }
  }
  const double wall_seconds = measurement.Metric("wall_time").value_or(0);
  Json x = TimeAxis("t", wall_seconds, 3);
  const Json y = Quantity("v", "GiB");
  const std::string time_title = x["title"].get<std::string>();
  x["title"] = nullptr;  // it would stand under each panel
  Json limit_line = {{"mark", {{"type", "line"}, {"style", "limit"}}},
                     {"transform", {{{"filter", "isValid(datum.limit)"}}}},
                     {"encoding", {{"x", x}, {"y", Quantity("limit", "GiB")}}}};
  Json area = {{"mark", {{"type", "area"}, {"style", "cpu"}, {"opacity", 0.22}, {"line", {{"style", "cpu"}}}}},
               {"encoding", {{"x", x}, {"y", y}}}};
  Json layers = Json::array();
  layers.push_back(std::move(area));
  if (!limits.empty()) layers.push_back(std::move(limit_line));
  Json body = {
      {"data", InlineData(std::move(values))},
      {"facet", {{"field", "worker"}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}}},
      {"columns", all > 4 ? 4 : 2},
      {"spacing", 18},
      {"spec", {{"width", all > 4 ? 165 : 300}, {"height", all > 4 ? 80 : 150}, {"layer", std::move(layers)}}}};
  std::string finding = fmt::format("largest: {} in {}", HumanMemory(peak), names.Of(workers.Of(largest)));
  if (all > kMostPanels) finding += fmt::format("; the {} largest of {} workers", kMostPanels, all);
  if (!limits.empty()) finding += "; red: limit";
  finding += "; x: " + time_title;
  return {std::move(body), finding, ""};
}

namespace {

struct BalanceRow {
  std::string worker;
  double cpu = 0, not_computing = 0, no_chunk = 0;  ///< core seconds
  double busy_share = 0;                            ///< of its cores' time
};

std::vector<BalanceRow> ReadBalance(const Measurement& measurement) {
  std::vector<BalanceRow> rows;
  for (const WorkerRow& worker : measurement.workers) {
    const Number &start = worker.start, &stop = worker.stop, &cores = worker.cores;
    if (!start.has_value() || !stop.has_value() || !cores.has_value()) continue;
    const double available = (*stop - *start) * *cores;
    if (!(available > 0)) continue;
    const double busy = worker.duration_sum.value_or(0);
    const double cpu = worker.cpu_sum.value_or(0);
    const double occupied = std::max(busy, cpu);
    rows.push_back(
        {worker.name, cpu, occupied - cpu, std::max(0.0, available - occupied), std::min(1.0, occupied / available)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BalanceRow& a, const BalanceRow& b) { return a.busy_share > b.busy_share; });
  return rows;
}

}  // namespace

Drawing DrawWorkerBalance(const ChartInput& input) {
  std::vector<BalanceRow> rows = ReadBalance(*input.measurement);
  if (rows.empty()) return NotDrawn("it is not known when workers were there and how many cores they had");
  const size_t all = rows.size();
  const double most = rows.front().busy_share, least = rows.back().busy_share;
  if (all > kMostBars) rows.erase(rows.begin() + kMostBars / 2, rows.end() - kMostBars / 2);
  std::sort(rows.begin(), rows.end(),
            [](const BalanceRow& a, const BalanceRow& b) { return IsBefore(a.worker, b.worker); });
  const WorkerNames workers = NamesOfWorkers(*input.measurement);
  static const std::vector<std::string> kParts = {"CPU", "chunk open, no CPU", "no chunk open"};
  Json values = Json::array();
  ShownNames names;
  for (const BalanceRow& row : rows) {
    const double seconds[] = {row.cpu, row.not_computing, row.no_chunk};
    for (size_t part = 0; part < kParts.size(); ++part) {
      values.push_back({{"worker", names.Of(workers.Of(row.worker))},
                        {"part", kParts[part]},
                        {"order", part},
                        {"seconds", Rounded(seconds[part])},
                        {"busy", Rounded(100 * row.busy_share)}});
    }
  }
  Json body = {{"width", 640},
               {"height", {{"step", 18}}},
               {"data", InlineData(std::move(values))},
               {"mark", {{"type", "bar"}, {"height", {{"band", 0.75}}}}},
               {"encoding",
                {{"y", Names("worker", "")},
                 {"x", Quantity("seconds", "core-seconds of the worker [s]")},
                 {"order", {{"field", "order"}, {"type", "quantitative"}}},
                 {"color", NamedColours("part", kParts, {"cpu", "wait", "idle"})},
                 {"tooltip", Tooltip({{"worker", "worker", "nominal"},
                                      {"part", "part", "nominal"},
                                      {"seconds", "core-seconds [s]"},
                                      {"busy", "busy [%]"}})}}}};
  std::string finding = fmt::format("busiest worker {}, least busy {}", HumanPercent(most), HumanPercent(least));
  if (all > kMostBars) finding += fmt::format("; the {} busiest and least busy of {}", kMostBars / 2, all);
  return {std::move(body), finding, ""};
}

}  // namespace crema
