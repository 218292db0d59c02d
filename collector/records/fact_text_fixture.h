// FactText: facts of the parsers as text, for tests that compare them.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/records/facts.h"

namespace crema {

/// Doubles as their bits, so that -0 and 0 differ.
class FactText {
 public:
  const std::string& text() const { return text_; }

  void Put(std::string_view value) { text_.append("'").append(value).append("' "); }
  void Put(bool value) { text_ += value ? "true " : "false "; }
  void Put(int64_t value) { text_ += std::to_string(value) + " "; }
  void Put(uint64_t value) { text_ += std::to_string(value) + "u "; }
  void Put(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    text_ += std::to_string(value) + "=" + std::to_string(bits) + " ";
  }
  template <class T>
  void Put(const std::optional<T>& value) {
    if (value.has_value()) {
      Put(*value);
    } else {
      text_ += "null ";
    }
  }
  template <class T>
  void Put(const std::vector<T>& rows) {
    text_ += "[";
    for (const T& row : rows) Put(row);
    text_ += "] ";
  }
  void Put(const SectionFact& row) {
    PutAll(row.path, row.helper, row.count, row.total_ns, row.self_ns, row.min_ns, row.max_ns, row.cpu_ns, row.failed);
  }
  void Put(const MemorySectionFact& row) {
    PutAll(row.path, row.count, row.delta_bytes, row.min_bytes, row.max_bytes, row.rss_start_bytes, row.rss_stop_bytes,
           row.peak_bytes);
  }
  void Put(const MetricFact& row) {
    PutAll(row.name, row.unit, row.count, row.sum, row.min, row.max, row.invalid, row.sketch, row.sketch_shift);
  }
  void Put(const CutFact& row) { PutAll(row.name, row.events, row.weights, row.seen, row.path, row.flow); }
  void Put(const ActivityFact& row) { PutAll(row.label, row.unit, row.value); }
  void Put(const RequestFact& row) {
    PutAll(row.server, row.operation, row.count, row.bytes, row.total_ns, row.max_ns, row.errors);
  }
  void Put(const WaitFact& row) { PutAll(row.path, row.kind, row.object, row.stack, row.samples); }
  void Put(const ChunkInput& input) {
    PutAll(input.dataset, input.file, input.tree, input.entry_start, input.entry_stop, input.pass);
  }
  void Put(const BeginFact& fact) {
    PutAll(fact.number, fact.time_ns, fact.thread, fact.tid, fact.input, fact.suspended, fact.inside,
           fact.process_cpu_ns, fact.attributes);
  }
  void Put(const ChunkFact& fact) {
    PutAll(fact.number, fact.start_ns, fact.stop_ns, fact.failed, fact.events, fact.bytes_read, fact.bytes_uncompressed,
           fact.cpu_ns, fact.helper_cpu_ns, fact.cpu_wait_ns, fact.helper_wait_ns, fact.helper_scope_ns,
           fact.helper_union_ns, fact.rss_start_bytes, fact.rss_stop_bytes, fact.rss_peak_bytes, fact.io_read_bytes,
           fact.open_chunks, fact.lanes_peak, fact.thread, fact.tid, fact.input, fact.span, fact.error, fact.columns,
           fact.sections, fact.memory_sections, fact.metrics, fact.cuts, fact.activities, fact.requests, fact.waits,
           fact.unannounced_cpu_ns, fact.children_cpu_ns, fact.sections_dropped, fact.suspended_ns, fact.inner_ns,
           fact.allocations, fact.allocated_bytes, fact.system_cpu_ns, fact.minor_faults, fact.major_faults,
           fact.attributes);
  }

 private:
  template <class... Values>
  void PutAll(const Values&... values) {
    (Put(values), ...);
  }

  std::string text_;
};

}  // namespace crema
