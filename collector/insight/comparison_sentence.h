// What two measurements differ by, in one or two sentences.
#ifndef CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_
#define CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_

#include <string>

#include "collector/insight/paired_change.h"
#include "nlohmann/json.hpp"

namespace crema {

/// Whether `document` was slower or faster than `baseline`, by how much, and in which sections. Runs that did different
/// work are compared by their events per second. What is less than 5 %, or than the spread of the chunks explains, is
/// "about as long". `paired`: the comparison piece by piece, which then tells of the sections; null: there is none.
std::string ComparisonSentence(const nlohmann::ordered_json& baseline, const std::string& baseline_name,
                               const nlohmann::ordered_json& document, const std::string& name,
                               const PairedChange* paired = nullptr);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_
