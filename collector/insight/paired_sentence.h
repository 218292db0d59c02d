// What pieces that two sides both processed say of their difference, in words.
#ifndef CREMA_COLLECTOR_INSIGHT_PAIRED_SENTENCE_H_
#define CREMA_COLLECTOR_INSIGHT_PAIRED_SENTENCE_H_

#include <string>

#include "collector/insight/paired_change.h"

namespace crema {

/// "b is 6.1 % slower than a in its chunks (4.8 to 7.3 %): select +5.2 %; all else within ±0.6 %. Paired by chunk (2
/// 252 pairs). ..." Empty where nothing is known.
std::string PairedSentence(const PairedChange& change, const std::string& baseline_name, const std::string& name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_PAIRED_SENTENCE_H_
