// Functions that sections are made of, as samples of stacks say (docs/metrics.md, "functions").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/records/facts.h"

namespace crema {

/// A finished row: a function that ran itself, inside a section of chunks of a dataset.
struct FunctionRow {
  std::string section;  ///< a path; empty: outside every section
  std::string dataset;  ///< empty: none
  std::string function;
  std::string file;             ///< empty: not known
  std::optional<int64_t> line;  ///< of its definition
  std::string build_id;         ///< of `file`, where that is a program or library and `function` an address in it
  int64_t samples = 0;
  int64_t squares = 0;                ///< the sum of each sighting's samples, squared
  std::optional<double> share;        ///< of the section's samples of this dataset; nullopt: not all of them are known
  std::optional<double> share_error;  ///< the true share is within it in 95 of 100 runs
};

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
  void Add(const std::string& name, const Sum& sum);
  void AddReason(std::string reason);

  BoundedNames names_{kMaxRows};
  std::vector<Sum> sums_;
  Sum refused_;
  static constexpr size_t kMostReasons = 10;
  std::set<std::string> refused_reasons_;  ///< the first ones in the order of the alphabet
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_
