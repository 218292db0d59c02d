// The blocks of the summary that divide something up: core-seconds, chunk time, datasets, events.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/budget_rows.h"
#include "collector/writers/display_text.h"
#include "collector/writers/document_table.h"
#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal_bars.h"
#include "collector/writers/text_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// Rows a block of the summary shows; the tables show all of them.
constexpr size_t kMostRows = 10;

constexpr int kLeastBar = 10;

/// A part of the budget below this rounds to 0.0 %.
constexpr double kLeastPart = 0.0005;

struct BarOfRow {
  double share = 0;  ///< of the longest bar
  Paint paint = Paint::kCompute;
  std::string below = "";       ///< a line under the row: what it consists of
  std::string instead_of = "";  ///< why there is no bar
};

/// The table, with a bar a row in what room it leaves.
void AddWithBars(const TextTable& table, const std::vector<BarOfRow>& bars, TerminalBox* box) {
  const int room = box->inner_columns() - (box->has_bars() ? kLeastBar + 2 : 0);
  const LaidOutTable laid_out = LayOut(table, room, box->style());
  const int columns = box->inner_columns() - laid_out.columns - 2;
  const size_t header = laid_out.lines.size() - table.rows.size();
  for (size_t at = 0; at < laid_out.lines.size(); ++at) {
    PaintedLine line = laid_out.lines[at];
    if (at >= header && box->has_bars()) {
      const BarOfRow& bar = bars[at - header];
      line.push_back({"  "});
      line.push_back({Bar(bar.share, columns, box->style()), bar.paint});
      line.push_back({bar.instead_of, Paint::kDim});
    }
    box->Line(line);
    if (at >= header && !bars[at - header].below.empty()) box->Line({{"  " + bars[at - header].below, Paint::kDim}});
  }
}

void AddMoreLine(size_t all, size_t shown, std::string_view table, TerminalBox* box) {
  if (all <= shown) return;
  box->Line({{fmt::format("{} more: crema show --table {}", all - shown, table), Paint::kDim}});
}

Paint PaintOfGroup(std::string_view part) {
  if (part == "compute") return Paint::kCompute;
  if (part == "cpu_wait" || part == "blocked" || part == "waiting") return Paint::kWaiting;
  if (part == "outside_chunk") return Paint::kOpening;
  if (part == "framework" || part == "failed") return Paint::kOverhead;
  return Paint::kDim;
}

/// `cpu wait 2.3 % · blocked 18 %`: what a group consists of, where that says more than its name.
std::string PartsOf(const BudgetRows& budget, const std::string& group) {
  std::string text;
  int parts = 0;
  for (const BudgetPart& part : budget.parts) {
    if (part.group != group) continue;
    ++parts;
    if (part.share < kLeastPart) continue;
    std::string name = part.part;
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", name, HumanPercent(part.share));
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
    const Json& helper = Field(section, "helper");
    if (helper.is_boolean() && helper.get<bool>()) return 2;
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

}  // namespace

std::string AddBudget(const Json& document, TerminalBox* box) {
  const std::optional<BudgetRows> budget = ReadBudget(document);
  if (!budget.has_value()) {
    return WhyNotMeasured(document, "core_seconds");
  }
  const double core_seconds = Metric(document, "core_seconds").value_or(budget->core_seconds);
  box->Rule(fmt::format("where the core-seconds went ({}{})", box->has_bars() ? CoresTimesWall(document) : "",
                        HumanDuration(core_seconds)));
  TextTable table;
  table.columns = {{"", Align::kLeft, 0, true}, {"", Align::kRight}, {"", Align::kRight}};
  std::vector<BarOfRow> bars;
  double largest = 0;
  for (const BudgetGroup& group : budget->groups) largest = std::max(largest, group.share);
  for (const BudgetGroup& group : budget->groups) {
    const bool is_measured = group.core_seconds.has_value();
    table.rows.push_back({{group.group},
                          {is_measured ? HumanDuration(*group.core_seconds) : "–", Paint::kBold},
                          {is_measured ? HumanPercent(group.share, 1) : "–"}});
    BarOfRow bar{largest > 0 ? group.share / largest : 0, Paint::kDim, PartsOf(*budget, group.group),
                 is_measured ? "" : "not measured"};
    for (const BudgetPart& part : budget->parts) {
      if (part.group == group.group) bar.paint = PaintOfGroup(part.part);
    }
    bars.push_back(bar);
  }
  AddWithBars(table, bars, box);
  return "";
}

std::string AddSections(const Json& document, TerminalBox* box) {
  const std::vector<const Json*> sections = SectionsByOwnTime(document);
  if (sections.empty()) {
    return "no section was recorded";
  }
  box->Rule("sections inside a chunk (own time, slowest first)");
  const std::vector<const Json*> shown = FirstRows(sections);
  double largest = 0;
  for (const Json* section : shown) largest = std::max(largest, NumberField(*section, "self").value_or(0));
  TextTable table;
  table.columns = {{"section", Align::kLeft, 0, true, true},
                   {"calls", Align::kRight, 1},
                   {"own time"},
                   {"share"},
                   {"cpu", Align::kRight, 2}};
  std::vector<BarOfRow> bars;
  bool has_cpu = false;
  for (const Json* section : shown) {
    const Json& helper = Field(*section, "helper");
    const bool is_helper = helper.is_boolean() && helper.get<bool>();
    const std::optional<double> self = NumberField(*section, "self");
    const std::optional<double> cpu = NumberField(*section, "cpu");
    const double total = NumberField(*section, "total").value_or(0);
    const bool knows_cpu = cpu.has_value() && total > 0;
    has_cpu = has_cpu || knows_cpu;
    table.rows.push_back({{TextField(*section, "path") + (is_helper ? " (helper)" : "")},
                          {FieldText(Field(*section, "count"), FieldKind::kCount)},
                          {FieldText(Field(*section, "self"), FieldKind::kDuration), Paint::kBold},
                          {FieldText(Field(*section, "share"), FieldKind::kShare)},
                          {knows_cpu ? HumanPercent(*cpu / total, 0) : "–"}});
    // without a CPU figure nothing is said about waiting
    const Paint paint = knows_cpu && *cpu < 0.5 * total ? Paint::kWaiting : Paint::kCompute;
    bars.push_back({largest > 0 ? self.value_or(0) / largest : 0, paint});
  }
  if (!has_cpu) {
    table.columns.pop_back();
    for (PaintedLine& row : table.rows) row.pop_back();
  }
  AddWithBars(table, bars, box);
  AddMoreLine(sections.size(), shown.size(), "sections", box);
  return "";
}

std::string AddDatasets(const Json& document, TerminalBox* box) {
  const Json& datasets = ListField(document, "datasets");
  if (datasets.empty()) return "no chunk was recorded";
  box->Rule("datasets");
  Json rows = Json::array();
  for (const Json& dataset : datasets) {
    if (rows.size() == kMostRows) break;
    Json row = dataset;
    const double busy = NumberField(dataset, "duration_sum").value_or(0);
    const std::optional<double> blocked = NumberField(dataset, "blocked_sum");
    if (blocked.has_value() && busy > 0) row["blocked_share"] = *blocked / busy;
    rows.push_back(std::move(row));
  }
  const DocumentTable table = TableOf(rows, {{"name", "dataset", FieldKind::kText, 0},
                                             {"chunks", "chunks", FieldKind::kCount, 1},
                                             {"failed", "failed", FieldKind::kCount, 3},
                                             {"events", "events", FieldKind::kCount, 0},
                                             {"bytes_read", "read", FieldKind::kData, 4},
                                             {"duration_sum", "busy", FieldKind::kDuration, 0},
                                             {"event_rate", "rate", FieldKind::kRate, 2},
                                             {"blocked_share", "blocked", FieldKind::kShare, 5},
                                             {"duration_p50", "median", FieldKind::kDuration, 6},
                                             {"duration_p95", "p95", FieldKind::kDuration, 7}});
  const LaidOutTable laid_out = LayOut(table.text, box->inner_columns(), box->style());
  for (const PaintedLine& line : laid_out.lines) box->Line(line);
  AddMoreLine(datasets.size(), rows.size(), "datasets", box);
  return "";
}

void AddCutFlow(const Json& document, TerminalBox* box) {
  const Json& cuts = ListField(document, "cuts");
  if (cuts.empty()) return;
  box->Rule("cut flow (bars: of all events)");
  const DocumentTable table = TableOf(cuts, {{"name", "cut", FieldKind::kText, 0},
                                             {"events", "events", FieldKind::kCount, 0},
                                             {"step_efficiency", "of the step before", FieldKind::kShare, 1},
                                             {"total_efficiency", "of all", FieldKind::kShare, 0}});
  std::vector<BarOfRow> bars;
  for (const Json& cut : cuts) bars.push_back({NumberField(cut, "total_efficiency").value_or(0), Paint::kCompute});
  AddWithBars(table.text, bars, box);
}

}  // namespace crema
