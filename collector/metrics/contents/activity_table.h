// Activities that chunks recorded (`TrackActivity`, `RecordActivity`): native fine metrics.
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_ACTIVITY_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_ACTIVITY_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/metrics/workers/process_sums.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// A finished row (the SDK has an ActivityRow of its own): the sum of one activity in one unit, of one worker's chunks
/// in one span.
struct ActivitySumRow {
  uint32_t process = 0;  ///< index of the finished process; `ProcessSums::kAllProcesses`: those that found no room
  std::string span;      ///< empty: the chunks named none
  std::string activity;
  std::string unit;             ///< may be empty
  std::optional<double> value;  ///< nullopt: the sum left the range of a double, or is of several units
};

/// Accumulator of the `activities` of chunk lines, over ended attempts. No list of names or units is known here.
class ActivityTable {
 public:
  static constexpr size_t kMaxRows = 10000;

  void Add(const LogRef& log, const ChunkFact& chunk);
  /// Sums tell no span.
  void Add(const LogRef& log, const SumsFact& sums);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ActivityTable& other, const std::vector<uint32_t>& logs);
  /// Rows by process, span, activity, unit. `dropped`: readings that found no room, so that they are
  /// in `(other)`, or were not finite.
  std::vector<ActivitySumRow> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  ProcessSums sums_{kMaxRows};
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_ACTIVITY_TABLE_H_
