// Workers beside one another: maps of worker and time, small multiples, and how evenly they were busy.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "collector/charts/time_lines.h"
#include "collector/detail/run_detail.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 256;
constexpr size_t kMostBins = 200;   // cells of 3 pixels and more
constexpr size_t kMostLabels = 40;  // beyond that they would overlap
constexpr double kOverlap = 0.5;    // of a cell

/// A map of rows (workers) and time: a stronger colour is more, grey is "not there".
class HeatMap {
 public:
  /// Columns that a map of so many rows may have: all cells together stay below the most marks of a chart.
  static size_t BinsFor(size_t rows) {
    return std::min(kMostBins, (kMostMarks - kMostRows) / std::clamp<size_t>(rows, 1, kMostRows));
  }

  /// `what` has the unit.
  HeatMap(double wall_seconds, std::string_view what) : wall_seconds_(wall_seconds), what_(what) {}

  /// One value for each part of `bin_seconds` from `start_seconds` on. Rows beyond 256 are left out.
  void AddRow(const std::string& name, const std::vector<std::optional<double>>& bins, double start_seconds,
              double bin_seconds) {
    if (++rows_ > kMostRows) return;
    names_.push_back({{"name", name}, {"from", 0}, {"to", Rounded(wall_seconds_)}});
    for (size_t bin = 0; bin < bins.size(); ++bin) {
      if (!bins[bin].has_value()) continue;
      const double from = start_seconds + static_cast<double>(bin) * bin_seconds;
      // what follows is drawn over it: edges between pixels would be seams
      const bool is_followed = bin + 1 < bins.size() && bins[bin + 1].has_value();
      const double to = from + bin_seconds * (is_followed ? 1 + kOverlap : 1);
      cells_.push_back({{"name", name},
                        {"from", Rounded(std::max(0.0, from))},
                        {"to", Rounded(std::min(wall_seconds_, to))},
                        {"v", Rounded(*bins[bin])}});
    }
  }

  bool empty() const { return rows_ == 0; }
  /// `; 256 of 300 rows`, or nothing.
  std::string LeftOut() const { return rows_ > kMostRows ? fmt::format("; {} of {} workers", kMostRows, rows_) : ""; }

  /// `scale` is that of the colours.
  Json Take(const Json& scale) {
    const bool has_labels = rows_ <= kMostLabels;
    const auto rows = static_cast<double>(std::clamp<size_t>(rows_, 1, kMostRows));
    return FilledTemplate("heat_map", {{"rows", std::move(names_)},
                                       {"cells", std::move(cells_)},
                                       {"time", TimeAxis(wall_seconds_)},
                                       {"what", what_},
                                       {"scale", scale},
                                       {"has labels", has_labels},
                                       {"gap", has_labels ? 0.12 : 0.0},
                                       {"step", std::clamp(480.0 / rows, 2.0, 22.0)}});
  }

 private:
  double wall_seconds_;
  std::string_view what_;
  size_t rows_ = 0;
  Json cells_ = Json::array(), names_ = Json::array();
};

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

Drawing DrawCpuHeatmap(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const auto* timelines = measurement.timelines.Find("worker_cpu");
  const size_t bins = HeatMap::BinsFor(timelines == nullptr ? 0 : timelines->size());
  const SeriesOfWorkers cpu = ReadWorkerSeries(measurement, "worker_cpu", bins);
  const SeriesOfWorkers cores = ReadWorkerSeries(measurement, "worker_cores", bins);
  HeatMap map(measurement.Metric("wall_time").value_or(0), "CPU, of the worker's cores [%]");
  ShownNames names;
  const WorkerNames workers = NamesOfWorkers(measurement);
  for (const WorkerSeries& series : cpu.workers) {
    if (const WorkerSeries* of = cores.Find(series.worker))
      map.AddRow(names.Of(workers.Of(series.worker)), PercentOf(series, *of), 0, cpu.bin_seconds);
  }
  if (map.empty()) return NotDrawn("no worker reported its CPU time while it ran");
  const std::optional<double> average = measurement.Metric("worker_cpu_utilization_avg");
  return {map.Take({{"domain", {0, 100}}, {"clamp", true}}),
          (average.has_value() ? HumanPercent(*average) + " on average" : "grey: not there") + map.LeftOut(), ""};
}

Drawing DrawReadRateHeatmap(const ChartInput& input) {
  if (input.detail == nullptr) return NotDrawn(WhyNoChunks(input, ""));
  const WorkerGrid& grid = input.detail->by_worker;
  double all = 0;
  for (const double bytes : grid.bytes_read) all += bytes;
  if (!(all > 0)) return NotDrawn("no chunk recorded how many bytes it read");
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
  return {map.Take({{"domainMin", 0}}), HumanData(all) + " read; grey: no chunk open" + map.LeftOut(), ""};
}

Drawing DrawMemorySmallMultiples(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  SeriesOfWorkers memory = ReadWorkerSeries(measurement, "worker_memory", 120);
  if (memory.empty()) return NotDrawn("no worker reported its memory while it ran");
  const SeriesOfWorkers limits = ReadWorkerSeries(measurement, "worker_memory_limit", 120);
  const size_t all = memory.workers.size();
  std::map<std::string_view, double> peaks;  // the kernel's: higher than any sample
  for (const WorkerRow& row : measurement.workers) peaks[row.name.str()] = row.peak_memory_bytes.value_or(0);
  for (WorkerSeries& series : memory.workers) series.peak = std::max(series.peak, peaks[series.worker]);
  std::stable_sort(memory.workers.begin(), memory.workers.end(),
                   [](const WorkerSeries& a, const WorkerSeries& b) { return a.peak > b.peak; });
  const std::string largest = memory.workers.front().worker;
  const double peak = memory.workers.front().peak;
  if (all > kMostPanels) memory.workers.resize(kMostPanels);
  std::sort(memory.workers.begin(), memory.workers.end(),
            [](const WorkerSeries& a, const WorkerSeries& b) { return IsBefore(a.worker, b.worker); });
  const WorkerNames workers = NamesOfWorkers(measurement);
  Json rows = Json::array();
  ShownNames names;
  for (const WorkerSeries& series : memory.workers) {
    const WorkerSeries* limit = limits.Find(series.worker);
    const std::string title =
        fmt::format("{} · peak {}", names.Of(workers.Of(series.worker)), HumanMemory(series.peak));
    for (size_t bin = 0; bin < series.bins.size(); ++bin) {
      const auto mean = series.bins[bin].mean();
      if (!mean.has_value()) continue;
      Json row = {{"worker", title}, {"t", Rounded(memory.CentreOf(bin))}, {"v", Rounded(*mean / kGibibyte)}};
      const auto top = limit == nullptr ? std::nullopt : limit->bins[bin].mean();
      if (top.has_value()) row["limit"] = Rounded(*top / kGibibyte);
      rows.push_back(std::move(row));
    }
  }
  const Json time = TimeAxis(measurement.Metric("wall_time").value_or(0), 3);
  std::string finding = fmt::format("largest: {} in {}", HumanMemory(peak), names.Of(workers.Of(largest)));
  if (all > kMostPanels) finding += fmt::format("; the {} largest of {} workers", kMostPanels, all);
  if (!limits.empty()) finding += "; red: limit";
  // it would stand under each panel
  finding += "; x: " + time["title"].get<std::string>();
  const bool are_many = all > 4;
  Json values = {{"memory", std::move(rows)},
                 {"time", time},
                 {"columns", are_many ? 4 : 2},
                 {"width", are_many ? 165 : 300},
                 {"height", are_many ? 80 : 150}};
  if (!limits.empty()) values["has limits"] = true;
  return {FilledTemplate("memory_small_multiples", values), finding, ""};
}

Drawing DrawWorkerBalance(const ChartInput& input) {
  std::vector<BalanceRow> rows = ReadBalance(*input.measurement);
  if (rows.empty()) return NotDrawn("it is not known when workers were there and how many cores they had");
  const size_t all = rows.size();
  const double most = rows.front().busy_share, least = rows.back().busy_share;
  if (all > kMostBars) rows.erase(rows.begin() + kMostBars / 2, rows.end() - kMostBars / 2);
  std::sort(rows.begin(), rows.end(),
            [](const BalanceRow& a, const BalanceRow& b) { return IsBefore(a.worker, b.worker); });
  const WorkerNames workers = NamesOfWorkers(*input.measurement);
  Json parts = Json::array();
  ShownNames names;
  for (const BalanceRow& row : rows) {
    int order = 0;
    for (const auto& [part, seconds] : {std::pair<std::string_view, double>{"CPU", row.cpu},
                                        {"chunk open, no CPU", row.not_computing},
                                        {"no chunk open", row.no_chunk}}) {
      parts.push_back({{"worker", names.Of(workers.Of(row.worker))},
                       {"part", part},
                       {"order", order++},
                       {"seconds", Rounded(seconds)},
                       {"busy", Rounded(100 * row.busy_share)}});
    }
  }
  std::string finding = fmt::format("busiest worker {}, least busy {}", HumanPercent(most), HumanPercent(least));
  if (all > kMostBars) finding += fmt::format("; the {} busiest and least busy of {}", kMostBars / 2, all);
  return {FilledTemplate("worker_balance", {{"parts", std::move(parts)}}), finding, ""};
}

}  // namespace crema
