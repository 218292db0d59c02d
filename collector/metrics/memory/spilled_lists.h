// Lists of an analysis that have no room in memory.
#ifndef CREMA_COLLECTOR_METRICS_MEMORY_SPILLED_LISTS_H_
#define CREMA_COLLECTOR_METRICS_MEMORY_SPILLED_LISTS_H_

#include "collector/metrics/memory/row_spill.h"

namespace crema {

/// While one lives, the large lists for which its thread reserves memory (`ReserveLargePages`) lie in files. A list may
/// live longer than that; `spill` outlives it.
class SpilledLists {
 public:
  /// nullptr: nothing changes.
  explicit SpilledLists(RowSpill* spill) : before_(of_thread) { of_thread = spill == nullptr ? before_ : spill; }
  ~SpilledLists() { of_thread = before_; }
  SpilledLists(const SpilledLists&) = delete;
  SpilledLists& operator=(const SpilledLists&) = delete;

  /// nullptr: lists of this thread lie in memory.
  static RowSpill* current() { return of_thread; }

 private:
  inline static thread_local RowSpill* of_thread = nullptr;
  RowSpill* before_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEMORY_SPILLED_LISTS_H_
