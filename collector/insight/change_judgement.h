// From how parts of a run's time changed, and how sure that is, to what is told of it.
#ifndef CREMA_COLLECTOR_INSIGHT_CHANGE_JUDGEMENT_H_
#define CREMA_COLLECTOR_INSIGHT_CHANGE_JUDGEMENT_H_

#include <string>
#include <vector>

#include "collector/insight/between_sides.h"
#include "collector/insight/paired_change.h"

namespace crema {

struct MeasuredPart {
  std::string what;
  MeasuredChange measured;
  double share = 0;
};

/// Sets conclusion, range and effects. `assumed`: by so much of their time equal runs are taken to differ, in 90 % of
/// cases, beyond what was measured; 0: that is in the measurement. "About the same" is what was measured, alone, within
/// ±2 %.
void JudgeChange(const MeasuredChange& all, const std::vector<MeasuredPart>& parts, double assumed,
                 PairedChange* change);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_CHANGE_JUDGEMENT_H_
