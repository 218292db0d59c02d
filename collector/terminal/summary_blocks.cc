#include "absl/strings/str_join.h"
#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

/// Rows that a summary shows; the tables show all of them.
constexpr size_t kMostSummaryRows = 10;
constexpr size_t kMostCuts = 40;

/// Columns of a worker that are asked for first.
constexpr int kMostWorkerRank = 3;

template <class Row>
bool AnyAbove0(const std::vector<Row>& rows, Number Row::*member) {
  return absl::c_any_of(rows, [member](const Row& row) { return (row.*member).value_or(0) > 0; });
}

Paint PaintOfColour(std::string_view colour) {
  if (colour == "cpu") return Paint::kCompute;
  if (colour == "wait") return Paint::kWaiting;
  if (colour == "opening") return Paint::kOpening;
  if (colour == "outside") return Paint::kOutside;
  if (colour == "overhead") return Paint::kOverhead;
  return Paint::kDim;
}

/// `threads without guards 3.10 s · child processes 1.02 s`, where they computed.
std::string CpuOfOthers(const Measurement& measurement) {
  const double all = measurement.Metric("chunk_cpu_time").value_or(0);
  std::string text;
  for (const auto& [key, name] : {std::pair("unannounced_cpu_time", "threads without guards"),
                                  std::pair("children_cpu_time", "child processes")}) {
    const double cpu = measurement.Metric(key).value_or(0);
    if (cpu <= 0 || !kCpuOfOthersShown.Holds(cpu / all)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "of it " : " · ", name, HumanDuration(cpu));
  }
  const double shared = measurement.Metric("shared_cpu_time").value_or(0);
  if (shared > 0 && kCpuOfOthersShown.Holds(shared / all)) {
    text += fmt::format("{}{} of threads without guards in no chunk", text.empty() ? "" : "; ", HumanDuration(shared));
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
    if (share < kRoundsToZero || shown++ == kMostKinds) break;
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
    if (part.share < kRoundsToZero) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", part.name(), HumanPercent(part.share));
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
  auto sections = Mapped<const SectionRow*>(measurement.sections, [](const SectionRow& section) { return &section; });
  SortBy(&sections, [](const SectionRow* section) {
    const int kind = section->helper.value_or(false) ? 2 : section->path == "(other)" ? 1 : 0;
    return std::pair(kind, -section->self.value_or(0));
  });
  return sections;
}

/// The first rows, but always `(other)`: without it the shares would not add up.
std::vector<const SectionRow*> FirstRows(const std::vector<const SectionRow*>& sections) {
  std::vector<const SectionRow*> shown;
  for (const SectionRow* section : sections) {
    if (shown.size() < kMostSummaryRows || section->path == "(other)") shown.push_back(section);
  }
  return shown;
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
  const double largest = LargestBy(budget->parts, &TreeBudgetPart::share).second;
  for (const TreeBudgetPart& part : budget->parts) {
    table.text.rows.push_back(
        {{std::string(part.name)}, {HumanDuration(part.core_seconds), Paint::kBold}, {HumanPercent(part.share, 1)}});
    table.bars.push_back({part.share / largest, PaintOfColour(part.colour)});
  }
  return table;
}

/// The first rows of a table of the measurement, with the columns that are asked for first.
SummaryTable FirstColumnsOf(const Measurement& measurement, SummaryTable table, CellTable cells, int most_rank,
                            std::string_view but_not = "") {
  if (cells.rows.empty()) table.why_not = WhyNoRows(table.name, measurement);
  for (size_t i = cells.columns.size(); i-- > 0;) {
    if (cells.columns[i].rank <= most_rank && cells.columns[i].key != but_not) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    cells.columns.erase(cells.columns.begin() + at);
    for (std::vector<Cell>& row : cells.rows) row.erase(row.begin() + at);
  }
  if (cells.rows.size() > kMostSummaryRows) {
    table.left_out = cells.rows.size() - kMostSummaryRows;
    cells.rows.resize(kMostSummaryRows);
  }
  table.text = TableOf(cells).text;
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
  const double largest = LargestBy(budget->groups, &BudgetGroup::share).second;
  for (const BudgetGroup& group : budget->groups) {
    const bool is_measured = group.core_seconds.has_value();
    table.text.rows.push_back({{group.group},
                               {is_measured ? HumanDuration(*group.core_seconds) : "–", Paint::kBold},
                               {is_measured ? HumanPercent(group.share, 1) : "–"}});
    const BudgetGroupKind* known = FindBudgetGroup(group.group);
    table.bars.push_back({largest > 0 ? group.share / largest : 0, PaintOfColour(known == nullptr ? "" : known->colour),
                          PartsOf(measurement, *budget, group.group), is_measured ? "" : "not measured"});
  }
  return table;
}

std::string WaitInsideSections(const Measurement& measurement) {
  const double share = CpuWaitShare(measurement).value_or(0);
  if (!kCpuWaitShown.Holds(share)) return "";
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
  const double largest = LargestBy(shown, [](const SectionRow* section) { return section->self.value_or(0); }).second;
  const auto cpu_share = [](const SectionRow& section) -> std::optional<double> {
    const double total = section.total.value_or(0);
    return section.cpu.has_value() && total > 0 ? std::optional(*section.cpu / total) : std::nullopt;
  };
  const bool has_cpu =
      absl::c_any_of(shown, [&](const SectionRow* section) { return cpu_share(*section).has_value(); });
  const bool has_failed = AnyAbove0(measurement.sections, &SectionRow::failed);
  table.text.columns = {{"section", Align::kLeft, 0, true, true}, {"calls", Align::kRight, 1}, {"own time"}, {"share"}};
  if (has_cpu) table.text.columns.push_back({"cpu", Align::kRight, 2});
  if (has_failed) table.text.columns.push_back({"failed", Align::kRight, 3});
  for (const SectionRow* section : shown) {
    const std::optional<double> cpu = cpu_share(*section);
    PaintedLine row = {{section->Label()},
                       {CellText(CellOf(section->count), Kind::kCount)},
                       {CellText(CellOf(section->self), Kind::kDuration), Paint::kBold},
                       {CellText(CellOf(section->share), Kind::kShare)}};
    if (has_cpu) row.push_back({cpu.has_value() ? HumanPercent(*cpu, 0) : "–"});
    if (has_failed) row.push_back({CellText(CellOf(section->failed), Kind::kCount)});
    table.text.rows.push_back(std::move(row));
    // without a CPU figure nothing is said about waiting
    const Paint paint = kMostlyWaits.Holds(cpu.value_or(1)) ? Paint::kWaiting : Paint::kCompute;
    table.bars.push_back({largest > 0 ? section->self.value_or(0) / largest : 0, paint});
    // With the last of the rows that add up to the chunks' time; those of helpers are behind it.
    if (section->path == "(other)") table.bars.back().below = WaitInsideSections(measurement);
  }
  return table;
}

SummaryTable DatasetSummary(const Measurement& measurement) {
  SummaryTable table = {"datasets", "datasets"};
  CellTable cells;
  cells.columns = {{"name", "dataset", Kind::kText},
                   {"chunks", "chunks", Kind::kCount, 1},
                   {"failed", "failed", Kind::kCount, 3},
                   {"lost", "lost", Kind::kCount, 3},
                   {"events", "events", Kind::kCount},
                   {"bytes_read", "read", Kind::kData, 4},
                   {"duration_sum", "busy", Kind::kDuration},
                   {"event_rate", "rate", Kind::kRate, 2},
                   {"blocked_share", "blocked", Kind::kShare, 5},
                   {"duration_p50", "median", Kind::kDuration, 6},
                   {"duration_p95", "p95", Kind::kDuration, 7}};
  for (const BreakdownRow& row : measurement.datasets) {
    const double busy = row.duration_sum.value_or(0);
    const Number blocked_share = row.blocked_sum.has_value() && busy > 0 ? Number(*row.blocked_sum / busy) : Number();
    std::vector<Cell>& line = cells.rows.emplace_back();
    line.push_back(CellOf(row.name));
    for (const Number& figure : {row.chunks, row.failed, row.lost, row.events, row.bytes_read, row.duration_sum,
                                 row.event_rate, blocked_share, row.duration_p50, row.duration_p95}) {
      line.push_back(CellOf(figure));
    }
  }
  const std::string_view but_not = AnyAbove0(measurement.datasets, &BreakdownRow::lost) ? "" : "lost";
  return FirstColumnsOf(measurement, std::move(table), std::move(cells), std::numeric_limits<int>::max(), but_not);
}

SummaryTable WorkerSummary(const Measurement& measurement) {
  return FirstColumnsOf(measurement, {"workers", "workers"}, CellsOf(measurement.workers), kMostWorkerRank,
                        "memory_limit_bytes");
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

// The terminal summary: its blocks in order.

namespace {

constexpr int kLeastBar = 10;

/// The table, with a bar a row, where it has any, in what room it leaves. Why it was left out.
std::string Draw(const SummaryTable& table, TerminalBox* box) {
  if (!table.why_not.empty()) return table.why_not;
  box->Rule(table.bars_are.empty() ? table.title : fmt::format("{} (bars: {})", table.title, table.bars_are));
  const bool has_bars = box->has_bars() && !table.bars.empty();
  const LaidOutTable laid_out = LayOut(table.text, box->inner_columns() - (has_bars ? kLeastBar + 2 : 0), box->style());
  const int columns = box->inner_columns() - laid_out.columns - 2;
  const size_t header = laid_out.lines.size() - table.text.rows.size();
  for (size_t at = 0; at < laid_out.lines.size(); ++at) {
    PaintedLine line = laid_out.lines[at];
    const BarOfRow bar = at < header || table.bars.empty() ? BarOfRow() : table.bars[at - header];
    if (at >= header && has_bars) {
      line.push_back({"  "});
      line.push_back({Bar(bar.share, columns, box->style()), bar.paint});
      line.push_back({bar.instead_of, Paint::kDim});
    }
    box->Line(line);
    if (!bar.below.empty()) box->Line({{"  " + bar.below, Paint::kDim}});
  }
  if (table.left_out > 0) {
    box->Paragraph(fmt::format("{} more: crema show --table {}", table.left_out, table.name), Paint::kDim);
  }
  return "";
}

constexpr size_t kMostFindings = 5;

/// A text behind `lead`, which takes `indent` columns: its further lines begin below its first. How many lines it took.
int AddHanging(PaintedLine lead, int indent, std::string_view text, Paint paint, TerminalBox* box) {
  const std::vector<std::string> lines = Wrap(text, box->inner_columns() - indent, box->style());
  for (const std::string& line : lines) {
    lead.push_back({line, paint});
    box->Line(std::exchange(lead, {{Repeated(" ", indent)}}));
  }
  return static_cast<int>(lines.size());
}

void AddFinding(const VerdictRow& verdict, TerminalBox* box) {
  constexpr int kSaving = 9;
  const TerminalStyle& style = box->style();
  const std::optional<Mark> mark = MarkOf(verdict);
  PaintedText sign = mark.has_value() ? MarkSign(*mark) : PaintedText{"·", Paint::kDim};
  const int indent = style.ascii ? 6 : 3;
  sign.text = Pad(sign.text, indent, Align::kLeft, style);
  const int text_columns = box->inner_columns() - indent - kSaving;
  const std::vector<std::string> lines = Wrap(verdict.sentence, text_columns, style);
  for (size_t at = 0; at < lines.size(); ++at) {
    PaintedLine line = {at == 0 ? sign : PaintedText{Repeated(" ", indent)},
                        {Pad(lines[at], text_columns, Align::kLeft, style)}};
    if (const std::string saving = SavingText(verdict); at == 0 && !saving.empty()) {
      line.push_back({Pad(saving, kSaving, Align::kRight, style), Paint::kBold});
    }
    box->Line(line);
  }
  AddHanging({{Repeated(" ", indent)}}, indent, verdict.suggestion, Paint::kDim, box);
}

/// Packs the items of one mark into as few lines as they fit into.
void AddItems(const std::vector<TrustItem>& items, Mark mark, TerminalBox* box) {
  const TerminalStyle& style = box->style();
  PaintedLine line;
  int taken = 0;
  for (const TrustItem& item : items) {
    if (item.mark != mark) continue;
    const int columns = ColumnsOf(DisplayText(MarkSign(mark).text + " " + item.text(), style));
    if (taken > 0 && taken + 2 + columns > box->inner_columns()) {
      box->Line(line);
      line.clear();
      taken = 0;
    }
    if (taken > 0) line.push_back({"  "});
    taken += columns + (taken > 0 ? 2 : 0);
    line.push_back(MarkSign(mark));
    line.push_back({" " + item.text(), mark == Mark::kGood ? Paint::kPlain : MarkSign(mark).paint});
  }
  if (taken > 0) box->Line(line);
}

Paint PaintOf(const KeyFigureRow& row) {
  if (row.mark == Mark::kWatch) return Paint::kWatch;
  return row.mark == Mark::kBad ? Paint::kBad : Paint::kBold;
}

/// As many notes as fit; the first one always.
std::string NotesWithin(const KeyFigureRow& row, int columns, const TerminalStyle& style) {
  auto notes = Mapped<std::string>(row.notes, &FigureText::text);
  if (!row.why_not.empty()) notes.push_back(row.why_not);
  std::string text;
  for (const std::string& note : notes) {
    const std::string longer = text + (text.empty() ? "" : " · ") + note;
    if (!text.empty() && ColumnsOf(DisplayText(longer, style)) > columns) break;
    text = longer;
  }
  return text;
}

constexpr int kLabel = 12;
constexpr int kScale = 10;

double Largest(const std::vector<std::optional<double>>& values) {
  return LargestBy(values, [](const std::optional<double>& value) { return value.value_or(0); }).second;
}

void AddSpark(std::string_view label, const std::vector<std::optional<double>>& values, double top,
              const std::string& scale, TerminalBox* box) {
  const TerminalStyle& style = box->style();
  box->Line({{Pad(label, kLabel, Align::kLeft, style)},
             {SparkLine(values, top, style), Paint::kCompute},
             {Pad(scale, kScale, Align::kRight, style), Paint::kDim}});
}

/// Events that go from thread to thread, and their modules; nothing where there are none.
void AddEvents(const Measurement& measurement, TerminalBox* box) {
  const std::vector<std::string> lines = EventLines(measurement);
  if (!lines.empty()) box->Rule("events");
  for (const std::string& line : lines) box->Paragraph(line, Paint::kPlain);
  const SummaryTable modules = {"modules", "modules (own time, longest first)"};
  Draw(FirstColumnsOf(measurement, modules, CellsOf(measurement.modules), 1), box);
}

/// The verdicts, worst first.
void AddFindings(const Measurement& measurement, TerminalBox* box) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(measurement);
  const bool has_saving =
      absl::c_any_of(groups, [](const VerdictGroup& group) { return group.cause->saving.has_value(); });
  box->Rule(has_saving ? "what to look at (right: share of the core-seconds)" : "what to look at");
  if (groups.empty()) box->Line({{"nothing stands out in what was measured", Paint::kDim}});
  size_t shown = 0;
  for (const VerdictGroup& group : groups) {
    if (shown++ == kMostFindings) break;
    AddFinding(*group.cause, box);
    for (const VerdictRow* symptom : group.symptoms) {  // what comes of the finding above it
      const int indent = box->style().ascii ? 8 : 5;
      AddHanging({{Repeated(" ", indent - 2) + "└ ", Paint::kDim}}, indent, symptom->sentence, Paint::kDim, box);
    }
  }
  if (groups.size() > kMostFindings) {
    const size_t more = groups.size() - kMostFindings;
    box->Paragraph(fmt::format("{} more: crema verdict {}", more, box->style().source), Paint::kDim);
  }
}

/// What is known about the measurement itself.
void AddTrust(const Measurement& measurement, TerminalBox* box) {
  box->Rule("can I trust this?");
  const std::vector<TrustItem> items = TrustItems(measurement);
  if (items.empty()) box->Line({{"nothing is known about the quality of these figures", Paint::kWatch}});
  for (const Mark mark : {Mark::kBad, Mark::kWatch, Mark::kGood}) AddItems(items, mark, box);
  const std::vector<std::string>& warnings = measurement.quality.warnings;
  for (size_t shown = 0; shown < std::min(kMostFindings, warnings.size()); ++shown) {
    const int indent = box->style().ascii ? 5 : 2;
    PaintedText sign = MarkSign(Mark::kWatch);
    sign.text = Pad(sign.text, indent, Align::kLeft, box->style());
    AddHanging({sign}, indent, warnings[shown], Paint::kWatch, box);
  }
  if (warnings.size() > kMostFindings) {
    const size_t more = warnings.size() - kMostFindings;
    box->Paragraph(fmt::format("{} more warnings: crema show --table quality", more), Paint::kDim);
  }
  size_t not_measured = 0;
  for (const UnmeasuredFigures& figures : FindUnmeasured(measurement)) not_measured += figures.keys.size();
  if (not_measured > 0) {
    box->Paragraph(Counted(not_measured, "figure", "figures") +
                       " not measured (may need guards or options): crema show --table quality lists them",
                   Paint::kDim);
  }
}

/// Name, state, when, on what; then the headline.
void AddHead(const Measurement& measurement, TerminalBox* box) {
  box->Open("crema", RunName(measurement), StateText(measurement));
  box->Paragraph(WhenAndOnWhat(measurement), Paint::kDim);
  const std::string command = measurement.run.command.has_value() ? absl::StrJoin(*measurement.run.command, " ") : "";
  if (!command.empty()) box->Line({{"$ " + command, Paint::kDim}});
  box->Line({});
  const Text& headline = measurement.headline;
  box->Paragraph(headline.empty() ? Headline(measurement) : headline.str(), Paint::kBold);
}

/// Open chunks and memory as spark lines; nothing where the box has no bars.
std::string AddOverTime(const Measurement& measurement, TerminalBox* box) {
  if (!box->has_bars()) return "";
  const int columns = box->inner_columns() - kLabel - kScale;
  std::vector<std::optional<double>> lanes;
  if (measurement.Metric("num_attempts").value_or(0) > 0)  // else an engine's workers have none because none is known
    lanes = TimelineColumns(measurement, "worker_open_chunks", columns);
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

}  // namespace

PaintedText StateText(const Measurement& measurement) {
  const StateInWords state = StateOf(measurement);
  if (state.ending == RunEnding::kUnknown) return {state.text, Paint::kDim};
  if (!state.mark.has_value()) return {state.text, Paint::kPlain};
  const PaintedText sign = MarkSign(*state.mark);
  return {sign.text + " " + state.text, sign.paint};
}

std::string WhenAndOnWhat(const Measurement& measurement) {
  const std::optional<RunTimes> times = TimesOf(measurement.run, {"%Y-%m-%d", " "});
  std::string when = times.has_value() ? times->start + (times->stop.empty() ? "" : " – " + times->stop) + " UTC" : "";
  const std::string on_what = OnWhat(measurement);
  return when + (when.empty() || on_what.empty() ? "" : " · ") + on_what;
}

int DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box) {
  constexpr int kLabelColumns = 15, kValueColumns = 14, kMarkColumns = 9, kKeyGap = 2, kFullBar = 18, kFullColumns = 96;
  const TerminalStyle& style = box->style();
  // what a narrower box lacks is taken from the bar
  const int bar = box->has_bars() ? std::max(6, kFullBar - (kFullColumns - box->inner_columns())) : 0;
  PaintedLine line = {{Pad(row.label, kLabelColumns, Align::kLeft, style)},
                      {Pad(row.text, kValueColumns, Align::kRight, style), PaintOf(row)},
                      {std::string(kKeyGap, ' ')}};
  int taken = kLabelColumns + kValueColumns + kKeyGap;
  const int note_column = taken + (bar > 0 ? bar + kKeyGap : 0) + kMarkColumns;
  // a bar of failures would be empty in ordinary runs, and nearly so in bad ones
  if (row.share.has_value() && row.figure.kind != ChangeOf::kFailures && bar > 0) {
    line.push_back({BarOnTrack(*row.share, bar, style), PaintOf(row) == Paint::kBold ? Paint::kCompute : PaintOf(row)});
    line.push_back({std::string(kKeyGap, ' ')});
    taken += bar + kKeyGap;
  }
  if (row.mark.has_value()) {
    line.push_back({Repeated(" ", note_column - kMarkColumns - taken)});
    PaintedText mark = MarkText(*row.mark);
    mark.text = Pad(mark.text, kMarkColumns, Align::kLeft, style);
    line.push_back(mark);
    taken = note_column;
  }
  // at full width all notes are under each other; in a narrower box they need the room of the bar that is not there, as
  // reasons always do
  if (taken < note_column && box->inner_columns() >= kFullColumns && row.why_not.empty()) {
    line.push_back({Repeated(" ", note_column - taken)});
    taken = note_column;
  }
  const int lines = AddHanging(line, taken, NotesWithin(row, box->inner_columns() - taken, style), Paint::kDim, box);
  if (lines == 0) box->Line(line);
  return std::max(1, lines);
}

std::string RenderSummary(const Measurement& measurement, const TerminalStyle& style) {
  TerminalBox box(style);
  AddHead(measurement, &box);
  box.Rule("key figures");
  for (const KeyFigureRow& row : KeyFigureRows(measurement)) DrawKeyFigure(row, &box);
  AddEvents(measurement, &box);
  std::vector<std::string> left_out;
  auto note = [&left_out](std::string_view block, const std::string& reason) {
    if (!reason.empty()) left_out.push_back(fmt::format("{}: {}", block, reason));
  };
  note("core-second budget", Draw(BudgetSummary(measurement, box.has_bars()), &box));
  note("sections", Draw(SectionSummary(measurement), &box));
  note("over time", AddOverTime(measurement, &box));
  note("datasets", Draw(DatasetSummary(measurement), &box));
  Draw(CutSummary(measurement), &box);
  if (!left_out.empty()) box.Rule("not shown");
  if (IsProcessTreeOnly(measurement)) {
    box.Paragraph(fmt::format("{} {}", GuardOfChunks(measurement), kWhatGuardsAdd), Paint::kDim);
  } else {
    for (const std::string& line : left_out) box.Paragraph(line, Paint::kDim);
  }
  AddFindings(measurement, &box);
  AddTrust(measurement, &box);
  return box.Close();
}

}  // namespace crema
