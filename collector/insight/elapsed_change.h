// How the elapsed time of runs differs, and in which parts of the budget: the parts add up to the difference.
#ifndef CREMA_COLLECTOR_INSIGHT_ELAPSED_CHANGE_H_
#define CREMA_COLLECTOR_INSIGHT_ELAPSED_CHANGE_H_

#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// Seconds. The range (90 %) is known where each side has several runs, or one of them has three.
struct ElapsedDifference {
  double seconds = 0;
  std::optional<double> low;
  std::optional<double> high;
};

struct ElapsedPart {
  std::string part;  ///< as the document's `budget` names it
  ElapsedDifference difference;
};

struct ElapsedChange {
  double before = 0;  ///< mean wall time of the side
  double after = 0;
  ElapsedDifference difference;
  /// A part's core-seconds over the cores that the run had on average: the time for which the part kept all of them.
  /// Largest first; empty where a run has no budget.
  std::vector<ElapsedPart> parts;
};

/// nullopt: the wall time of a run is missing, or a side has no run.
std::optional<ElapsedChange> CompareElapsed(const std::vector<const Measurement*>& before,
                                            const std::vector<const Measurement*>& after);

/// `before`, `after`, `difference`, `low`, `high`, `parts`; null for nullopt.
nlohmann::ordered_json ElapsedAsJson(const std::optional<ElapsedChange>& change);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_ELAPSED_CHANGE_H_
