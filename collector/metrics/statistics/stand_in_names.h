// A bounded table of names in which one that finds no room is replaced by what stands for it, so that nothing is lost.
#ifndef CREMA_COLLECTOR_METRICS_STATISTICS_STAND_IN_NAMES_H_
#define CREMA_COLLECTOR_METRICS_STATISTICS_STAND_IN_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/statistics/bounded_names.h"

namespace crema {

/// Like `BoundedNames`, but it refuses no name. The first byte of each says what it is: `kOrdinary`, or a stand-in, of
/// which `kLast` stands for all others. Stand-ins rank first, so that which names are kept, and what is summed for
/// them, is the same for any split of the records and any order of merging.
class StandInNames {
 public:
  static constexpr char kLast = '0';
  static constexpr char kStandIn = '1';
  static constexpr char kOrdinary = '2';
  /// What stands for a name: one whose first byte is less. It is not asked for `kLast`, of which there must be few.
  using StandInOf = std::string (*)(std::string_view name);

  StandInNames(size_t limit, StandInOf stand_in_of) : names_(limit), limit_(limit), stand_in_of_(stand_in_of) {}

  /// The index of the name, or of what stands for it.
  uint32_t Intern(std::string_view name);
  size_t size() const { return names_.size(); }
  const std::string& name(uint32_t index) const { return names_.name(index); }
  bool full() const { return names_.full(); }

  /// Drops names beyond the limit. Those that are gone have the index of what stands for them: none is refused, and
  /// several may become one.
  Renumbering Prune();

 private:
  BoundedNames names_;
  size_t limit_;
  StandInOf stand_in_of_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_STATISTICS_STAND_IN_NAMES_H_
