// What `crema predict`, `crema scaling` and `crema history` print for people.
#ifndef CREMA_COLLECTOR_WRITERS_STUDY_TABLES_H_
#define CREMA_COLLECTOR_WRITERS_STUDY_TABLES_H_

#include <cstddef>
#include <string>

#include "collector/writers/display_text.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// A sentence, a row for each run, a row for each fit or why there is none, then what to keep in mind. `scaling`: what
/// `crema scaling --json` prints. Ends in a newline.
std::string RenderScaling(const nlohmann::ordered_json& scaling, const TerminalStyle& style);

/// What the run took and what its replay takes, then a row for each change, or why there is none. `prediction`: what
/// `crema predict --json` prints. Ends in a newline.
std::string RenderPrediction(const nlohmann::ordered_json& prediction, const TerminalStyle& style);

/// Sentences, the latest `rows` runs, each level, then what to keep in mind. `history`: what `crema history --json`
/// prints. Ends in a newline.
std::string RenderHistory(const nlohmann::ordered_json& history, size_t rows, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_STUDY_TABLES_H_
