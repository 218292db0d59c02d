#include "collector/writers/summary_blocks.h"

#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/key_figure_rows.h"
#include "collector/insight/thresholds.h"
#include "collector/insight/tree_figures.h"
#include "collector/insight/wait_words.h"
#include "collector/measurement/budget_parts.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// Rows that a summary shows; the tables show all of them.
constexpr size_t kMostRows = 10;
constexpr size_t kMostCuts = 40;

/// Columns of a worker that are asked for first.
constexpr int kMostWorkerRank = 3;

/// A part of the budget below this rounds to 0.0 %.
constexpr double kLeastPart = 0.0005;
/// A smaller share of waiting changes no section's own time visibly.
constexpr double kLeastWait = 0.01;

template <class Row>
bool AnyAbove0(const std::vector<Row>& rows, Number Row::*member) {
  return std::any_of(rows.begin(), rows.end(), [member](const Row& row) { return (row.*member).value_or(0) > 0; });
}

Paint PaintOfColour(std::string_view colour) {
  if (colour == "cpu") return Paint::kCompute;
  if (colour == "wait") return Paint::kWaiting;
  if (colour == "opening") return Paint::kOpening;
  if (colour == "outside") return Paint::kOutside;
  if (colour == "overhead") return Paint::kOverhead;
  return Paint::kDim;
}

Paint PaintOfGroup(std::string_view group) {
  const BudgetGroupKind* known = FindBudgetGroup(group);
  return PaintOfColour(known == nullptr ? std::string_view() : known->colour);
}

/// `threads without guards 3.10 s · child processes 1.02 s`, where they computed.
std::string CpuOfOthers(const Measurement& measurement) {
  constexpr double kLeastOfCpu = 0.01;
  const double all = measurement.Metric("chunk_cpu_time").value_or(0);
  std::string text;
  for (const auto& [key, name] : {std::pair("unannounced_cpu_time", "threads without guards"),
                                  std::pair("children_cpu_time", "child processes")}) {
    const double cpu = measurement.Metric(key).value_or(0);
    if (cpu < kLeastOfCpu * all || cpu == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "of it " : " · ", name, HumanDuration(cpu));
  }
  return text;
}

/// ` (read 12 %, lock or condition 5.1 %)`: the largest kinds of wait, as shares of the core-seconds.
std::string KindsOfBlocked(const Measurement& measurement, double blocked_share) {
  constexpr size_t kMostKinds = 3;
  std::string text;
  size_t shown = 0;
  for (const WaitShare& wait : WaitShares(measurement)) {
    const double share = wait.share * blocked_share;
    if (share < kLeastPart || shown++ == kMostKinds) break;
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", wait.kind, HumanPercent(share));
  }
  return text.empty() ? "" : text + ")";
}

/// `waiting for a CPU 2.3 % · blocked 18 %`: what a group consists of, where that says more than its name.
std::string PartsOf(const Measurement& measurement, const BudgetRows& budget, const std::string& group) {
  std::string text;
  if (const BudgetPartKind* outside = FindBudgetPart("process_cpu"); group == outside->group) {
    for (const OutsideSection& section : LongestOutsideChunks(measurement)) {
      text += fmt::format("{}{} {}", text.empty() ? "wall: " : " · ", section.path, HumanDuration(section.self));
    }
    return text;
  }
  if (group == FindBudgetPart("compute")->group) return CpuOfOthers(measurement);
  int parts = 0;
  for (const BudgetPart& part : budget.parts) {
    if (part.group != group) continue;
    ++parts;
    if (part.share < kLeastPart) continue;
    const BudgetPartKind* known = FindBudgetPart(part.part);
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", known == nullptr ? part.part : std::string(known->name),
                        HumanPercent(part.share));
    if (part.part == "blocked") text += KindsOfBlocked(measurement, part.share);
  }
  return parts > 1 ? text : "";
}

/// `4 cores × 6 m 17 s`.
std::string CoresTimesWall(const Measurement& measurement) {
  const std::optional<double> cores = measurement.Metric("total_cores");
  const std::optional<double> wall_time = measurement.Metric("wall_time");
  if (!cores.has_value() || !wall_time.has_value()) return "";
  return fmt::format("{} × {} = ", Counted(*cores, "core", "cores"), HumanDuration(*wall_time));
}

/// Owners by own time, `(other)` after them, then the helpers' rows, which run beside the owners.
std::vector<const SectionRow*> SectionsByOwnTime(const Measurement& measurement) {
  std::vector<const SectionRow*> sections;
  for (const SectionRow& section : measurement.sections) sections.push_back(&section);
  const auto kind = [](const SectionRow& section) {
    if (section.helper.value_or(false)) return 2;
    return section.path == "(other)" ? 1 : 0;
  };
  std::stable_sort(sections.begin(), sections.end(), [&kind](const SectionRow* left, const SectionRow* right) {
    if (kind(*left) != kind(*right)) return kind(*left) < kind(*right);
    return left->self.value_or(0) > right->self.value_or(0);
  });
  return sections;
}

/// The first rows, but always `(other)`: without it the shares would not add up.
std::vector<const SectionRow*> FirstRows(const std::vector<const SectionRow*>& sections) {
  std::vector<const SectionRow*> shown;
  for (const SectionRow* section : sections) {
    if (shown.size() < kMostRows || section->path == "(other)") shown.push_back(section);
  }
  return shown;
}

/// The first rows of a list of the measurement.
SummaryTable FirstOf(SummaryTable table, CellTable cells) {
  if (cells.rows.size() > kMostRows) {
    table.left_out = cells.rows.size() - kMostRows;
    cells.rows.resize(kMostRows);
  }
  table.text = TableOf(cells).text;
  return table;
}

/// What the cores of a command without chunks did.
SummaryTable TreeBudgetSummary(const Measurement& measurement, SummaryTable table) {
  const std::optional<TreeBudget> budget = ReadTreeBudget(measurement);
  if (!budget.has_value() || !IsProcessTreeOnly(measurement)) {
    table.why_not = measurement.WhyNotMeasured("core_seconds");
    return table;
  }
  table.title =
      fmt::format("what its {} did ({})", Counted(budget->cores, "core", "cores"), HumanDuration(budget->core_seconds));
  table.text.columns = {{"", Align::kLeft, 0, true}, {"", Align::kRight}, {"", Align::kRight}};
  double largest = 0;
  for (const TreeBudgetPart& part : budget->parts) largest = std::max(largest, part.share);
  for (const TreeBudgetPart& part : budget->parts) {
    table.text.rows.push_back(
        {{std::string(part.name)}, {HumanDuration(part.core_seconds), Paint::kBold}, {HumanPercent(part.share, 1)}});
    table.bars.push_back({part.share / largest, PaintOfColour(part.colour)});
  }
  return table;
}

}  // namespace

SummaryTable BudgetSummary(const Measurement& measurement, bool has_room) {
  SummaryTable table = {"budget"};
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  if (!budget.has_value()) return TreeBudgetSummary(measurement, std::move(table));
  const double core_seconds = measurement.Metric("core_seconds").value_or(budget->core_seconds);
  table.title = fmt::format("where the core-seconds went ({}{})", has_room ? CoresTimesWall(measurement) : "",
                            HumanDuration(core_seconds));
  table.text.columns = {{"", Align::kLeft, 0, true}, {"", Align::kRight}, {"", Align::kRight}};
  double largest = 0;
  for (const BudgetGroup& group : budget->groups) largest = std::max(largest, group.share);
  for (const BudgetGroup& group : budget->groups) {
    const bool is_measured = group.core_seconds.has_value();
    table.text.rows.push_back({{group.group},
                               {is_measured ? HumanDuration(*group.core_seconds) : "–", Paint::kBold},
                               {is_measured ? HumanPercent(group.share, 1) : "–"}});
    BarOfRow bar{largest > 0 ? group.share / largest : 0, Paint::kDim, PartsOf(measurement, *budget, group.group),
                 is_measured ? "" : "not measured"};
    bar.paint = PaintOfGroup(group.group);
    table.bars.push_back(bar);
  }
  return table;
}

std::string WaitInsideSections(const Measurement& measurement) {
  const double share = CpuWaitShare(measurement).value_or(0);
  if (share < kLeastWait) return "";
  return fmt::format("waiting for a CPU, inside these times: {} ({})",
                     HumanDuration(share * TimeOfThreads(measurement).value_or(0)), HumanPercent(share));
}

SummaryTable SectionSummary(const Measurement& measurement) {
  SummaryTable table = {"sections", "sections inside a chunk (own time, slowest first)"};
  const std::vector<const SectionRow*> sections = SectionsByOwnTime(measurement);
  if (sections.empty()) {
    table.why_not = WhyNoRows("sections", measurement);
    return table;
  }
  const std::vector<const SectionRow*> shown = FirstRows(sections);
  table.left_out = sections.size() - shown.size();
  double largest = 0;
  for (const SectionRow* section : shown) largest = std::max(largest, section->self.value_or(0));
  const auto cpu_share = [](const SectionRow& section) -> std::optional<double> {
    const double total = section.total.value_or(0);
    return section.cpu.has_value() && total > 0 ? std::optional(*section.cpu / total) : std::nullopt;
  };
  const bool has_cpu = std::any_of(shown.begin(), shown.end(),
                                   [&](const SectionRow* section) { return cpu_share(*section).has_value(); });
  const bool has_failed = AnyAbove0(measurement.sections, &SectionRow::failed);
  table.text.columns = {{"section", Align::kLeft, 0, true, true}, {"calls", Align::kRight, 1}, {"own time"}, {"share"}};
  if (has_cpu) table.text.columns.push_back({"cpu", Align::kRight, 2});
  if (has_failed) table.text.columns.push_back({"failed", Align::kRight, 3});
  for (const SectionRow* section : shown) {
    const std::optional<double> cpu = cpu_share(*section);
    PaintedLine row = {{section->path.str() + (section->helper.value_or(false) ? " (helper)" : "")},
                       {CellText(CellOf(section->count), Kind::kCount)},
                       {CellText(CellOf(section->self), Kind::kDuration), Paint::kBold},
                       {CellText(CellOf(section->share), Kind::kShare)}};
    if (has_cpu) row.push_back({cpu.has_value() ? HumanPercent(*cpu, 0) : "–"});
    if (has_failed) row.push_back({CellText(CellOf(section->failed), Kind::kCount)});
    table.text.rows.push_back(std::move(row));
    // without a CPU figure nothing is said about waiting
    const Paint paint = kMostlyWaits.Holds(cpu.value_or(1)) ? Paint::kWaiting : Paint::kCompute;
    table.bars.push_back({largest > 0 ? section->self.value_or(0) / largest : 0, paint});
    // With the last of the rows that add up to the chunks' time; those of helpers stand behind it.
    if (section->path == "(other)") table.bars.back().below = WaitInsideSections(measurement);
  }
  return table;
}

SummaryTable DatasetSummary(const Measurement& measurement) {
  SummaryTable table = {"datasets", "datasets"};
  if (measurement.datasets.empty()) table.why_not = WhyNoRows("datasets", measurement);
  const bool has_lost = AnyAbove0(measurement.datasets, &BreakdownRow::lost);
  CellTable cells;
  cells.columns = {{"name", "dataset", Kind::kText},
                   {"chunks", "chunks", Kind::kCount, 1},
                   {"failed", "failed", Kind::kCount, 3},
                   {"events", "events", Kind::kCount},
                   {"bytes_read", "read", Kind::kData, 4},
                   {"duration_sum", "busy", Kind::kDuration},
                   {"event_rate", "rate", Kind::kRate, 2},
                   {"blocked_share", "blocked", Kind::kShare, 5},
                   {"duration_p50", "median", Kind::kDuration, 6},
                   {"duration_p95", "p95", Kind::kDuration, 7}};
  if (has_lost) cells.columns.insert(cells.columns.begin() + 3, {"lost", "lost", Kind::kCount, 3});
  for (const BreakdownRow& row : measurement.datasets) {
    const double busy = row.duration_sum.value_or(0);
    const Number blocked_share = row.blocked_sum.has_value() && busy > 0 ? Number(*row.blocked_sum / busy) : Number();
    std::vector<Cell>& line = cells.rows.emplace_back();
    line.push_back(CellOf(row.name));
    for (const Number& figure : {row.chunks, row.failed}) line.push_back(CellOf(figure));
    if (has_lost) line.push_back(CellOf(row.lost));
    for (const Number& figure : {row.events, row.bytes_read, row.duration_sum, row.event_rate, blocked_share,
                                 row.duration_p50, row.duration_p95}) {
      line.push_back(CellOf(figure));
    }
  }
  return FirstOf(std::move(table), std::move(cells));
}

namespace {

/// The first rows of a table of the measurement, with the columns that are asked for first.
SummaryTable FirstColumnsOf(SummaryTable table, CellTable cells, int most_rank, std::string_view but_not = "") {
  for (size_t i = cells.columns.size(); i-- > 0;) {
    if (cells.columns[i].rank <= most_rank && cells.columns[i].key != but_not) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    cells.columns.erase(cells.columns.begin() + at);
    for (std::vector<Cell>& row : cells.rows) row.erase(row.begin() + at);
  }
  return FirstOf(std::move(table), std::move(cells));
}

}  // namespace

SummaryTable WorkerSummary(const Measurement& measurement) {
  SummaryTable table = {"workers", "workers"};
  if (measurement.workers.empty()) table.why_not = WhyNoRows("workers", measurement);
  return FirstColumnsOf(std::move(table), CellsOf(measurement.workers), kMostWorkerRank, "memory_limit_bytes");
}

SummaryTable ModuleSummary(const Measurement& measurement) {
  SummaryTable table = {"modules", "modules (own time, longest first)"};
  if (measurement.modules.empty()) table.why_not = WhyNoRows("modules", measurement);
  return FirstColumnsOf(std::move(table), CellsOf(measurement.modules), 1);
}

SummaryTable CutSummary(const Measurement& measurement) {
  const bool is_list = CutRow::AreList(measurement.cuts);
  SummaryTable table = {"cuts", is_list ? "cut list" : "cut flow", "of all events"};
  if (measurement.cuts.empty()) table.why_not = WhyNoRows("cuts", measurement);
  CellTable cells;
  cells.columns = {{"name", "cut", Kind::kText},
                   {"events", "events", Kind::kCount},
                   {"step_efficiency", is_list ? "of the step before" : "of its input", Kind::kShare, 1},
                   {"total_efficiency", "of all", Kind::kShare}};
  for (const CutRow& cut : measurement.cuts) {
    if (cells.rows.size() == kMostCuts) {
      table.left_out = measurement.cuts.size() - kMostCuts;
      break;
    }
    cells.rows.push_back({CellOf(Text(std::string(2 * cut.Depth(), ' ') + cut.Shown())), CellOf(cut.events),
                          CellOf(cut.step_efficiency), CellOf(cut.total_efficiency)});
    table.bars.push_back({cut.total_efficiency.value_or(0), Paint::kCompute});
  }
  table.text = TableOf(cells).text;
  return table;
}

}  // namespace crema
