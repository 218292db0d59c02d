// Spans of the run, and the phases among them (docs/metrics.md, "Runs and workers").
#ifndef CREMA_COLLECTOR_METRICS_CONTENTS_SPAN_TABLE_H_
#define CREMA_COLLECTOR_METRICS_CONTENTS_SPAN_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "collector/measurement/breakdowns.h"
#include "collector/records/facts.h"

namespace crema {

/// Unix nanoseconds.
struct SpanRow {
  std::string name;
  std::string path;
  int64_t start_ns = 0;
  int64_t stop_ns = 0;

  bool operator<(const SpanRow& other) const {
    return std::tie(start_ns, stop_ns, path, name) < std::tie(other.start_ns, other.stop_ns, other.path, other.name);
  }
};

/// Accumulator of span lines: keeps the earliest.
class SpanTable {
 public:
  static constexpr size_t kMaxSpans = 10000;

  void Add(const SpanFact& fact);
  void Merge(const SpanTable& other);
  /// The spans by start. `truncated`: there were more than `kMaxSpans`.
  std::vector<SpanRow> Finalize(bool* truncated) const;

 private:
  void MakeRoom();

  std::vector<SpanRow> spans_;
  bool truncated_ = false;
};

/// Spans named `preprocess`, `process`, `reduce` or `postprocess`, each phase in one row, in this order.
std::vector<PhaseRow> FindPhases(const std::vector<SpanRow>& spans);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_CONTENTS_SPAN_TABLE_H_
