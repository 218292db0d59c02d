// What the processes of a command used, as time went on.
#include <algorithm>

#include "collector/appearance/colours.h"
#include "collector/appearance/human_numbers.h"
#include "collector/charts/drawing.h"
#include "collector/charts/families.h"
#include "collector/charts/time_lines.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBins = 240;
constexpr size_t kNamed = 6;      ///< processes with a colour of their own
constexpr double kOverlap = 0.4;  ///< of a bin, over what follows: edges between pixels would be seams
constexpr char kOthers[] = "other processes", kNotKnown[] = "not known by process";
constexpr double kMillion = 1e-6, kMebi = 1.0 / (1 << 20);

// Processes by what they used or held over the whole run, most first.
std::vector<const WorkerSeries*> Largest(const SeriesOfWorkers& series) {
  std::vector<std::pair<double, const WorkerSeries*>> sums;
  for (const WorkerSeries& process : series.workers) {
    double sum = 0;
    for (const SeriesBin& bin : process.bins) sum += bin.integral;
    sums.emplace_back(sum, &process);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const WorkerSeries*> largest;
  for (const auto& [sum, process] : sums) largest.push_back(process);
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
      const std::string& name = (*list)[i]->worker;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
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
    const auto found = std::find_if(processes.workers.begin(), processes.workers.end(),
                                    [&name](const WorkerSeries& process) { return process.worker == name; });
    named.push_back(found == processes.workers.end() ? nullptr : &*found);
    names.push_back(shown.Of(name));
  }
  std::vector<const WorkerSeries*> others;
  for (const WorkerSeries& process : processes.workers) {
    if (std::find(named.begin(), named.end(), &process) == named.end()) others.push_back(&process);
  }
  std::vector<std::string_view> colours;
  const auto add_name = [&](const std::string& name, std::string_view colour) {
    names.push_back(name);
    colours.push_back(colour);
  };
  for (size_t i = 0; i < names.size(); ++i) colours.push_back(DatasetColours()[i].name);
  if (!others.empty()) add_name(kOthers, DatasetColours()[names.size()].name);
  Json parts = Json::array();
  const double width = seconds / kBins;
  bool some_not_known = false;
  for (size_t bin = 0; bin < kBins; ++bin) {
    double below = 0;
    const auto add = [&](const std::string& name, double value) {
      parts.push_back({{"t", Rounded(width * static_cast<double>(bin))},
                       {"to", Rounded(std::min(seconds, width * (static_cast<double>(bin + 1) + kOverlap)))},
                       {"below", Rounded(below)},
                       {"above", Rounded(below + value)},
                       {"v", Rounded(value)},
                       {"process", name}});
      below += value;
    };
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i] == nullptr) continue;
      const double value = named[i]->bins[bin].integral / processes.bin_seconds * factor;
      if (value > 0) add(names[i], value);
    }
    double of_others = 0;
    for (const WorkerSeries* process : others)
      of_others += process->bins[bin].integral / processes.bin_seconds * factor;
    if (of_others > 0) add(kOthers, of_others);
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
  return {FilledTemplate("panels", {{"panels", std::move(panels)}, {"spacing", 14}}), finding, ""};
}

}  // namespace crema
