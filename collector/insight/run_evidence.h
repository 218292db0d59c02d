// Whether a run left enough behind to be judged, asked once and answered the same by headline and verdicts.
#ifndef CREMA_COLLECTOR_INSIGHT_RUN_EVIDENCE_H_
#define CREMA_COLLECTOR_INSIGHT_RUN_EVIDENCE_H_

#include <optional>

#include "collector/insight/budget_rows.h"
#include "collector/insight/thresholds.h"
#include "collector/measurement/measurement.h"

namespace crema {

enum class RunState { kFinished, kRunning, kKilled };

struct RunEvidence {
  RunState state = RunState::kFinished;
  double attempts = 0;  ///< begun
  double ended = 0;     ///< ok and failed ones; what is left was lost or is still open
  double lost = 0;
  std::optional<BudgetRows> budget;  ///< nullopt: no core-seconds were measured

  /// True where shares of the core-seconds mean something.
  bool IsEnough() const { return ended > 0 && budget.has_value() && kEnoughCoreSeconds.Holds(budget->core_seconds); }
};

RunEvidence ReadRunEvidence(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_RUN_EVIDENCE_H_
