// Requests to storage summed over ended attempts (docs/metrics.md, "requests").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_REQUEST_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_REQUEST_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/measurement/recorded.h"
#include "collector/metrics/statistics/grouped_sums.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/facts.h"

namespace crema {

/// Accumulator of the `requests` of chunk lines.
class RequestTable {
 public:
  static constexpr size_t kMaxRows = 1000;  ///< docs/limits.md, "Kept short"

  void Add(const ChunkFact& chunk) { Add(chunk.requests); }
  void Add(const SumsFact& sums) { Add(sums.requests); }
  void Merge(const RequestTable& other);
  /// Rows by server and operation, last the one of all that found no room, if any did: here, or in its chunk.
  /// `dropped`: the calls that found no room here.
  std::vector<RequestSumRow> Finalize(int64_t* dropped) const;

 private:
  struct Sum {
    int64_t calls = 0;
    KnownSum bytes;
    KnownSum nanoseconds;
    int64_t max_ns = 0;
    int64_t errors = 0;

    void Add(const Sum& other);
  };
  void Add(const std::vector<RequestFact>& requests);

  GroupedSums<Sum> sums_{kMaxRows};  ///< by server and operation
  Sum other_;                        ///< of chunks that had no room for them
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_REQUEST_TABLE_H_
