// The block of the summary that shows how busy the run was, and how much memory it held, as time went on.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/writers/display_text.h"
#include "collector/writers/step_timeline.h"
#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal_bars.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int kLabel = 12;
constexpr int kScale = 10;

double Largest(const std::vector<std::optional<double>>& values) {
  double largest = 0;
  for (const std::optional<double>& value : values) largest = std::max(largest, value.value_or(0));
  return largest;
}

void AddSpark(std::string_view label, const std::vector<std::optional<double>>& values, double top,
              const std::string& scale, TerminalBox* box) {
  const TerminalStyle& style = box->style();
  box->Line({{Pad(label, kLabel, Align::kLeft, style)},
             {SparkLine(values, top, style), Paint::kCompute},
             {Pad(scale, kScale, Align::kRight, style), Paint::kDim}});
}

}  // namespace

std::string AddOverTime(const Measurement& measurement, TerminalBox* box) {
  if (!box->has_bars()) return "";
  const int columns = box->inner_columns() - kLabel - kScale;
  const std::vector<std::optional<double>> lanes = TimelineColumns(measurement, "worker_open_chunks", columns);
  const std::vector<std::optional<double>> memory = TimelineColumns(measurement, "worker_memory", columns);
  if (lanes.empty() && memory.empty()) return "no worker samples";
  const double wall_time = measurement.Metric("wall_time").value_or(0);
  box->Rule(fmt::format("over time (one column = {})", HumanDuration(wall_time / columns)));
  if (!lanes.empty()) {
    // against the cores where they are known: a full column is then a full machine
    const double cores = measurement.Metric("peak_cores").value_or(0);
    const double top = std::max(Largest(lanes), cores);
    const bool is_more = cores == 0 || top > cores * 1.001;
    AddSpark("open chunks", lanes, top, is_more ? HumanCount(top) : Counted(cores, "core", "cores"), box);
  }
  if (!memory.empty()) AddSpark("memory", memory, Largest(memory), HumanMemory(Largest(memory)), box);
  return "";
}

}  // namespace crema
