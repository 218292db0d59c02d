// The data that chunks came from: (dataset, file, tree), bounded.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_INPUT_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_INPUT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/statistics/bounded_names.h"

namespace crema {

/// What stands for a name that found no room.
inline constexpr std::string_view kOtherName = "(other)";

struct InputName {
  std::string_view dataset;
  std::string_view file;
  std::string_view tree;
};

/// Keeps 10,000 inputs (METRICS.md rule 7). One that finds no room becomes its dataset's file `(other)`.
class InputTable {
 public:
  static constexpr size_t kMaxInputs = 10000;

  uint32_t Intern(const InputName& input);
  size_t size() const { return names_.size(); }
  InputName name(uint32_t index) const;

  bool full() const { return names_.full(); }
  /// Drops inputs beyond the limit; entry i of the result is the new index of input i, or of what stands for it.
  std::vector<uint32_t> Prune();

 private:
  BoundedNames names_{kMaxInputs};
  std::string name_;  // reused
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_INPUT_TABLE_H_
