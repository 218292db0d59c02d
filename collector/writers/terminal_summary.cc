// The terminal summary: its blocks in order.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/event_lines.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/headline.h"
#include "collector/insight/run_head.h"
#include "collector/insight/tree_figures.h"
#include "collector/insight/trust_items.h"
#include "collector/writers/display_text.h"
#include "collector/writers/document_table.h"
#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {
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
    box->Line({{fmt::format("{} more: crema show --table {}", table.left_out, table.name), Paint::kDim}});
  }
  return "";
}

constexpr size_t kMostFindings = 5;

PaintedText SignOf(const VerdictRow& verdict) {
  const Text& severity = verdict.severity;
  if (severity == "good") return MarkSign(Mark::kGood);
  if (severity == "bad") return MarkSign(Mark::kBad);
  if (severity == "warning") return MarkSign(Mark::kWatch);
  return {"·", Paint::kDim};
}

/// What comes of the finding above it.
void AddSymptom(const VerdictRow& verdict, TerminalBox* box) {
  const int indent = box->style().ascii ? 8 : 5;
  const std::vector<std::string> lines = Wrap(verdict.sentence, box->inner_columns() - indent, box->style());
  for (size_t at = 0; at < lines.size(); ++at) {
    const std::string_view lead = at == 0 ? "└ " : "  ";
    box->Line({{Pad("", indent - 2, Align::kLeft, box->style()) + std::string(lead) + lines[at], Paint::kDim}});
  }
}

void AddFinding(const VerdictRow& verdict, TerminalBox* box) {
  constexpr int kSaving = 9;
  const TerminalStyle& style = box->style();
  PaintedText sign = SignOf(verdict);
  const int indent = style.ascii ? 6 : 3;
  sign.text = Pad(sign.text, indent, Align::kLeft, style);
  const int text_columns = box->inner_columns() - indent - kSaving;
  const std::vector<std::string> lines = Wrap(verdict.sentence, text_columns, style);
  for (size_t at = 0; at < lines.size(); ++at) {
    PaintedLine line = {at == 0 ? sign : PaintedText{std::string(static_cast<size_t>(indent), ' ')},
                        {Pad(lines[at], text_columns, Align::kLeft, style)}};
    if (const std::string saving = SavingText(verdict); at == 0 && !saving.empty()) {
      line.push_back({Pad(saving, kSaving, Align::kRight, style), Paint::kBold});
    }
    box->Line(line);
  }
  for (const std::string& line : Wrap(verdict.suggestion, box->inner_columns() - indent, style)) {
    box->Line({{std::string(static_cast<size_t>(indent), ' ')}, {line, Paint::kDim}});
  }
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

/// `2026-11-21 14:02:11 – 14:08:28 UTC`.
std::string When(const RunFacts& run) {
  const std::optional<RunTimes> times = TimesOf(run, {"%Y-%m-%d", " "});
  if (!times.has_value()) return "";
  return times->start + (times->stop.empty() ? "" : " – " + times->stop) + " UTC";
}

Paint PaintOf(const KeyFigureRow& row) {
  if (row.mark == Mark::kWatch) return Paint::kWatch;
  return row.mark == Mark::kBad ? Paint::kBad : Paint::kBold;
}

/// As many notes as fit; the first one always, cut by the box if it must be.
std::string NotesWithin(const KeyFigureRow& row, int columns, const TerminalStyle& style) {
  std::vector<std::string> notes;
  for (const FigureText& note : row.notes) notes.push_back(note.text());
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

std::string AddBudget(const Measurement& measurement, TerminalBox* box) {
  return Draw(BudgetSummary(measurement, box->has_bars()), box);
}

std::string AddSections(const Measurement& measurement, TerminalBox* box) {
  return Draw(SectionSummary(measurement), box);
}

std::string AddDatasets(const Measurement& measurement, TerminalBox* box) {
  return Draw(DatasetSummary(measurement), box);
}

void AddEvents(const Measurement& measurement, TerminalBox* box) {
  const std::vector<std::string> lines = EventLines(measurement);
  if (!lines.empty()) box->Rule("events");
  for (const std::string& line : lines) box->Paragraph(line, Paint::kPlain);
  Draw(ModuleSummary(measurement), box);
}

void AddCutFlow(const Measurement& measurement, TerminalBox* box) { Draw(CutSummary(measurement), box); }

void AddFindings(const Measurement& measurement, TerminalBox* box) {
  const std::vector<VerdictGroup> groups = GroupVerdicts(measurement);
  bool has_saving = false;
  for (const VerdictGroup& group : groups) has_saving = has_saving || group.cause->saving.has_value();
  box->Rule(has_saving ? "what to look at (right: share of the core-seconds)" : "what to look at");
  if (groups.empty()) box->Line({{"nothing stands out in what was measured", Paint::kDim}});
  size_t shown = 0;
  for (const VerdictGroup& group : groups) {
    if (shown++ == kMostFindings) break;
    AddFinding(*group.cause, box);
    for (const VerdictRow* symptom : group.symptoms) AddSymptom(*symptom, box);
  }
  if (groups.size() > kMostFindings) {
    box->Line({{fmt::format("{} more: crema verdict", groups.size() - kMostFindings), Paint::kDim}});
  }
}

void AddTrust(const Measurement& measurement, TerminalBox* box) {
  box->Rule("can I trust this?");
  const std::vector<TrustItem> items = TrustItems(measurement);
  if (items.empty()) box->Line({{"nothing is known about the quality of these figures", Paint::kWatch}});
  for (const Mark mark : {Mark::kBad, Mark::kWatch, Mark::kGood}) AddItems(items, mark, box);
  const std::vector<std::string>& warnings = measurement.quality.warnings;
  for (size_t shown = 0; shown < std::min(kMostFindings, warnings.size()); ++shown) {
    const int indent = box->style().ascii ? 5 : 2;
    const std::vector<std::string> lines = Wrap(warnings[shown], box->inner_columns() - indent, box->style());
    for (size_t at = 0; at < lines.size(); ++at) {
      PaintedText sign = at == 0 ? MarkSign(Mark::kWatch) : PaintedText{};
      sign.text = Pad(sign.text, indent, Align::kLeft, box->style());
      box->Line({sign, {lines[at], Paint::kWatch}});
    }
  }
  if (warnings.size() > kMostFindings) {
    box->Line(
        {{fmt::format("{} more warnings: crema show --table quality", warnings.size() - kMostFindings), Paint::kDim}});
  }
  size_t not_measured = 0;
  for (const UnmeasuredFigures& figures : FindUnmeasured(measurement)) not_measured += figures.keys.size();
  if (not_measured > 0) {
    box->Line(
        {{Counted(not_measured, "figure", "figures") + " not measured; why: crema show --table quality", Paint::kDim}});
  }
}

PaintedText StateText(const Measurement& measurement) {
  const StateInWords state = StateOf(measurement);
  if (state.ending == RunEnding::kUnknown) return {state.text, Paint::kDim};
  if (!state.mark.has_value()) return {state.text, Paint::kPlain};
  const PaintedText sign = MarkSign(*state.mark);
  return {sign.text + " " + state.text, sign.paint};
}

std::string WhenAndOnWhat(const Measurement& measurement) {
  const std::string when = When(measurement.run), on_what = OnWhat(measurement);
  return when + (when.empty() || on_what.empty() ? "" : " · ") + on_what;
}

void AddHead(const Measurement& measurement, TerminalBox* box) {
  box->Open("crema", RunName(measurement), StateText(measurement));

  box->Paragraph(WhenAndOnWhat(measurement), Paint::kDim);
  const std::string command = measurement.run.command.has_value() ? absl::StrJoin(*measurement.run.command, " ") : "";
  if (!command.empty()) box->Line({{"$ " + command, Paint::kDim}});
  box->Line({});
  const Text& headline = measurement.headline;
  box->Paragraph(headline.empty() ? Headline(measurement) : headline.str(), Paint::kBold);
}

void DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box) {
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
    if (taken + kMarkColumns < note_column)
      line.push_back({std::string(static_cast<size_t>(note_column - kMarkColumns - taken), ' ')});
    PaintedText mark = MarkText(*row.mark);
    mark.text = Pad(mark.text, kMarkColumns, Align::kLeft, style);
    line.push_back(mark);
    taken = note_column;
  }
  // at full width all notes stand under each other; in a narrower box they need the room of the bar that is not there
  if (taken < note_column && box->inner_columns() >= kFullColumns) {
    line.push_back({std::string(static_cast<size_t>(note_column - taken), ' ')});
    taken = note_column;
  }
  const std::string notes = NotesWithin(row, box->inner_columns() - taken, style);
  line.push_back({notes, Paint::kDim});
  box->Line(line);
}

void AddKeyFigures(const Measurement& measurement, TerminalBox* box) {
  box->Rule("key figures");
  for (const KeyFigureRow& row : KeyFigureRows(measurement)) DrawKeyFigure(row, box);
}

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

std::string RenderSummary(const Measurement& measurement, const TerminalStyle& style) {
  TerminalBox box(style);
  AddHead(measurement, &box);
  AddKeyFigures(measurement, &box);
  AddEvents(measurement, &box);
  std::vector<std::string> left_out;
  auto note = [&left_out](std::string_view block, const std::string& reason) {
    if (!reason.empty()) left_out.push_back(fmt::format("{}: {}", block, reason));
  };
  note("core-second budget", AddBudget(measurement, &box));
  note("sections", AddSections(measurement, &box));
  note("over time", AddOverTime(measurement, &box));
  note("datasets", AddDatasets(measurement, &box));
  AddCutFlow(measurement, &box);
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
