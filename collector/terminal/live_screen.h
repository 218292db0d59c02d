// `crema top`: a running job on one screen of a terminal.
#pragma once

#include "collector/server/live_figures.h"
#include "collector/server/live_model.h"
#include "collector/server/live_sources.h"
#include "collector/terminal/terminal_box.h"

namespace crema {

/// At most `rows` lines, each ended by a newline and as wide as the others: progress, key figures, where the last half
/// minute went, workers, what happened. From 24 rows on all of it is there; below, the last blocks are cut.
std::string RenderLive(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources,
                       const TerminalStyle& style, int rows);

/// The same in one line, for files and pipes. While nothing is recorded it says what is wrong with the sources.
std::string RenderLiveLine(const LiveModel& model, const LiveFigures& figures, const std::vector<SourceState>& sources);

}  // namespace crema
