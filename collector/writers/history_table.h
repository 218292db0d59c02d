// What `crema history` prints for people.
#ifndef CREMA_COLLECTOR_WRITERS_HISTORY_TABLE_H_
#define CREMA_COLLECTOR_WRITERS_HISTORY_TABLE_H_

#include <cstddef>
#include <string>

#include "collector/writers/terminal_style.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// Sentences, the latest `rows` runs, each level, then what to keep in mind. `history`: what `crema history --json`
/// prints. Ends in a newline.
std::string RenderHistory(const nlohmann::ordered_json& history, size_t rows, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_HISTORY_TABLE_H_
