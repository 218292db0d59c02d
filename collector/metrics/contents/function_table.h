// Functions that sections are made of, as samples of stacks say (docs/metrics.md, "functions").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_

#include <cstdint>
#include <optional>
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
  int64_t samples = 0;
  std::optional<double> share;        ///< of the section's samples of this dataset; nullopt: not all of them are known
  std::optional<double> share_error;  ///< one standard deviation of a binomial share
};

/// Accumulator of the innermost functions of `stacks` lines.
class FunctionTable {
 public:
  static constexpr size_t kMaxRows = 10'000;  ///< docs/limits.md, "Kept short"

  void Add(const StacksFact& stacks);
  void Merge(const FunctionTable& other);
  /// Rows by section and dataset, in each the largest first; last the one of all that found no room, if any did: then
  /// no share is known. `dropped`: its samples.
  std::vector<FunctionRow> Finalize(int64_t* dropped) const;

 private:
  struct Sum {
    int64_t samples = 0;
    int64_t squares = 0;

    void Add(const Sum& other);
  };
  void Add(const std::string& name, const Sum& sum);

  BoundedNames names_{kMaxRows};
  std::vector<Sum> sums_;
  Sum refused_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_FUNCTION_TABLE_H_
