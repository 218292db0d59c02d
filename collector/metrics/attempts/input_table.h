// The data that chunks came from, and in which pass: (dataset, file, tree, pass), bounded.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_INPUT_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_INPUT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/statistics/stand_in_names.h"

namespace crema {

struct InputName {
  std::string_view dataset;
  std::string_view file = {};
  std::string_view tree = {};
  std::string_view pass = {};
};

/// Keeps 10,000 inputs (docs/limits.md, "Kept short"). One that finds no room becomes the file `(other)` of its
/// dataset and pass.
class InputTable {
 public:
  static constexpr size_t kMaxInputs = 10000;

  InputTable();
  uint32_t Intern(const InputName& input);
  /// An input of another table, or what stands for some there.
  uint32_t Take(const InputTable& other, uint32_t index);
  size_t size() const { return names_.size(); }
  InputName name(uint32_t index) const;

  bool full() const { return names_.full(); }
  /// Drops inputs beyond the limit; what stands for one that is gone has its index: none is refused.
  Renumbering Prune() { return names_.Prune(); }

 private:
  StandInNames names_;
  std::string name_;  // reused
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_INPUT_TABLE_H_
