// What `crema scaling` prints for people.
#ifndef CREMA_COLLECTOR_WRITERS_SCALING_TABLE_H_
#define CREMA_COLLECTOR_WRITERS_SCALING_TABLE_H_

#include <string>

#include "collector/writers/terminal_style.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// A sentence, a row for each run, a row for each fit or why there is none, then what to keep in mind. `scaling`: what
/// `crema scaling --json` prints. Ends in a newline.
std::string RenderScaling(const nlohmann::ordered_json& scaling, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_SCALING_TABLE_H_
