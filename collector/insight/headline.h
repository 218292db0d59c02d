// The two sentences that open every summary: the worst truth first, then the largest loss.
#pragma once

#include "collector/insight/evidence.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// A loss of core-seconds that a headline names by the budget alone.
struct NamedLoss {
  std::string sentence;
  double share = 0;
  std::vector<std::string_view> parts;  ///< of the budget
  bool is_kind = false;                 ///< the kind of the run; else a verdict with a larger saving is named instead,
  std::array<std::string_view, 2> said_by = {};  ///< but for these, which would only repeat the kind
};

/// What the headline may name whatever verdicts there are.
std::vector<NamedLoss> LossesOfBudget(const Measurement& measurement, const BudgetRows& budget);

/// At most two sentences, a pure function of the document's budget, tables, quality, run state and `verdicts`. First
/// what is wrong with the results and the records; where nothing is, what the core-seconds were used for. Then the
/// judged cause with the largest saving; where none is worth a sentence, the largest loss or that there is none. It
/// ends with what is fine: that all chunks have results, where the records say so. It judges only what was measured: a
/// run without chunks, without a budget or with too little work gets a sentence that says so.
std::string Headline(const Measurement& measurement);

}  // namespace crema
