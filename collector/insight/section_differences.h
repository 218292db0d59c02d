// The tree of sections of two runs, or of two sides, with what each section took more or less: what is in a section
// adds up to it, and the roots add up to the difference of the time in chunks.
#ifndef CREMA_COLLECTOR_INSIGHT_SECTION_DIFFERENCES_H_
#define CREMA_COLLECTOR_INSIGHT_SECTION_DIFFERENCES_H_

#include <string>
#include <vector>

#include "collector/measurement/measurement.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// Seconds of owners; of several runs a side their mean. These were measured; how sure a difference is, is told of
/// top-level sections (paired_change.h).
struct SectionDifference {
  std::string path;
  int depth = 0;  ///< 0: a top-level section, or `(other)`
  double before = 0;
  double after = 0;
  double self_difference = 0;  ///< without the sections inside it
  double difference() const { return after - before; }
};

/// Depth first, siblings by the size of their difference.
std::vector<SectionDifference> CompareSectionTrees(const std::vector<const Measurement*>& before,
                                                   const std::vector<const Measurement*>& after);

/// `path`, `depth`, `before`, `after`, `difference`, `self_difference`.
nlohmann::ordered_json SectionDifferencesAsJson(const std::vector<SectionDifference>& tree);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_SECTION_DIFFERENCES_H_
