// What the processes of a command used, as time went on.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/encodings.h"
#include "collector/charts/families.h"
#include "collector/charts/shown_names.h"
#include "collector/charts/time_lines.h"
#include "collector/charts/worker_series.h"
#include "collector/document/document_fields.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kBins = 240;
constexpr size_t kNamed = 6;  ///< processes with a colour of their own
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
std::vector<std::string> NamedProcesses(const Json& document) {
  const SeriesOfWorkers cpu = ReadWorkerSeries(document, "process_cpu", kBins);
  const SeriesOfWorkers memory = ReadWorkerSeries(document, "process_memory", kBins);
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

/// Processes on top of one another; on top of those the rest of the tree, so that the height is that of the whole.
Json StackedPanel(const Json& document, std::string_view of_tree, std::string_view of_process, const std::string& title,
                  double factor, double seconds, const std::vector<std::string>& of_colour, bool with_legend) {
  const SeriesOfWorkers tree = ReadWorkerSeries(document, of_tree, kBins);
  if (tree.empty()) return {};
  const SeriesOfWorkers processes = ReadWorkerSeries(document, of_process, kBins);
  std::vector<const WorkerSeries*> named;  // null: this process has no such series
  ShownNames shown;
  std::vector<std::string> names;
  for (const std::string& name : of_colour) {
    const auto found = std::find_if(processes.workers.begin(), processes.workers.end(),
                                    [&name](const WorkerSeries& process) { return process.worker == name; });
    named.push_back(found == processes.workers.end() ? nullptr : &*found);
    names.push_back(shown.Of(name));
  }
  const std::string others = names.empty() ? "all processes" : "other processes";
  names.push_back(others);
  Json values = Json::array();
  const double width = seconds / kBins;
  for (size_t bin = 0; bin < kBins; ++bin) {
    double below = 0;
    const auto add = [&](const std::string& name, double value) {
      values.push_back({{"t", Rounded(width * static_cast<double>(bin))},
                        {"to", Rounded(width * static_cast<double>(bin + 1))},
                        {"below", Rounded(below)},
                        {"above", Rounded(below + value)},
                        {"v", Rounded(value)},
                        {"process", name}});
      below += value;
    };
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i] == nullptr) continue;
      const double value = named[i]->bins[bin].mean().value_or(0) * factor;
      if (value > 0) add(names[i], value);
    }
    const double rest = tree.SumAt(bin).value_or(0) * factor - below;
    if (rest > 0.01 * (below + rest)) add(others, rest);
  }
  if (values.empty()) return {};
  Json x = TimeAxis("t", seconds);
  const Json legend = with_legend ? Json({{"columns", 4}, {"labelLimit", 150}}) : Json();
  return {{"width", 640},
          {"height", 110},
          {"data", InlineData(std::move(values))},
          {"mark", {{"type", "rect"}}},
          {"encoding",
           {{"x", x},
            {"x2", {{"field", "to"}}},
            {"y", Quantity("below", title)},
            {"y2", {{"field", "above"}}},
            {"color",
             {{"field", "process"},
              {"type", "nominal"},
              {"title", nullptr},
              {"scale", {{"domain", names}}},
              {"legend", legend}}},
            {"tooltip", Tooltip({{"process", "process", "nominal"}, {"v", title}, {"t", "from [s]"}})}}}};
}

}  // namespace

Drawing DrawProcessTimeline(const ChartInput& input) {
  const Json& document = *input.document;
  const double seconds = Metric(document, "wall_time").value_or(0);
  Json panels = Json::array();
  const auto add = [&panels](Json panel) {
    if (!panel.is_null()) panels.push_back(std::move(panel));
  };
  if (seconds > 0) {
    const std::vector<std::string> names = NamedProcesses(document);
    add(StackedPanel(document, "tree_cpu", "process_cpu", "CPU [cores]", 1, seconds, names, true));
    const bool is_first = panels.empty();
    add(StackedPanel(document, "tree_memory", "process_memory", "resident memory [MiB]", kMebi, seconds, names,
                     is_first));
  }
  if (panels.empty()) return NotDrawn("no process tree was sampled; `crema run` samples that of its command");
  const std::vector<Step> read = SumOfSteps(document, "tree_read_bps"), write = SumOfSteps(document, "tree_write_bps");
  if (!read.empty() || !write.empty()) {
    TimePanel panel(seconds, "storage [MB/s]");
    if (!read.empty()) panel.AddLine(read, "cpu", kMillion);
    if (!write.empty()) panel.AddLine(write, "wait", kMillion);
    if (!read.empty()) panel.AddMeaning("cpu", "read");
    if (!write.empty()) panel.AddMeaning("wait", "written");
    add(panel.Take(70));
  }
  TimePanel counts(seconds, "processes, threads");
  counts.AddLine(SumOfSteps(document, "tree_threads"), "wait");
  counts.AddLine(SumOfSteps(document, "tree_processes"), "cpu");
  counts.AddMeaning("wait", "threads");
  counts.AddMeaning("cpu", "processes");
  add(counts.Take(70));
  std::string finding = "as sampled; what began and ended between two samples is in the totals only";
  if (const auto most = Metric(document, "max_processes")) {
    finding = fmt::format("{} at most; {}", Counted(*most, "process", "processes"), finding);
  }
  return {{{"vconcat", std::move(panels)}, {"spacing", 14}, {"resolve", {{"scale", {{"color", "independent"}}}}}},
          finding,
          ""};
}

}  // namespace crema
