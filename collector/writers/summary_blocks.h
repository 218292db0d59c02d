// The blocks of the terminal summary, from top to bottom. Each draws itself into the box, or says in one line why not.
#ifndef CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_
#define CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_

#include "collector/writers/terminal_box.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Name, state, when, on what; then the headline.
void AddHead(const nlohmann::ordered_json& document, TerminalBox* box);

/// Elapsed time, rates, efficiency, waiting, memory, balance, failures: with bars, and marks against their bands.
void AddKeyFigures(const nlohmann::ordered_json& document, TerminalBox* box);

/// The core-seconds by the groups of METRICS.md section 7.
void AddBudget(const nlohmann::ordered_json& document, TerminalBox* box);

/// Sections by own time.
void AddSections(const nlohmann::ordered_json& document, TerminalBox* box);

/// Open chunks and memory as spark lines; nothing where the box has no bars.
void AddOverTime(const nlohmann::ordered_json& document, TerminalBox* box);

void AddDatasets(const nlohmann::ordered_json& document, TerminalBox* box);

/// The cut flow; nothing where the run recorded no cuts.
void AddCutFlow(const nlohmann::ordered_json& document, TerminalBox* box);

/// The verdicts, worst first.
void AddFindings(const nlohmann::ordered_json& document, TerminalBox* box);

/// What is known about the measurement itself.
void AddTrust(const nlohmann::ordered_json& document, TerminalBox* box);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_SUMMARY_BLOCKS_H_
