// Functions that sections are made of, as samples of stacks say (docs/metrics.md, "functions").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/grouped_sums.h"
#include "collector/records/facts.h"

namespace crema {

/// Puts equal rows together, orders them, and computes the shares. `last_is_other`: the last row is that of what found
/// no room; it stays there, and no share is known.
void FinishFunctionRows(bool last_is_other, std::vector<FunctionRow>* rows);

/// Accumulator of the innermost functions of `stacks` lines.
class FunctionTable {
 public:
  static constexpr size_t kMaxRows = 10'000;  ///< docs/limits.md, "Kept short"

  void Add(const StacksFact& stacks);
  void Merge(const FunctionTable& other);
  /// Rows by section and dataset, in each the largest first; last the one of all that found no room, if any did: then
  /// no share is known. `dropped`: its samples.
  std::vector<FunctionRow> Finalize(int64_t* dropped) const;
  /// Why native stacks were not taken, in some processes or threads.
  std::vector<std::string> refused() const { return {refused_reasons_.begin(), refused_reasons_.end()}; }

 private:
  struct Sum {
    int64_t samples = 0;
    int64_t squares = 0;

    void Add(const Sum& other);
  };
  void AddReason(std::string reason);

  GroupedSums<Sum> sums_{kMaxRows};
  static constexpr size_t kMostReasons = 10;
  std::set<std::string> refused_reasons_;  ///< the first ones in the order of the alphabet
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_
