// Findings about a finished measurement: what was found, on which evidence, and what one could do about it.
#ifndef CREMA_COLLECTOR_INSIGHT_VERDICTS_H_
#define CREMA_COLLECTOR_INSIGHT_VERDICTS_H_

#include <vector>

#include "collector/insight/verdict.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Judges a measurement. A verdict fires only on measured evidence; with too little of it the only verdicts are about
/// the measurement itself. Worst first; among equals gaps of the measurement, failing chunks, then largest saving
/// first.
std::vector<Verdict> Judge(const nlohmann::ordered_json& document);

/// The rows of the document's `verdicts`: `id severity sentence evidence suggestion saving`.
nlohmann::ordered_json VerdictRows(const std::vector<Verdict>& verdicts);

/// Sets the document's `chunk_size_advice`, `resource_advice`, `verdicts` and `headline` from its other fields.
void AddInsight(nlohmann::ordered_json* document);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_VERDICTS_H_
