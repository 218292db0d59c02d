// The blocks of the terminal summary, from top to bottom, and the tables among them.
#pragma once

#include "collector/diagnosis/key_figures.h"
#include "collector/measurement/measurement.h"
#include "collector/terminal/document_table.h"
#include "collector/terminal/terminal_box.h"

namespace crema {

/// How the run ended: `✓ finished`.
PaintedText StateText(const Measurement& measurement);

/// `2026-11-21 14:02:11 – 14:08:28 UTC · 8 workers × 4 cores on 2 hosts`, as far as it is known.
std::string WhenAndOnWhat(const Measurement& measurement);

/// A key figure, with its bar, and its mark against its band: what a narrow box has no room for is left out, notes from
/// the last on.
void DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box);

struct BarOfRow {
  double share = 0;  ///< of the longest bar
  Paint paint = Paint::kCompute;
  std::string below = "";       ///< a line under the row: what it consists of
  std::string instead_of = "";  ///< why there is no bar
};

struct SummaryTable {
  std::string_view name;  ///< of `crema show --table`
  std::string title = "";
  std::string_view bars_are = "";  ///< what bars are shares of, where a title has to say so
  std::string why_not = "";        ///< why there are no rows
  TextTable text = {};
  std::vector<BarOfRow> bars = {};  ///< one a row, or none
  size_t left_out = 0;              ///< rows beyond those that a summary shows
};

/// The core-seconds by the groups of the budget. Its title says of what cores, if it `has_room`.
SummaryTable BudgetSummary(const Measurement& measurement, bool has_room = true);

/// `waiting for a CPU, inside these times: 1.2 s (16 %)`: how long the sections waited during their own times. Empty if
/// they hardly waited.
std::string WaitInsideSections(const Measurement& measurement);

/// By own time, the slowest first; `(other)` is always among them: without it the shares would not add up.
SummaryTable SectionSummary(const Measurement& measurement);

SummaryTable DatasetSummary(const Measurement& measurement);

SummaryTable WorkerSummary(const Measurement& measurement);

SummaryTable CutSummary(const Measurement& measurement);

}  // namespace crema
