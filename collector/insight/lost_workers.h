// Workers that vanished, and what hangs on them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collector/measurement/measurement.h"

namespace crema {

struct LostWorkers {
  double workers = 0;                  ///< of the run
  std::vector<std::string> names;      ///< of those that are lost, in the order in which they vanished
  std::map<std::string, int> reasons;  ///< how many left for what, of those whose reason was reported
  bool has_engine = false;             ///< it reported the reasons
  double absent_seconds = 0;           ///< worker-seconds until the last worker stopped, less those of replacements
  double whole_seconds = 0;            ///< what the most workers that there were at once would have given until then
  /// Chunks, and their events, whose result was made in a lost process that no engine looked after: whether it was
  /// used is not known. With an engine, what is lost is computed again.
  double uncertain_chunks = 0;
  double uncertain_events = 0;

  bool any() const { return !names.empty(); }
  /// `node1:411, node1:412 and 2 more`: at most two names.
  std::string Names() const;
  /// `the engine says FAILURE`; `..., and nothing of 2`; without an engine the reasons alone; without any: what may
  /// have been.
  std::string Why() const;
};

/// `156 M to 206 M events`: how many the results are of, whichever of the uncertain chunks were used; `events`: all
/// that ended. Empty where nothing is uncertain.
std::string RangeOfResults(const LostWorkers& lost, double events);

/// None of a run that was killed as a whole: then all of its workers ended with it.
LostWorkers FindLostWorkers(const Measurement& measurement);

}  // namespace crema
