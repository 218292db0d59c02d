// The one sentence that opens every summary: where the core-seconds went, and the largest avoidable loss.
#ifndef CREMA_COLLECTOR_INSIGHT_HEADLINE_H_
#define CREMA_COLLECTOR_INSIGHT_HEADLINE_H_

#include <string>

#include "nlohmann/json.hpp"

namespace crema {

/// One sentence, a pure function of the document's budget, metrics, quality, run state and `verdicts`: gaps of the
/// measurement, chunks without a result, the class of the run, the largest avoidable loss and its cause. It judges only
/// what was measured: a run without chunks, without a budget or with too little work gets a sentence that says so.
std::string Headline(const nlohmann::ordered_json& document);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_HEADLINE_H_
