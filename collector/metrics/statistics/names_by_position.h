// The names that the last record had, by their position in it: the next record mostly has the same.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_NAMES_BY_POSITION_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_NAMES_BY_POSITION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crema {

/// A short cut to an index: comparing a name costs less than looking it up. A name may have two parts (name and unit).
class NamesByPosition {
 public:
  /// The name's index, or what `look_up()` says, which is remembered.
  template <class LookUp>
  uint32_t IndexOf(size_t position, std::string_view name, std::string_view second, const LookUp& look_up) {
    if (position < names_.size() && names_[position].name == name && names_[position].second == second) {
      return names_[position].index;
    }
    const uint32_t index = look_up();
    if (position >= kMostPositions) return index;
    if (position >= names_.size()) names_.resize(position + 1);
    names_[position].name.assign(name);
    names_[position].second.assign(second);
    names_[position].index = index;
    return index;
  }
  /// Indices have changed.
  void Clear() { names_.clear(); }

 private:
  static constexpr size_t kMostPositions = 1000;
  struct Name {
    std::string name;
    std::string second;
    uint32_t index = 0;
  };
  std::vector<Name> names_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_NAMES_BY_POSITION_H_
