// What processes said of chunks that have no line: the last word on each row.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_SUMS_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_SUMS_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

struct SumsFindings {
  int64_t chunks = 0;                               ///< that were summed
  std::map<std::string, int64_t> chunks_by_reason;  ///< as the format names reasons
  int64_t rows_left_out = 0;                        ///< beyond `SumsTable::kMaxRows`
};

/// Accumulator of sums lines. A line holds all of its row (dataset, file, pass, status) since its process began, so
/// lines are not added up: the one with the most chunks replaces the others, wherever and how often it is read.
class SumsTable {
 public:
  /// Of all logs. A process writes 1,250 rows at most, and few where room is short.
  static constexpr size_t kMaxRows = 100'000;

  void Add(const LogRef& log, const SumsFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const SumsTable& other, const std::vector<uint32_t>& logs);

  bool empty() const { return rows_.empty(); }
  /// Calls `visit(log, fact)` for each row, in an order that depends on nothing but the rows.
  template <class Visit>
  SumsFindings Finalize(const Visit& visit) const {
    SumsTable sorted = *this;
    sorted.Renumber(sorted.names_.PruneAndSort());
    SumsFindings findings;
    findings.rows_left_out = sorted.rows_left_out_;
    for (const Row& row : sorted.rows_) {
      const SumsFact& fact = row.kept->fact;
      findings.chunks += fact.chunks;
      findings.chunks_by_reason[std::string(fact.reason)] += fact.chunks;
      visit(row.log, fact);
    }
    return findings;
  }

 private:
  /// A fact whose texts stay.
  struct Kept {
    SumsFact fact;
    std::string texts;
  };
  struct Row {
    LogRef log;
    std::shared_ptr<const Kept> kept;
  };

  static std::shared_ptr<const Kept> Keep(const SumsFact& fact);
  /// Index of the row; `kRefused` where there is no room.
  uint32_t Find(const std::string& name);
  void Renumber(const Renumbering& renumbering);

  BoundedNames names_{kMaxRows};
  std::vector<Row> rows_;
  int64_t rows_left_out_ = 0;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_SUMS_TABLE_H_
