// Findings about a finished measurement: what was found, on which evidence, and what one could do about it.
#ifndef CREMA_COLLECTOR_INSIGHT_VERDICTS_H_
#define CREMA_COLLECTOR_INSIGHT_VERDICTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/insight/verdict_table.h"
#include "nlohmann/json.hpp"

namespace crema {

/// METRICS.md section 9. Conditions, thresholds and their reasons: verdict_table.h.
struct Verdict {
  std::string id;
  Severity severity = Severity::kInfo;
  std::string sentence;
  std::vector<std::pair<std::string, double>> evidence;  ///< the figures (document keys) that made it fire
  std::string suggestion;                                ///< what to do; empty where nothing is to be done
  std::optional<double> saving;                          ///< share of the core-seconds (0 to 1) that could be saved
};

/// Judges a measurement. A verdict fires only on measured evidence; with too little of it the only verdicts are about
/// the measurement itself. Worst first, then largest saving first.
std::vector<Verdict> Judge(const nlohmann::ordered_json& document);

/// The rows of the document's `verdicts`: `id severity sentence evidence suggestion saving`.
nlohmann::ordered_json VerdictRows(const std::vector<Verdict>& verdicts);

/// Sets the document's `headline` and `verdicts` from its other fields.
void AddInsight(nlohmann::ordered_json* document);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_VERDICTS_H_
