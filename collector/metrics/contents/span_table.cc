#include "collector/metrics/contents/span_table.h"

#include <algorithm>
#include <string_view>

namespace crema {

void SpanTable::Add(const SpanFact& fact) {
  const std::string_view path = fact.path.empty() ? fact.name : fact.path;
  spans_.push_back({std::string(fact.name), std::string(path), fact.start_ns, fact.stop_ns});
  MakeRoom();
}

void SpanTable::MakeRoom() {
  if (spans_.size() < 2 * kMaxSpans) return;
  std::nth_element(spans_.begin(), spans_.begin() + kMaxSpans, spans_.end());
  spans_.resize(kMaxSpans);
  truncated_ = true;
}

void SpanTable::Merge(const SpanTable& other) {
  truncated_ |= other.truncated_;
  for (const SpanRow& span : other.spans_) {
    spans_.push_back(span);
    MakeRoom();
  }
}

std::vector<SpanRow> SpanTable::Finalize(bool* truncated) const {
  std::vector<SpanRow> spans = spans_;
  std::sort(spans.begin(), spans.end());
  *truncated = truncated_ || spans.size() > kMaxSpans;
  if (spans.size() > kMaxSpans) spans.resize(kMaxSpans);
  return spans;
}

std::vector<PhaseRow> FindPhases(const std::vector<SpanRow>& spans) {
  constexpr std::string_view kPhases[] = {"preprocess", "process", "reduce", "postprocess"};
  std::vector<PhaseRow> phases;
  for (const std::string_view phase : kPhases) {
    PhaseRow row;
    row.phase = std::string(phase);
    int64_t covered_ns = 0;
    bool found = false;
    for (const SpanRow& span : spans) {  // by start
      if (span.name != phase) continue;
      if (!found) {
        row.start_ns = span.start_ns;
        row.stop_ns = span.start_ns;
        found = true;
      }
      covered_ns += std::max<int64_t>(0, span.stop_ns - std::max(span.start_ns, row.stop_ns));
      row.stop_ns = std::max(row.stop_ns, span.stop_ns);
    }
    row.wall_time = static_cast<double>(covered_ns) / 1e9;
    if (found) phases.push_back(std::move(row));
  }
  return phases;
}

}  // namespace crema
