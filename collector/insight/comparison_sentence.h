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

/// First how the elapsed time differs, and in which parts of the budget. Then why: the time in chunks with its range
/// and the sections that changed, the waiting for a CPU, memory. Then what else differs, and what makes a run
/// incomplete. `paired`: the comparison piece by piece; null: nobody asked for it.
std::string ComparisonSentence(const ComparedSide& before, const ComparedSide& after,
                               const PairedChange* paired = nullptr);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_COMPARISON_SENTENCE_H_
