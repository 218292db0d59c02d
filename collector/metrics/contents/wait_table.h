// What threads waited for: samples of waits, and the exact blocked time that they divide (docs/waits.md).
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_WAIT_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_WAIT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/recorded.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/statistics/grouped_sums.h"
#include "collector/records/facts.h"

namespace crema {

struct WaitCount {
  std::string dataset;  ///< empty: none
  std::string section;
  std::string kind;
  std::string object;
  int64_t samples = 0;
};

/// Accumulator of the `waits` of chunk lines.
class WaitTable {
 public:
  static constexpr size_t kMaxRows = 2000;  ///< docs/limits.md, "Kept short"

  void Add(std::string_view dataset, const std::vector<WaitFact>& waits);
  void Merge(const WaitTable& other) { sums_.Merge(other.sums_); }
  /// By dataset, section, kind and object. What found no room is not there.
  std::vector<WaitCount> Finalize() const;

 private:
  struct Sum {
    int64_t samples = 0;
    void Add(const Sum& other);
  };
  GroupedSums<Sum> sums_{kMaxRows};
};

/// Divides the blocked time of each dataset among its waits. Rows of few samples are put together: by object first,
/// then by section, and last as `other`; where all of a dataset's are few, its whole blocked time is `not known`. None
/// where no thread was sampled.
std::vector<WaitSumRow> DivideBlocked(const std::vector<WaitCount>& counts, const AttemptFindings& attempts);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_WAIT_TABLE_H_
