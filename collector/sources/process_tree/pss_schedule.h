// When to read PSS: reading it walks page tables, so it is read when it may have grown, and seldom.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PSS_SCHEDULE_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PSS_SCHEDULE_H_

#include <cstdint>

namespace crema {

/// Keeps the CPU time of reading PSS below a thousandth of the time that passes, after a first allowance.
class PssSchedule {
 public:
  explicit PssSchedule(int64_t start_ns) : start_ns_(start_ns) {}

  /// Whether this sample should read it: RSS has grown by a tenth since the last reading (a new peak may be there), or
  /// nine samples passed without one; and there is time for a reading like the last.
  bool Due(int64_t now_ns, int64_t rss_bytes);

  /// Notes a reading, what it cost, and the RSS of the tree at that time.
  void Spent(int64_t cost_ns, int64_t rss_bytes);

 private:
  int64_t start_ns_;
  int64_t samples_since_ = 0;
  int64_t largest_rss_bytes_ = 0;
  int64_t last_cost_ns_ = 0;
  int64_t spent_ns_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PSS_SCHEDULE_H_
