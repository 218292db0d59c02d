// Gates on a comparison, for continuous integration: `wall_time>5%`.
#pragma once

#include "collector/insight/comparison.h"

namespace crema {

/// KEY>LIMIT or KEY<LIMIT: falls where the change of KEY against the first measurement is beyond the limit, in any of
/// the others. With `%` the change is relative to the first value, else the difference in the key's unit. KEY is a
/// metric, `dataset:NAME:FIELD` or `section:PATH:FIELD`. The gate `unequal` falls where something differs that should
/// be equal.
struct ComparisonGate {
  std::string text;  ///< as it was given
  std::string key;   ///< empty: `unequal`
  bool is_above = true;
  double limit = 0;  ///< of 5 %: 0.05
  bool is_relative = false;
};

/// Errors: InvalidArgument, in one line, for a text that is no gate.
absl::StatusOr<ComparisonGate> ParseGate(const std::string& text);

struct GateResult {
  bool fell = false;
  std::string sentence;  ///< what was found
};

/// A gate on a value that was not measured falls: it cannot vouch for anything.
/// Errors: InvalidArgument where no measurement knows the key.
absl::StatusOr<GateResult> Judge(const ComparisonGate& gate, const Comparison& comparison);

/// A gate as it was asked for, and what became of it.
struct JudgedGate {
  std::string text;
  GateResult result;
};

/// `--fail-on-sure PERCENT`, for each run or side but the first: falls where the work in its chunks took longer by
/// more than that, with its whole range. It does not fall where that is not known.
std::vector<JudgedGate> JudgeSure(double percent, const Comparison& comparison);

/// `--fail-on-unclear`: falls where it is not known whether the work took longer.
std::vector<JudgedGate> JudgeUnclear(const Comparison& comparison);

}  // namespace crema
