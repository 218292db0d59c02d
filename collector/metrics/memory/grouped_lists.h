// Lists of known lengths in one piece of memory.
#ifndef CREMA_COLLECTOR_METRICS_MEMORY_GROUPED_LISTS_H_
#define CREMA_COLLECTOR_METRICS_MEMORY_GROUPED_LISTS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "collector/metrics/memory/large_pages.h"

namespace crema {

/// A list for each dataset, process ...: many small ones would stay in memory where a large one goes to a file
/// (`SpilledLists`).
template <class T>
class GroupedLists {
 public:
  /// `most[group]`: how many values it may get.
  explicit GroupedLists(const std::vector<size_t>& most) {
    size_t room = 0;
    for (const size_t count : most) {
      begin_.push_back(room);
      room += count;
    }
    end_ = begin_;
    ReserveLargePages(values_, room);
    values_.resize(room);
  }

  void Add(size_t group, const T& value) { values_[end_[group]++] = value; }
  absl::Span<T> Of(size_t group) { return absl::MakeSpan(values_).subspan(begin_[group], end_[group] - begin_[group]); }
  absl::Span<const T> Of(size_t group) const {
    return absl::MakeConstSpan(values_).subspan(begin_[group], end_[group] - begin_[group]);
  }
  size_t groups() const { return begin_.size(); }
  void Clear() { end_ = begin_; }

 private:
  std::vector<size_t> begin_;
  std::vector<size_t> end_;
  std::vector<T> values_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_MEMORY_GROUPED_LISTS_H_
