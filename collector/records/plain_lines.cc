#include "collector/records/plain_lines.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collector/records/plain_cursor.h"

namespace crema {
namespace {

// A key is a literal with what stands around it: `,"events":`. Where it does not come next, the field was left out.

bool TakeValue(PlainCursor& line, std::optional<int64_t>& out) { return line.TakeCount(out.emplace()); }
bool TakeValue(PlainCursor& line, std::optional<uint64_t>& out) { return line.TakeUnsigned(out.emplace()); }
bool TakeValue(PlainCursor& line, std::optional<double>& out) { return line.TakeReal(out.emplace()); }

template <size_t kSize, class T>
bool Optional(PlainCursor& line, const char (&key)[kSize], std::optional<T>& out) {
  if (line.Take(key)) {
    if (line.Next() != 'n') return TakeValue(line, out);
    if (!line.Take("null")) return false;
  }
  out.reset();
  return true;
}

// As `Optional`, of a number that may be negative.
template <size_t kSize>
bool OptionalSigned(PlainCursor& line, const char (&key)[kSize], std::optional<int64_t>& out) {
  if (line.Take(key)) {
    if (line.Next() != 'n') return line.TakeInteger(out.emplace());
    if (!line.Take("null")) return false;
  }
  out.reset();
  return true;
}

template <size_t kSize>
bool CountOrZero(PlainCursor& line, const char (&key)[kSize], int64_t& out) {
  out = 0;
  if (!line.Take(key)) return true;
  return line.Next() == 'n' ? line.Take("null") : line.TakeCount(out);
}

template <size_t kSize>
bool TextOrNone(PlainCursor& line, const char (&key)[kSize], std::string_view& out) {
  out = {};
  if (!line.Take(key)) return true;
  return line.Next() == 'n' ? line.Take("null") : line.TakeText(out);
}

template <size_t kSize>
bool Count(PlainCursor& line, const char (&key)[kSize], int64_t& out) {
  return line.Take(key) && line.TakeCount(out);
}

// A list of what `take_row(row)` takes.
template <size_t kSize, class Row, class TakeRow>
bool Rows(PlainCursor& line, const char (&key)[kSize], std::vector<Row>& rows, const TakeRow& take_row) {
  rows.clear();
  if (!line.Take(key)) return true;
  if (line.Take("[]") || line.Take("null")) return true;
  if (!line.Take("[")) return false;
  do {
    if (!take_row(rows.emplace_back())) return false;
  } while (line.Take(","));
  return line.Take("]");
}

bool TakeSection(PlainCursor& line, SectionFact& row) {
  if (!line.Take("{\"path\":") || !line.TakeText(row.path)) return false;
  row.helper = line.Take(",\"helper\":true");
  return Count(line, ",\"count\":", row.count) && Count(line, ",\"total_ns\":", row.total_ns) &&
         Count(line, ",\"self_ns\":", row.self_ns) && Optional(line, ",\"min_ns\":", row.min_ns) &&
         Optional(line, ",\"max_ns\":", row.max_ns) && Optional(line, ",\"cpu_ns\":", row.cpu_ns) &&
         CountOrZero(line, ",\"failed\":", row.failed) && line.Take("}");
}

bool TakeMemorySection(PlainCursor& line, MemorySectionFact& row) {
  return line.Take("{\"path\":") && line.TakeText(row.path) && Count(line, ",\"count\":", row.count) &&
         line.Take(",\"delta_bytes\":") && line.TakeInteger(row.delta_bytes) &&
         OptionalSigned(line, ",\"min_bytes\":", row.min_bytes) &&
         OptionalSigned(line, ",\"max_bytes\":", row.max_bytes) &&
         Optional(line, ",\"rss_start_bytes\":", row.rss_start_bytes) &&
         Optional(line, ",\"rss_stop_bytes\":", row.rss_stop_bytes) &&
         Optional(line, ",\"peak_bytes\":", row.peak_bytes) && line.Take("}");
}

bool TakeMetric(PlainCursor& line, MetricFact& row) {
  return line.Take("{\"name\":") && line.TakeText(row.name) && TextOrNone(line, ",\"unit\":", row.unit) &&
         Count(line, ",\"count\":", row.count) && Optional(line, ",\"sum\":", row.sum) &&
         Optional(line, ",\"min\":", row.min) && Optional(line, ",\"max\":", row.max) &&
         CountOrZero(line, ",\"invalid\":", row.invalid) && line.Take("}");
}

bool TakeCut(PlainCursor& line, CutFact& row) {
  return line.Take("{\"name\":") && line.TakeText(row.name) && Count(line, ",\"events\":", row.events) &&
         Optional(line, ",\"weights\":", row.weights) && line.Take("}");
}

bool TakeActivity(PlainCursor& line, ActivityFact& row) {
  return line.Take("{\"label\":") && line.TakeText(row.label) && TextOrNone(line, ",\"unit\":", row.unit) &&
         Optional(line, ",\"value\":", row.value) && line.Take("}");
}

// Attributes are the user's and not used; they only have to be what JSON allows.
bool SkipAttributes(PlainCursor& line) {
  if (!line.Take(",\"attributes\":") || line.Take("{}")) return true;
  if (!line.Take("{")) return false;
  std::string_view ignored;
  do {
    if (!line.TakeText(ignored) || !line.Take(":") || !line.TakeText(ignored)) return false;
  } while (line.Take(","));
  return line.Take("}");
}

// What `begin` and `chunk` lines have in common.
template <class Fact>
bool TakeIdentity(PlainCursor& line, Fact& fact, std::string_view& span) {
  ChunkInput& input = fact.input;
  return Optional(line, ",\"thread\":", fact.thread) && Optional(line, ",\"tid\":", fact.tid) &&
         TextOrNone(line, ",\"dataset\":", input.dataset) && TextOrNone(line, ",\"file\":", input.file) &&
         TextOrNone(line, ",\"tree\":", input.tree) && OptionalSigned(line, ",\"entry_start\":", input.entry_start) &&
         OptionalSigned(line, ",\"entry_stop\":", input.entry_stop) && TextOrNone(line, ",\"pass\":", input.pass) &&
         TextOrNone(line, ",\"span\":", span);
}

bool TakeMeasurements(PlainCursor& line, ChunkFact& fact) {
  return Optional(line, ",\"events\":", fact.events) && Optional(line, ",\"bytes_read\":", fact.bytes_read) &&
         Optional(line, ",\"bytes_uncompressed\":", fact.bytes_uncompressed) &&
         Optional(line, ",\"cpu_ns\":", fact.cpu_ns) && Optional(line, ",\"helper_cpu_ns\":", fact.helper_cpu_ns) &&
         Optional(line, ",\"cpu_wait_ns\":", fact.cpu_wait_ns) &&
         Optional(line, ",\"helper_wait_ns\":", fact.helper_wait_ns) &&
         Optional(line, ",\"helper_scope_ns\":", fact.helper_scope_ns) &&
         Optional(line, ",\"helper_union_ns\":", fact.helper_union_ns) &&
         Optional(line, ",\"rss_start_bytes\":", fact.rss_start_bytes) &&
         Optional(line, ",\"rss_stop_bytes\":", fact.rss_stop_bytes) &&
         Optional(line, ",\"rss_peak_bytes\":", fact.rss_peak_bytes) &&
         Optional(line, ",\"io_read_bytes\":", fact.io_read_bytes) &&
         Optional(line, ",\"open_chunks\":", fact.open_chunks) && Optional(line, ",\"lanes_peak\":", fact.lanes_peak);
}

bool TakeContents(PlainCursor& line, ChunkFact& fact) {
  return Rows(line, ",\"columns\":", fact.columns, [&](std::string_view& name) { return line.TakeText(name); }) &&
         Rows(line, ",\"sections\":", fact.sections, [&](SectionFact& row) { return TakeSection(line, row); }) &&
         Rows(line, ",\"memory_sections\":", fact.memory_sections,
              [&](MemorySectionFact& row) { return TakeMemorySection(line, row); }) &&
         Rows(line, ",\"metrics\":", fact.metrics, [&](MetricFact& row) { return TakeMetric(line, row); }) &&
         Rows(line, ",\"cuts\":", fact.cuts, [&](CutFact& row) { return TakeCut(line, row); }) &&
         Rows(line, ",\"activities\":", fact.activities, [&](ActivityFact& row) { return TakeActivity(line, row); });
}

}  // namespace

bool ReadPlainChunk(std::string_view text, ChunkFact& fact) {
  PlainCursor line(text);
  if (!Count(line, "{\"type\":\"chunk\",\"chunk\":", fact.number) || !Count(line, ",\"start_ns\":", fact.start_ns) ||
      !Count(line, ",\"stop_ns\":", fact.stop_ns)) {
    return false;
  }
  if (fact.stop_ns < fact.start_ns) return false;
  fact.failed = !line.Take(",\"status\":\"ok\"");
  if (fact.failed && !line.Take(",\"status\":\"failed\"")) return false;
  return TakeMeasurements(line, fact) && TakeIdentity(line, fact, fact.span) &&
         TextOrNone(line, ",\"error\":", fact.error) && TakeContents(line, fact) &&
         CountOrZero(line, ",\"sections_dropped\":", fact.sections_dropped) &&
         CountOrZero(line, ",\"suspended_ns\":", fact.suspended_ns) && SkipAttributes(line) && line.Take("}") &&
         line.AtEnd();
}

bool ReadPlainBegin(std::string_view text, BeginFact& fact) {
  PlainCursor line(text);
  std::string_view span;
  return Count(line, "{\"type\":\"begin\",\"chunk\":", fact.number) && Count(line, ",\"time_ns\":", fact.time_ns) &&
         TakeIdentity(line, fact, span) && SkipAttributes(line) && line.Take("}") && line.AtEnd();
}

}  // namespace crema
