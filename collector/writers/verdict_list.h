// What `crema verdict` prints for people.
#ifndef CREMA_COLLECTOR_WRITERS_VERDICT_LIST_H_
#define CREMA_COLLECTOR_WRITERS_VERDICT_LIST_H_

#include <string>
#include <vector>

#include "collector/measurement/findings.h"
#include "collector/writers/terminal_style.h"

namespace crema {

/// The headline, then each verdict: sign, id and saving, its sentence, the evidence with its keys, the suggestion.
/// `rows` as in the document's `verdicts`. Ends in a newline.
std::string RenderVerdicts(const std::string& headline, const std::vector<VerdictRow>& rows,
                           const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_VERDICT_LIST_H_
