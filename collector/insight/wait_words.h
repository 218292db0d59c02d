// What the blocked time was spent on, in words: as far as samples show it.
#ifndef CREMA_COLLECTOR_INSIGHT_WAIT_WORDS_H_
#define CREMA_COLLECTOR_INSIGHT_WAIT_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

/// A kind of wait, over all datasets and sections.
struct WaitShare {
  std::string kind;
  std::string object;       ///< where most of it was of one; empty: none
  double object_share = 0;  ///< of this kind, that the object has
  double share = 0;         ///< of the blocked time
  double error = 0;         ///< half of the 95 % range
};

/// The largest first; none where samples do not show it: too few, or CPUs so full that they are coarse.
std::vector<WaitShare> WaitShares(const Measurement& measurement);

/// "63 ± 4 % of the blocked time reading from tcp:10.0.3.17:1094, 9 ± 2 % at locks or conditions"; empty where it is
/// not known.
std::string WaitWords(const Measurement& measurement);

/// Waits that may grow where more chunks run side by side: for locks, for one server, at one pipe.
struct CommonWaits {
  std::string words;      ///< "at locks or conditions"; empty: there are none that matter
  double share = 0;       ///< of the chunks' time, that they took
  bool is_known = false;  ///< or chunks were hardly blocked
};
CommonWaits WaitsInCommon(const Measurement& measurement);

/// What helps against the kind that took most; empty where that is not known.
std::string_view WaitAdvice(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_WAIT_WORDS_H_
