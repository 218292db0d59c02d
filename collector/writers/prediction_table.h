// What `crema predict` prints for people.
#ifndef CREMA_COLLECTOR_WRITERS_PREDICTION_TABLE_H_
#define CREMA_COLLECTOR_WRITERS_PREDICTION_TABLE_H_

#include <string>

#include "collector/writers/terminal_style.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// What the run took and what its replay takes, then a row for each change, or why there is none. `prediction`: what
/// `crema predict --json` prints. Ends in a newline.
std::string RenderPrediction(const nlohmann::ordered_json& prediction, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_PREDICTION_TABLE_H_
