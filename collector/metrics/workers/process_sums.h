// Sums of numbers that come with a few texts, by process: bounded, and the same whatever was merged with what.
#ifndef CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_SUMS_H_
#define CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_SUMS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/real_sum.h"
#include "collector/metrics/workers/process_table.h"

namespace crema {

/// Accumulator: one sum for each process and list of texts. Beyond `max_rows` some rows are left out, always the same
/// ones (METRICS.md rule 7), and what they held is counted.
class ProcessSums {
 public:
  struct Row {
    uint32_t process = 0;  ///< index of the finished process
    std::vector<std::string> texts;
    std::optional<double> value;  ///< nullopt: the sum left the range of a double
  };

  explicit ProcessSums(size_t max_rows) : names_(max_rows) {}

  /// A value that is not finite counts as dropped. Call `MakeRoom` after a few of them.
  void Add(const LogRef& log, std::initializer_list<std::string_view> texts, std::optional<double> value);
  void MakeRoom();
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ProcessSums& other, const std::vector<uint32_t>& logs);
  /// Rows by process and texts. `dropped`: readings that found no room, or were not finite.
  std::vector<Row> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  struct Sum {
    uint32_t log = 0;  // one of the process's
    int64_t readings = 0;
    RealSum value;
  };
  Sum* Find(std::string_view name, uint32_t log);

  BoundedNames names_;
  std::vector<Sum> sums_;
  int64_t dropped_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_SUMS_H_
