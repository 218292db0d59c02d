// What two measurements, or two sides of several, differ by, in a few sentences.
#ifndef CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_
#define CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_

#include <string>
#include <vector>

#include "collector/insight/paired_change.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Runs of one side and what people call it.
struct ComparedSide {
  std::vector<const Measurement*> documents;
  std::string name;
};

/// First one number with its range: `paired`, the comparison piece by piece, where that is known. Else, of one run a
/// side, its wall time (of runs that did different work, its rate of events) with the range that the spread of its
/// chunks gives; of several, the mean wall time. Then how the elapsed time differs, and what makes a run incomplete.
std::string ComparisonSentence(const ComparedSide& before, const ComparedSide& after,
                               const PairedChange* paired = nullptr);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_
