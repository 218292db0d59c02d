#include "collector/insight/tree_figures.h"

#include <algorithm>
#include <string>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/key_figure_rows.h"
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

std::string Share(double share) { return HumanPercent(share); }

/// A figure, and one that stands beside it.
struct TreeFigure {
  std::string_view label;
  std::string_view key;
  std::string (*words)(double);
  ChangeOf kind;
  bool more_is_better;
  std::string_view meaning;
  std::string_view beside_key;
  std::string_view beside_words;
  std::string_view beside_one = "";  ///< the words for 1
};

constexpr std::string_view kTreeMemory = "tree_peak_memory_bytes";

constexpr TreeFigure kTreeFigures[] = {
    {"Elapsed", "wall_time", HumanDuration, ChangeOf::kRate, false, "", "", ""},
    {"CPU efficiency", "job_cpu_efficiency", Share, ChangeOf::kShare, true, "of its cores, over its whole time",
     "allocated_cores", "cores given"},
    {"CPU time", "tree_cpu_user", HumanDuration, ChangeOf::kRate, false, "in the program", "tree_cpu_system",
     "more in the kernel"},
    {"Peak memory", kTreeMemory, HumanMemory, ChangeOf::kMemory, false, "of all processes", "process_peak_rss_bytes",
     "in the largest process"},
    {"Read", "tree_read_bytes", HumanData, ChangeOf::kRate, false, "from storage", "tree_rchar_bytes",
     "through all read calls"},
    {"Written", "tree_write_bytes", HumanData, ChangeOf::kRate, false, "to storage", "tree_wchar_bytes",
     "through all write calls"},
    {"Processes", "max_processes", HumanCount, ChangeOf::kRate, false, "at once", "max_threads", "threads at once",
     "thread at once"},
    {"Major faults", "major_faults", HumanCount, ChangeOf::kRate, false, "pages that came from storage",
     "context_switches_involuntary", "involuntary context switches"}};

constexpr TreeFigure kEngineLogFigures[] = {
    {"Elapsed", "wall_time", HumanDuration, ChangeOf::kRate, false, "", "core_seconds", "of core time"},
    {"Tasks", "num_tasks", HumanCount, ChangeOf::kRate, true, "that ended", "num_failed_tasks", "failed"},
    {"CPU efficiency", "job_cpu_efficiency", Share, ChangeOf::kShare, true, "of the jobs' cores", "", ""},
    {"Peak memory", "peak_memory_bytes", HumanMemory, ChangeOf::kMemory, false, "of one worker",
     "peak_total_memory_bytes", "of all at once"},
    {"Workers", "peak_workers", HumanCount, ChangeOf::kRate, true, "at once", "peak_cores", "cores"},
    {"Queue", "task_queue_seconds", HumanDuration, ChangeOf::kRate, false, "waiting of all tasks", "", ""}};

template <size_t kCount>
std::vector<KeyFigureRow> RowsOf(const TreeFigure (&figures)[kCount], const Measurement& measurement) {
  std::vector<KeyFigureRow> rows;
  for (const TreeFigure& figure : figures) {
    const std::string_view key = figure.key == kTreeMemory ? TreeMemoryKey(measurement) : figure.key;
    KeyFigureRow row = {figure.label, {key, figure.kind, figure.more_is_better}, figure.words, figure.meaning};
    row.value = measurement.Metric(key);
    if (row.value.has_value()) {
      row.text = figure.words(*row.value);
      if (figure.kind == ChangeOf::kShare) row.share = std::clamp(*row.value, 0.0, 1.0);
    } else {
      row.why_not = measurement.WhyNotMeasured(figure.key);
    }
    if (const std::optional<double> beside = measurement.Metric(figure.beside_key); beside.has_value()) {
      const std::string& unit = FindMetric(figure.beside_key)->unit;
      row.notes.push_back(
          {"", unit == "cores" ? HumanNumber(*beside) : HumanQuantity(figure.beside_key, *beside, unit),
           " " + std::string(*beside == 1 && !figure.beside_one.empty() ? figure.beside_one : figure.beside_words),
           "metrics." + std::string(figure.beside_key), *beside});
    }
    const std::optional<double> of_each = measurement.Metric("tree_peak_rss_bytes");
    if (figure.key == kTreeMemory && row.value.has_value() && of_each.value_or(0) > *row.value) {
      row.notes.push_back(
          {"", HumanMemory(*of_each), " with shared pages in each", "metrics.tree_peak_rss_bytes", *of_each});
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string_view TreeMemoryKey(const Measurement& measurement) {
  return measurement.Metric(kTreeMemory).has_value() ? kTreeMemory : "tree_peak_rss_bytes";
}

bool IsEngineLogOnly(const Measurement& measurement) {
  return !measurement.run.engine.empty() && !measurement.Metric("num_attempts").has_value() &&
         measurement.quality.tasks_read.value_or(0) > 0 && measurement.fine.empty();
}

std::vector<KeyFigureRow> EngineLogFigureRows(const Measurement& measurement) {
  std::vector<KeyFigureRow> rows = RowsOf(kEngineLogFigures, measurement);
  const std::optional<PeakMemory> memory = FindPeakMemory(measurement);
  for (KeyFigureRow& row : rows) {
    if (row.label != "Peak memory" || !memory.has_value() || !memory->tightest.has_value()) continue;
    row.share = memory->tightest->share();
    row.notes.push_back({"", HumanPercent(*row.share), " of its limit, " + HumanMemory(memory->tightest->limit_bytes)});
  }
  return rows;
}

bool IsProcessTreeOnly(const Measurement& measurement) {
  return (measurement.Metric("tree_cpu_user").has_value() || measurement.Metric("tree_peak_rss_bytes").has_value()) &&
         measurement.Metric("num_attempts").value_or(0) == 0 && measurement.Metric("num_chunks").value_or(0) == 0 &&
         measurement.workers.empty() && measurement.fine.empty();
}

std::vector<KeyFigureRow> TreeFigureRows(const Measurement& measurement) { return RowsOf(kTreeFigures, measurement); }

double TreeCpuWait(const Measurement& measurement) {
  double sum = 0;
  for (const ProcessUseRow& row : measurement.processes) sum += row.cpu_wait.value_or(0);
  return sum;
}

std::optional<TreeBudget> ReadTreeBudget(const Measurement& measurement) {
  const std::optional<double> user = measurement.Metric("tree_cpu_user"),
                              system = measurement.Metric("tree_cpu_system");
  const std::optional<double> cores = measurement.Metric("allocated_cores"), wall = measurement.Metric("wall_time");
  if (!user.has_value() || !system.has_value() || !cores.has_value() || !wall.has_value()) return std::nullopt;
  TreeBudget budget;
  budget.cores = *cores;
  budget.core_seconds = std::max(*cores * *wall, *user + *system);
  if (!(budget.core_seconds > 0)) return std::nullopt;
  const double left = budget.core_seconds - *user - *system;
  budget.parts = {{kTreeProgram, "cpu", *user}, {kTreeKernel, "opening", *system}};
  const double wait = std::min(left, TreeCpuWait(measurement));
  if (wait > 0) budget.parts.push_back({kTreeWait, "wait", wait});
  budget.parts.push_back({"Not used by it", "idle", left - wait});
  for (TreeBudgetPart& part : budget.parts) part.share = part.core_seconds / budget.core_seconds;
  return budget;
}

double TreeBudget::Share(std::string_view part) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const TreeBudgetPart& p) { return p.name == part; });
  return found == parts.end() ? 0 : found->share;
}

std::string_view GuardOfChunks(const Measurement& measurement) {
  const std::optional<std::vector<std::string>>& command = measurement.run.command;
  const std::string program = command.has_value() && !command->empty() ? command->front() : "";
  const size_t name = program.rfind('/') + 1;
  const bool is_python = program.find("python", name) == name;
  return is_python ? "@crema_hep.track_metrics" : "crema::TrackMetrics";
}

}  // namespace crema
