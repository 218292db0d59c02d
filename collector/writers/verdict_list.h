// What `crema verdict` prints for people.
#ifndef CREMA_COLLECTOR_WRITERS_VERDICT_LIST_H_
#define CREMA_COLLECTOR_WRITERS_VERDICT_LIST_H_

#include <string>

#include "collector/writers/terminal_style.h"
#include "nlohmann/json.hpp"

namespace crema {

/// The headline, then each verdict: sign, id and saving, its sentence, the evidence with its keys, the suggestion.
/// `rows` as in the document's `verdicts`. Ends in a newline.
std::string RenderVerdicts(const std::string& headline, const nlohmann::ordered_json& rows, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_VERDICT_LIST_H_
