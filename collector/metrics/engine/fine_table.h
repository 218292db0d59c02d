// An engine's own activities (Dask's fine metrics), by worker: docs/metrics.md, "Fine metrics".
#ifndef CREMA_COLLECTOR_METRICS_ENGINE_FINE_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ENGINE_FINE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/metrics/workers/process_sums.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// A finished row: the sum of one activity in one unit, of one worker's tasks of one prefix in one span.
struct EngineFineSum {
  uint32_t process = 0;  ///< index of the finished process; `ProcessSums::kAllProcesses`: those that found no room
  std::string context;
  std::string span;      ///< empty: none
  std::string function;  ///< task prefix; empty: none
  std::string activity;
  std::string unit;
  double value = 0;  ///< infinite: the sum left the range of a double, or is of several units
};

/// Accumulator of fine lines. No list of names or units is known here.
class FineTable {
 public:
  static constexpr size_t kMaxRows = 100'000;

  void Add(const LogRef& log, const FineFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const FineTable& other, const std::vector<uint32_t>& logs);
  /// Rows by process, context, span, function, activity, unit. `dropped`: readings that found no room, so that they are
  /// in `(other)`, or were not finite.
  std::vector<EngineFineSum> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  ProcessSums sums_{kMaxRows};
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ENGINE_FINE_TABLE_H_
