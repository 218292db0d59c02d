// Workers beside one another: maps of worker and time, small multiples, and how evenly they were busy.

#include "collector/charts/families.h"
#include "collector/charts/time_charts.h"
#include "collector/format/colours.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/units.h"

namespace crema {
namespace {

constexpr size_t kMostWorkers = 256;
constexpr size_t kMostBinsOfWorker = 200;  // cells of 3 pixels and more
constexpr size_t kMostLabels = 40;         // beyond that they would overlap
constexpr double kOverlap = 0.5;           // of a cell

/// A map of rows (workers) and time: a stronger colour is more, grey is "not there".
class HeatMap {
 public:
  /// Columns that a map of so many rows may have: all cells together stay below the most marks of a chart.
  static size_t BinsFor(size_t rows) {
    return std::min(kMostBinsOfWorker, (kMostMarks - kMostWorkers) / std::clamp<size_t>(rows, 1, kMostWorkers));
  }

  /// `what` has the unit.
  HeatMap(double wall_seconds, std::string_view what) : wall_seconds_(wall_seconds), what_(what) {}

  /// One value for each part of `bin_seconds` from `start_seconds` on. Rows beyond 256 are left out.
  void AddRow(const std::string& name, const std::vector<std::optional<double>>& bins, double start_seconds,
              double bin_seconds) {
    if (++rows_ > kMostWorkers) return;
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
  std::string LeftOut() const {
    return rows_ > kMostWorkers ? fmt::format("; {} of {} workers", kMostWorkers, rows_) : "";
  }

  /// `scale` is that of the colours.
  Json Take(const Json& scale) {
    const bool has_labels = rows_ <= kMostLabels;
    const auto rows = static_cast<double>(std::clamp<size_t>(rows_, 1, kMostWorkers));
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

constexpr char kNotSampled[] = " was sampled as it ran: `crema run`, CREMA_INTERVAL=1 and some engines do it";
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
  SortLargestFirst(&rows, &BalanceRow::busy_share);
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
  if (map.empty()) return NotDrawn(input, "workers", absl::StrCat("no worker's CPU time", kNotSampled));
  const std::optional<double> average = measurement.Metric("worker_cpu_utilization_avg");
  return {map.Take({{"domain", {0, 100}}, {"clamp", true}}),
          (average.has_value() ? HumanPercent(*average) + " on average" : "grey: not there") + map.LeftOut()};
}

Drawing DrawReadRateHeatmap(const ChartInput& input) {
  const double all = input.detail == nullptr ? 0 : absl::c_accumulate(input.detail->by_worker.bytes_read, 0.0);
  if (!(all > 0)) return NotDrawn(WhyNoChunks(input, kNoBytesRead));
  const WorkerGrid& grid = input.detail->by_worker;
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
  return {map.Take({{"domainMin", 0}}), HumanData(all) + " read; grey: no chunk open" + map.LeftOut()};
}

Drawing DrawMemorySmallMultiples(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  SeriesOfWorkers memory = ReadWorkerSeries(measurement, "worker_memory", 120);
  if (memory.empty()) return NotDrawn(input, "workers", absl::StrCat("no worker's memory", kNotSampled));
  const SeriesOfWorkers limits = ReadWorkerSeries(measurement, "worker_memory_limit", 120);
  const size_t all = memory.workers.size();
  std::map<std::string_view, double> peaks;  // the kernel's: higher than any sample
  for (const WorkerRow& row : measurement.workers) peaks[row.name.str()] = row.peak_memory_bytes.value_or(0);
  for (WorkerSeries& series : memory.workers) series.peak = std::max(series.peak, peaks[series.worker]);
  SortLargestFirst(&memory.workers, &WorkerSeries::peak);
  const std::string largest = memory.workers.front().worker;
  const double peak = memory.workers.front().peak;
  if (all > kMostPanels) memory.workers.resize(kMostPanels);
  absl::c_sort(memory.workers,
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
  // it would be under each panel
  finding += "; x: " + time["title"].get<std::string>();
  const bool are_many = all > 4;
  Json values = {{"memory", std::move(rows)},
                 {"time", time},
                 {"columns", are_many ? 4 : 2},
                 {"width", are_many ? 165 : 300},
                 {"height", are_many ? 80 : 150}};
  if (!limits.empty()) values["has limits"] = true;
  return {FilledTemplate("memory_small_multiples", values), finding};
}

Drawing DrawWorkerBalance(const ChartInput& input) {
  std::vector<BalanceRow> rows = ReadBalance(*input.measurement);
  if (rows.empty()) return NotDrawn(input, "workers", "it is not known when workers were there, with how many cores");
  const size_t all = rows.size();
  const double most = rows.front().busy_share, least = rows.back().busy_share;
  if (all > kMostBars) rows.erase(rows.begin() + kMostBars / 2, rows.end() - kMostBars / 2);
  absl::c_sort(rows, [](const BalanceRow& a, const BalanceRow& b) { return IsBefore(a.worker, b.worker); });
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
  return {FilledTemplate("worker_balance", {{"parts", std::move(parts)}}), finding};
}

// What the processes of a command used, as time went on.

namespace {

constexpr size_t kBins = 240;
constexpr size_t kNamed = 6;         ///< processes with a colour of their own
constexpr double kBinOverlap = 0.4;  ///< of a bin, over what follows: edges between pixels would be seams
constexpr char kOtherProcesses[] = "other processes", kNotKnown[] = "not known by process";
constexpr double kMillion = 1e-6, kMebi = 1.0 / (1 << 20);

// Processes by what they used or held over the whole run, most first.
std::vector<const WorkerSeries*> Largest(const SeriesOfWorkers& series) {
  auto largest = Mapped<const WorkerSeries*>(series.workers, [](const WorkerSeries& process) { return &process; });
  SortLargestFirst(&largest, [](const WorkerSeries* a) { return SumOf<double>(a->bins, &SeriesBin::integral); });
  return largest;
}

/// The processes with a colour of their own, the same in every panel: those with most CPU time and with most memory, in
/// turns.
std::vector<std::string> NamedProcesses(const Measurement& measurement) {
  const SeriesOfWorkers cpu = ReadWorkerSeries(measurement, "process_cpu", kBins);
  const SeriesOfWorkers memory = ReadWorkerSeries(measurement, "process_memory", kBins);
  const std::vector<const WorkerSeries*> by_cpu = Largest(cpu), by_memory = Largest(memory);
  std::vector<std::string> names;
  for (size_t i = 0; i < std::max(by_cpu.size(), by_memory.size()); ++i) {
    for (const auto* list : {&by_cpu, &by_memory}) {
      if (i >= list->size() || names.size() == kNamed) continue;
      if (const std::string& name = (*list)[i]->worker; absl::c_find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// What stands over the stacked processes: part of what their height is.
struct OverProcesses {
  std::string_view series;
  bool is_line = true;  ///< else points: a value that is read now and then says nothing of the time between
};

/// Processes on top of one another; on top of those what else the tree used, so that the height is that of the whole.
Json StackedPanel(const Measurement& measurement, std::string_view of_tree, std::string_view of_process,
                  const std::string& title, double factor, double seconds, const std::vector<std::string>& of_colour,
                  bool with_legend, const OverProcesses& over) {
  const SeriesOfWorkers tree = ReadWorkerSeries(measurement, of_tree, kBins);
  if (tree.empty()) return {};
  const SeriesOfWorkers processes = ReadWorkerSeries(measurement, of_process, kBins);
  std::vector<const WorkerSeries*> named;  // null: this process has no such series
  ShownNames shown;
  std::vector<std::string> names;
  for (const std::string& name : of_colour) {
    named.push_back(processes.Find(name));
    names.push_back(shown.Of(name));
  }
  std::vector<const WorkerSeries*> others = PlacesWhere(
      processes.workers, [&](const WorkerSeries& process) { return absl::c_find(named, &process) == named.end(); });
  std::vector<std::string_view> colours;
  const auto add_name = [&](const std::string& name, std::string_view colour) {
    names.push_back(name);
    colours.push_back(colour);
  };
  for (size_t i = 0; i < names.size(); ++i) colours.push_back(DatasetColours()[i].name);
  if (!others.empty()) add_name(kOtherProcesses, DatasetColours()[names.size()].name);
  Json parts = Json::array();
  const double width = seconds / kBins;
  bool some_not_known = false;
  for (size_t bin = 0; bin < kBins; ++bin) {
    double below = 0;
    const auto add = [&](const std::string& name, double value) {
      parts.push_back({{"t", Rounded(width * static_cast<double>(bin))},
                       {"to", Rounded(std::min(seconds, width * (static_cast<double>(bin + 1) + kBinOverlap)))},
                       {"below", Rounded(below)},
                       {"above", Rounded(below + value)},
                       {"v", Rounded(value)},
                       {"process", name}});
      below += value;
    };
    const auto used = [&](const WorkerSeries* process) {
      return process == nullptr ? 0 : process->bins[bin].integral / processes.bin_seconds * factor;
    };
    for (size_t i = 0; i < named.size(); ++i) {
      if (const double value = used(named[i]); value > 0) add(names[i], value);
    }
    const auto of_others = SumOf<double>(others, used);
    if (of_others > 0) add(kOtherProcesses, of_others);
    // what a process used before its first sample and after its last is in the sum of the tree only
    const double rest = tree.SumAt(bin).value_or(0) * factor - below;
    if (rest > 0.01 * (below + rest)) {
      add(kNotKnown, rest);
      some_not_known = true;
    }
  }
  if (parts.empty()) return {};
  if (some_not_known) add_name(kNotKnown, "unknown");
  Json values = {{"parts", std::move(parts)},
                 {"processes", ColourScale(names, colours)},
                 {"title", title},
                 {"time", TimeAxis(seconds)}};
  values["legend"] = with_legend ? Json({{"columns", 4}, {"labelLimit", 150}}) : Json();
  values["mark"] = {{"type", "point"}, {"style", "ink"}, {"shape", "diamond"}, {"size", 40}};
  if (over.is_line) values["mark"] = {{"type", "line"}, {"style", "ink"}, {"interpolate", "step-after"}};
  const Timeline steps = SumOfSteps(measurement, over.series);
  for (const TimelinePoint& step : Reduced(steps, seconds, kMostSteps)) {
    if (LargestOf(steps) > 0 && (over.is_line || step.value > 0)) {
      values["over"].push_back({{"t", Rounded(step.seconds)}, {"v", Rounded(factor * step.value)}});
    }
  }
  return FilledTemplate("process_stack", values);
}

/// Bytes that came and went, if any did.
Json BytesPanel(const Measurement& measurement, double seconds, std::string_view title, std::string_view in,
                std::string_view out, const std::string& in_words, const std::string& out_words) {
  const Timeline came = SumOfSteps(measurement, in), went = SumOfSteps(measurement, out);
  if (LargestOf(came) <= 0 && LargestOf(went) <= 0) return {};
  TimePanel panel(seconds, title, kMillion);
  panel.AddLine(came, "cpu", in_words);
  panel.AddLine(went, "wait", out_words);
  return panel.Take(70);
}

}  // namespace

Drawing DrawProcessTimeline(const ChartInput& input) {
  const Measurement& measurement = *input.measurement;
  const double seconds = measurement.Metric("wall_time").value_or(0);
  Json panels = Json::array();
  const auto add = [&panels](Json panel) {
    if (!panel.is_null()) panels.push_back(std::move(panel));
  };
  if (seconds > 0) {
    const std::vector<std::string> names = NamedProcesses(measurement);
    add(StackedPanel(measurement, "tree_cpu", "process_cpu", "CPU [cores]", 1, seconds, names, true,
                     {"tree_cpu_system", true}));
    const bool is_first = panels.empty();
    add(StackedPanel(measurement, "tree_memory", "process_memory", "resident memory [MiB]", kMebi, seconds, names,
                     is_first, {"tree_pss", false}));
  }
  if (panels.empty()) return NotDrawn("no process tree was sampled; `crema run` samples that of its command");
  add(BytesPanel(measurement, seconds, "devices [MB/s]", "tree_read_bps", "tree_write_bps", "read from devices",
                 "written to devices"));
  add(BytesPanel(measurement, seconds, "calls [MB/s]", "tree_rchar_bps", "tree_wchar_bps", "returned by read calls",
                 "taken by write calls"));
  const std::string where = measurement.run.net_host_wide == true ? " by the whole host" : "";
  add(BytesPanel(measurement, seconds, "network [MB/s]", "tree_net_rx_bps", "tree_net_tx_bps", "received" + where,
                 "sent" + where));
  if (const auto used = SumOfSteps(measurement, "gpu_utilization_percent"); LargestOf(used) > 0) {
    TimePanel gpus(seconds, "GPUs [% of one]");
    gpus.AddLine(used, "cpu", "time in which some kernel ran, of GPUs that the command used");
    add(gpus.Take(70));
  }
  TimePanel counts(seconds, "processes, threads");
  counts.AddLine(SumOfSteps(measurement, "tree_threads"), "wait", "threads");
  counts.AddLine(SumOfSteps(measurement, "tree_processes"), "cpu", "processes");
  add(counts.Take(70));
  // they share their axis: its title stands once
  for (size_t i = 0; i + 1 < panels.size(); ++i) {
    for (Json& layer : panels[i]["layer"]) {
      if (layer["encoding"].contains("x")) layer["encoding"]["x"]["title"] = nullptr;
    }
  }
  std::string finding = "as sampled; what began and ended between two samples is in the totals only";
  if (LargestOf(SumOfSteps(measurement, "tree_cpu_system")) > 0) finding += "; line: CPU in the kernel";
  if (LargestOf(SumOfSteps(measurement, "tree_pss")) > 0) {
    finding += "; diamonds: proportional memory (PSS), the stacks have shared pages in each process";
  }
  if (const auto most = measurement.Metric("max_processes")) {
    finding = fmt::format("{} at most; {}", Counted(*most, "process", "processes"), finding);
  }
  return {FilledTemplate("panels", {{"panels", std::move(panels)}, {"spacing", 14}}), finding};
}

}  // namespace crema
