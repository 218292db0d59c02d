// Where most of the waiting was: the section, dataset and worker that hold more than half of it.
#ifndef CREMA_COLLECTOR_INSIGHT_WHERE_MOST_H_
#define CREMA_COLLECTOR_INSIGHT_WHERE_MOST_H_

#include <cstdint>
#include <string>

#include "collector/measurement/measurement.h"

namespace crema {

enum class Waiting : uint8_t {
  kBlocked,
  kAll,  ///< for a CPU, too
};

/// ` (most of it in section read, of dataset ttbar, on node1:411)`, behind a share; what nothing holds most of is left
/// out, and all of it where nothing is left. A section counts where its guard measured CPU time.
std::string WhereMostWaiting(const Measurement& measurement, Waiting waiting);
/// The same inside brackets that hold more: `most of it in section read`.
std::string MostWaiting(const Measurement& measurement, Waiting waiting);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_WHERE_MOST_H_
