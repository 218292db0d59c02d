// The key figures of the summary: label, value, bar, mark, and what it is measured against.
#include <algorithm>
#include <string>
#include <vector>

#include "collector/writers/display_text.h"
#include "collector/writers/summary_blocks.h"
#include "collector/writers/terminal_bars.h"

namespace crema {
namespace {

Paint PaintOf(const KeyFigureRow& row) {
  if (row.mark == Mark::kWatch) return Paint::kWatch;
  return row.mark == Mark::kBad ? Paint::kBad : Paint::kBold;
}

/// As many notes as fit; the first one always, cut by the box if it must be.
std::string NotesWithin(const KeyFigureRow& row, int columns, const TerminalStyle& style) {
  std::vector<std::string> notes;
  for (const ToldFigure& note : row.notes) notes.push_back(note.text());
  if (!row.why_not.empty()) notes.push_back(row.why_not);
  std::string text;
  for (const std::string& note : notes) {
    const std::string longer = text + (text.empty() ? "" : " · ") + note;
    if (!text.empty() && ColumnsOf(DisplayText(longer, style)) > columns) break;
    text = longer;
  }
  return text;
}

}  // namespace

void DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box) {
  constexpr int kLabel = 15, kValue = 14, kMark = 9, kGap = 2, kFullBar = 18, kFullColumns = 96;
  const TerminalStyle& style = box->style();
  // what a narrower box lacks is taken from the bar
  const int bar = box->has_bars() ? std::max(6, kFullBar - (kFullColumns - box->inner_columns())) : 0;
  PaintedLine line = {{Pad(row.label, kLabel, Align::kLeft, style)},
                      {Pad(row.text, kValue, Align::kRight, style), PaintOf(row)},
                      {std::string(kGap, ' ')}};
  int taken = kLabel + kValue + kGap;
  const int note_column = taken + (bar > 0 ? bar + kGap : 0) + kMark;
  // a bar of failures would be empty in ordinary runs, and nearly so in bad ones
  if (row.share.has_value() && row.figure.kind != ChangeOf::kFailures && bar > 0) {
    line.push_back({BarOnTrack(*row.share, bar, style), PaintOf(row) == Paint::kBold ? Paint::kCompute : PaintOf(row)});
    line.push_back({std::string(kGap, ' ')});
    taken += bar + kGap;
  }
  if (row.mark.has_value()) {
    if (taken + kMark < note_column)
      line.push_back({std::string(static_cast<size_t>(note_column - kMark - taken), ' ')});
    PaintedText mark = MarkText(*row.mark);
    mark.text = Pad(mark.text, kMark, Align::kLeft, style);
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

}  // namespace crema
