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

#include "collector/metrics/statistics/real_sum.h"
#include "collector/metrics/statistics/stand_in_names.h"
#include "collector/metrics/workers/process_table.h"

namespace crema {

/// Accumulator: one sum for each process and list of texts, of which the last is the unit. Beyond `max_rows` some rows,
/// always the same ones (docs/limits.md), are together in one for each unit, all other texts of which are `(other)`;
/// where there are too many units, in one without a value.
class ProcessSums {
 public:
  struct Row {
    uint32_t process = 0;  ///< index of the finished process; `kAllProcesses`: those that found no room
    std::vector<std::string> texts;
    std::optional<double> value;  ///< nullopt: the sum left the range of a double, or is of several units
  };
  static constexpr uint32_t kAllProcesses = 0xffffffff;

  explicit ProcessSums(size_t max_rows);

  /// A value that is not finite is left out and counts as dropped. Call `MakeRoom` after a few of them.
  void Add(const LogRef& log, std::initializer_list<std::string_view> texts, std::optional<double> value);
  void MakeRoom();
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const ProcessSums& other, const std::vector<uint32_t>& logs);
  /// Rows by process and texts. `dropped`: readings that found no room, so that they are in `(other)`, or were not
  /// finite.
  std::vector<Row> Finalize(const ProcessFindings& processes, int64_t* dropped) const;

 private:
  struct Sum {
    uint32_t log = 0;  // one of the process's
    int64_t readings = 0;
    RealSum value;

    void Add(const Sum& other);
  };
  Sum& Find(std::string_view name, uint32_t log);
  void Prune();

  StandInNames names_;
  std::vector<Sum> sums_;
  int64_t not_finite_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_WORKERS_PROCESS_SUMS_H_
