// The blocks of the terminal summary, from top to bottom. Each draws itself into the box; one that may lack its data
// returns why it was left out, and an empty text otherwise.
#ifndef CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_
#define CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_

#include <string>

#include "collector/insight/key_figure_rows.h"
#include "collector/writers/terminal_box.h"
#include "nlohmann/json.hpp"

namespace crema {

/// How the run ended: `✓ finished`.
PaintedText StateText(const nlohmann::ordered_json& document);

/// `2026-11-21 14:02:11 – 14:08:28 UTC · 8 workers × 4 cores on 2 hosts`, as far as it is known.
std::string WhenAndOnWhat(const nlohmann::ordered_json& document);

/// Name, state, when, on what; then the headline.
void AddHead(const nlohmann::ordered_json& document, TerminalBox* box);

/// Elapsed time, rates, efficiency, waiting, memory, balance, failures: with bars, and marks against their bands.
void AddKeyFigures(const nlohmann::ordered_json& document, TerminalBox* box);

/// One of them: what a narrow box has no room for is left out, notes from the last on.
void DrawKeyFigure(const KeyFigureRow& row, TerminalBox* box);

/// The core-seconds by the groups of the budget.
[[nodiscard]] std::string AddBudget(const nlohmann::ordered_json& document, TerminalBox* box);

/// Sections by own time.
[[nodiscard]] std::string AddSections(const nlohmann::ordered_json& document, TerminalBox* box);

/// Open chunks and memory as spark lines; nothing where the box has no bars.
[[nodiscard]] std::string AddOverTime(const nlohmann::ordered_json& document, TerminalBox* box);

[[nodiscard]] std::string AddDatasets(const nlohmann::ordered_json& document, TerminalBox* box);

/// The cut flow; nothing where the run recorded no cuts.
void AddCutFlow(const nlohmann::ordered_json& document, TerminalBox* box);

/// The verdicts, worst first.
void AddFindings(const nlohmann::ordered_json& document, TerminalBox* box);

/// What is known about the measurement itself.
void AddTrust(const nlohmann::ordered_json& document, TerminalBox* box);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_
