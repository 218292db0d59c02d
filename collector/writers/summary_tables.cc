#include "collector/writers/summary_tables.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collector/appearance/human_numbers.h"
#include "collector/document/budget_parts.h"
#include "collector/document/document_fields.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/thresholds.h"
#include "collector/insight/tree_figures.h"
#include "collector/writers/document_table.h"
#include "collector/writers/table_columns.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Rows that a summary shows; the tables show all of them.
constexpr size_t kMostRows = 10;

/// Columns of a worker that are asked for first.
constexpr int kMostWorkerRank = 3;

/// A part of the budget below this rounds to 0.0 %.
constexpr double kLeastPart = 0.0005;
/// A smaller share of waiting changes no section's own time visibly.
constexpr double kLeastWait = 0.01;

bool IsHelper(const Json& section) {
  const Json& helper = Field(section, "helper");
  return helper.is_boolean() && helper.get<bool>();
}

bool AnyAbove0(const Json& rows, std::string_view field) {
  return std::any_of(rows.begin(), rows.end(),
                     [field](const Json& row) { return NumberField(row, field).value_or(0) > 0; });
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

/// `waiting for a CPU 2.3 % · blocked 18 %`: what a group consists of, where that says more than its name.
std::string PartsOf(const Json& document, const BudgetRows& budget, const std::string& group) {
  std::string text;
  if (const BudgetPartKind* outside = FindBudgetPart("process_cpu"); group == outside->group) {
    for (const OutsideSection& section : LongestOutsideChunks(document)) {
      text += fmt::format("{}{} {}", text.empty() ? "wall: " : " · ", section.path, HumanDuration(section.self));
    }
    return text;
  }
  int parts = 0;
  for (const BudgetPart& part : budget.parts) {
    if (part.group != group) continue;
    ++parts;
    if (part.share < kLeastPart) continue;
    const BudgetPartKind* known = FindBudgetPart(part.part);
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", known == nullptr ? part.part : std::string(known->name),
                        HumanPercent(part.share));
  }
  return parts > 1 ? text : "";
}

/// `4 cores × 6 m 17 s`.
std::string CoresTimesWall(const Json& document) {
  const std::optional<double> cores = Metric(document, "total_cores");
  const std::optional<double> wall_time = Metric(document, "wall_time");
  if (!cores.has_value() || !wall_time.has_value()) return "";
  return fmt::format("{} cores × {} = ", HumanCount(*cores), HumanDuration(*wall_time));
}

/// Owners by own time, `(other)` after them, then the helpers' rows, which run beside the owners.
std::vector<const Json*> SectionsByOwnTime(const Json& document) {
  std::vector<const Json*> sections;
  for (const Json& section : ListField(document, "sections")) sections.push_back(&section);
  auto kind = [](const Json& section) {
    if (IsHelper(section)) return 2;
    return TextField(section, "path") == "(other)" ? 1 : 0;
  };
  std::stable_sort(sections.begin(), sections.end(), [&kind](const Json* left, const Json* right) {
    if (kind(*left) != kind(*right)) return kind(*left) < kind(*right);
    return NumberField(*left, "self").value_or(0) > NumberField(*right, "self").value_or(0);
  });
  return sections;
}

/// The first rows, but always `(other)`: without it the shares would not add up.
std::vector<const Json*> FirstRows(const std::vector<const Json*>& sections) {
  std::vector<const Json*> shown;
  for (const Json* section : sections) {
    const bool is_other = TextField(*section, "path") == "(other)";
    if (shown.size() < kMostRows || is_other) shown.push_back(section);
  }
  return shown;
}

/// The first rows of a list of the document.
SummaryTable FirstOf(const Json& rows, SummaryTable table, const std::vector<DocumentColumn>& columns) {
  Json shown = Json::array();
  for (size_t i = 0; i < rows.size() && i < kMostRows; ++i) shown.push_back(rows[i]);
  table.left_out = rows.size() - shown.size();
  table.text = TableOf(shown, columns).text;
  return table;
}

/// What the cores of a command without chunks did.
SummaryTable TreeBudgetSummary(const Json& document, SummaryTable table) {
  const std::optional<TreeBudget> budget = ReadTreeBudget(document);
  if (!budget.has_value() || !IsProcessTreeOnly(document)) {
    table.why_not = WhyNotMeasured(document, "core_seconds");
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

SummaryTable BudgetSummary(const Json& document, bool has_room) {
  SummaryTable table = {"budget"};
  const std::optional<BudgetRows> budget = ReadBudget(document);
  if (!budget.has_value()) return TreeBudgetSummary(document, std::move(table));
  const double core_seconds = Metric(document, "core_seconds").value_or(budget->core_seconds);
  table.title = fmt::format("where the core-seconds went ({}{})", has_room ? CoresTimesWall(document) : "",
                            HumanDuration(core_seconds));
  table.text.columns = {{"", Align::kLeft, 0, true}, {"", Align::kRight}, {"", Align::kRight}};
  double largest = 0;
  for (const BudgetGroup& group : budget->groups) largest = std::max(largest, group.share);
  for (const BudgetGroup& group : budget->groups) {
    const bool is_measured = group.core_seconds.has_value();
    table.text.rows.push_back({{group.group},
                               {is_measured ? HumanDuration(*group.core_seconds) : "–", Paint::kBold},
                               {is_measured ? HumanPercent(group.share, 1) : "–"}});
    BarOfRow bar{largest > 0 ? group.share / largest : 0, Paint::kDim, PartsOf(document, *budget, group.group),
                 is_measured ? "" : "not measured"};
    bar.paint = PaintOfGroup(group.group);
    table.bars.push_back(bar);
  }
  return table;
}

std::string WaitInsideSections(const Json& document) {
  const double wait = Metric(document, "chunk_cpu_wait").value_or(0);
  const double busy = Metric(document, "busy_time").value_or(0);
  if (busy <= 0 || wait / busy < kLeastWait) return "";
  return fmt::format("waiting for a CPU, inside these times: {} ({})", HumanDuration(wait), HumanPercent(wait / busy));
}

SummaryTable SectionSummary(const Json& document) {
  SummaryTable table = {"sections", "sections inside a chunk (own time, slowest first)"};
  const std::vector<const Json*> sections = SectionsByOwnTime(document);
  if (sections.empty()) {
    table.why_not = "no section was recorded";
    return table;
  }
  const std::vector<const Json*> shown = FirstRows(sections);
  table.left_out = sections.size() - shown.size();
  double largest = 0;
  for (const Json* section : shown) largest = std::max(largest, NumberField(*section, "self").value_or(0));
  const auto cpu_share = [](const Json& section) -> std::optional<double> {
    const std::optional<double> cpu = NumberField(section, "cpu");
    const double total = NumberField(section, "total").value_or(0);
    return cpu.has_value() && total > 0 ? std::optional(*cpu / total) : std::nullopt;
  };
  const bool has_cpu =
      std::any_of(shown.begin(), shown.end(), [&](const Json* section) { return cpu_share(*section).has_value(); });
  const bool has_failed = AnyAbove0(ListField(document, "sections"), "failed");
  table.text.columns = {{"section", Align::kLeft, 0, true, true}, {"calls", Align::kRight, 1}, {"own time"}, {"share"}};
  if (has_cpu) table.text.columns.push_back({"cpu", Align::kRight, 2});
  if (has_failed) table.text.columns.push_back({"failed", Align::kRight, 3});
  for (const Json* section : shown) {
    const std::optional<double> cpu = cpu_share(*section);
    PaintedLine row = {{TextField(*section, "path") + (IsHelper(*section) ? " (helper)" : "")},
                       {FieldText(Field(*section, "count"), FieldKind::kCount)},
                       {FieldText(Field(*section, "self"), FieldKind::kDuration), Paint::kBold},
                       {FieldText(Field(*section, "share"), FieldKind::kShare)}};
    if (has_cpu) row.push_back({cpu.has_value() ? HumanPercent(*cpu, 0) : "–"});
    if (has_failed) row.push_back({FieldText(Field(*section, "failed"), FieldKind::kCount)});
    table.text.rows.push_back(std::move(row));
    // without a CPU figure nothing is said about waiting
    const Paint paint = kMostlyWaits.Holds(cpu.value_or(1)) ? Paint::kWaiting : Paint::kCompute;
    table.bars.push_back({largest > 0 ? NumberField(*section, "self").value_or(0) / largest : 0, paint});
    // With the last of the rows that add up to the chunks' time; those of helpers stand behind it.
    if (TextField(*section, "path") == "(other)") table.bars.back().below = WaitInsideSections(document);
  }
  return table;
}

SummaryTable DatasetSummary(const Json& document) {
  SummaryTable table = {"datasets", "datasets"};
  Json datasets = ListField(document, "datasets");
  if (datasets.empty()) table.why_not = WhyNoBreakdown(document, "dataset");
  for (Json& dataset : datasets) {
    const double busy = NumberField(dataset, "duration_sum").value_or(0);
    const std::optional<double> blocked = NumberField(dataset, "blocked_sum");
    if (blocked.has_value() && busy > 0) dataset["blocked_share"] = *blocked / busy;
  }
  std::vector<DocumentColumn> columns = {{"name", "dataset", FieldKind::kText, 0},
                                         {"chunks", "chunks", FieldKind::kCount, 1},
                                         {"failed", "failed", FieldKind::kCount, 3},
                                         {"events", "events", FieldKind::kCount, 0},
                                         {"bytes_read", "read", FieldKind::kData, 4},
                                         {"duration_sum", "busy", FieldKind::kDuration, 0},
                                         {"event_rate", "rate", FieldKind::kRate, 2},
                                         {"blocked_share", "blocked", FieldKind::kShare, 5},
                                         {"duration_p50", "median", FieldKind::kDuration, 6},
                                         {"duration_p95", "p95", FieldKind::kDuration, 7}};
  if (AnyAbove0(datasets, "lost")) columns.insert(columns.begin() + 3, {"lost", "lost", FieldKind::kCount, 3});
  return FirstOf(datasets, std::move(table), columns);
}

SummaryTable WorkerSummary(const Json& document) {
  SummaryTable table = {"workers", "workers"};
  const Json& workers = ListField(document, "workers");
  if (workers.empty()) table.why_not = "no process recorded a chunk";
  std::vector<DocumentColumn> columns = WorkerColumns();
  columns.erase(std::remove_if(columns.begin(), columns.end(),
                               [](const DocumentColumn& column) {
                                 return column.rank > kMostWorkerRank && column.field != "memory_limit_bytes";
                               }),
                columns.end());
  return FirstOf(workers, std::move(table), columns);
}

SummaryTable CutSummary(const Json& document) {
  SummaryTable table = {"cuts", "cut flow", "of all events"};
  const Json& cuts = ListField(document, "cuts");
  if (cuts.empty()) table.why_not = "no cut was recorded";
  table.text = TableOf(cuts, {{"name", "cut", FieldKind::kText, 0},
                              {"events", "events", FieldKind::kCount, 0},
                              {"step_efficiency", "of the step before", FieldKind::kShare, 1},
                              {"total_efficiency", "of all", FieldKind::kShare, 0}})
                   .text;
  for (const Json& cut : cuts) {
    table.bars.push_back({NumberField(cut, "total_efficiency").value_or(0), Paint::kCompute});
  }
  return table;
}

}  // namespace crema
