// The rules of the verdicts in words and numbers: the one table that the code, its tests and docs/verdicts.md share.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "collector/measurement/thresholds.h"

namespace crema {

enum class Severity { kGood, kInfo, kWarning, kBad };

/// `good`, `info`, `warning`, `bad`, as documents have it.
std::string_view ToString(Severity severity);

/// `>= 0.1`.
std::string ToString(const Bound& bound);

constexpr double kNeverBad = std::numeric_limits<double>::infinity();

/// On this side of the bound a verdict fires.
struct Threshold : Bound {
  constexpr Threshold(const Bound& bound,  // NOLINT(google-explicit-constructor): most rules need nothing else
                      double bad_from = kNeverBad, Severity severity_below = Severity::kWarning)
      : Bound(bound), bad(bad_from), severity(severity_below) {}

  double bad;         ///< from here on it is bad; `kNeverBad`: it never is
  Severity severity;  ///< below `bad`
};

struct VerdictRule {
  std::string_view id;     ///< of docs/verdicts.md
  std::string_view place;  ///< the block of the report that shows what it speaks of
  Threshold threshold;
  std::string_view condition;           ///< what is judged, with `{0}` for the threshold, `{1}` for `bad`, `{2}` and on
                                        ///< for `also`, `{engines}` for what engines do
  std::string_view reason;              ///< why the thresholds are where they are
  std::string_view suggestion;          ///< what to do; empty where nothing is to be done
  std::vector<const Bound*> also = {};  ///< the other bounds that it is judged by
};

/// All rules, in the order of docs/verdicts.md.
const std::vector<VerdictRule>& VerdictTable();

/// The rule of an id; nullptr where the table has none.
const VerdictRule* FindRule(std::string_view id);

/// The rule of an id that the table holds.
const VerdictRule& RuleOf(std::string_view id);

/// The condition with its numbers filled in, for docs/verdicts.md.
std::string ConditionText(const VerdictRule& rule);

}  // namespace crema
