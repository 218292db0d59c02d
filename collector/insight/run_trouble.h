// What is wrong with a run's results and records: what stands before all else, in the headline as in the pill.
#ifndef CREMA_COLLECTOR_INSIGHT_RUN_TROUBLE_H_
#define CREMA_COLLECTOR_INSIGHT_RUN_TROUBLE_H_

#include <string>
#include <vector>

#include "collector/insight/key_figure_bands.h"
#include "collector/measurement/measurement.h"

namespace crema {

struct RunTrouble {
  std::vector<std::string> clauses;  ///< `2 of 40 chunks have no result`, worst first
  std::string brief;                 ///< the first of them in a few words: `2 chunks without a result`
  Mark mark = Mark::kGood;           ///< bad where results are missing, or may be
  bool results_may_lack = false;     ///< a result is missing, or may be, or the records do not tell

  bool any() const { return !clauses.empty(); }
};

/// The part that is of the records: `2 logs were left out`. Sums over them may be too low.
std::vector<std::string> WhatRecordsLack(const Measurement& measurement);

/// How the run ended is not part of it. While it goes on, chunks without a result are about to come.
RunTrouble FindRunTrouble(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_RUN_TROUBLE_H_
