// The blocks of the terminal summary, from top to bottom. Each draws itself into the box; one that may lack its data
// returns why it was left out, and an empty text otherwise.
#ifndef CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_
#define CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_

#include <string>

#include "collector/insight/key_figure_rows.h"
#include "collector/measurement/measurement.h"
#include "collector/writers/terminal_box.h"

namespace crema {

/// How the run ended: `✓ finished`.
PaintedText StateText(const Measurement& measurement);

/// `2026-11-21 14:02:11 – 14:08:28 UTC · 8 workers × 4 cores on 2 hosts`, as far as it is known.
std::string WhenAndOnWhat(const Measurement& measurement);

/// Name, state, when, on what; then the headline.
void AddHead(const Measurement& measurement, TerminalBox* box);

/// Elapsed time, rates, efficiency, waiting, memory, balance, failures: with bars, and marks against their bands.
void AddKeyFigures(const Measurement& measurement, TerminalBox* box);

/// One of them: what a narrow box has no room for is left out, notes from the last on.
void DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box);

/// The core-seconds by the groups of the budget.
[[nodiscard]] std::string AddBudget(const Measurement& measurement, TerminalBox* box);

/// Sections by own time.
[[nodiscard]] std::string AddSections(const Measurement& measurement, TerminalBox* box);

/// Open chunks and memory as spark lines; nothing where the box has no bars.
[[nodiscard]] std::string AddOverTime(const Measurement& measurement, TerminalBox* box);

[[nodiscard]] std::string AddDatasets(const Measurement& measurement, TerminalBox* box);

/// The cut flow; nothing where the run recorded no cuts.
void AddCutFlow(const Measurement& measurement, TerminalBox* box);

/// The verdicts, worst first.
void AddFindings(const Measurement& measurement, TerminalBox* box);

/// What is known about the measurement itself.
void AddTrust(const Measurement& measurement, TerminalBox* box);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_
