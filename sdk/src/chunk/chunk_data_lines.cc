// The tables of ChunkData in a line of the record log.

#include <algorithm>

#include "chunk/chunk_data.h"

namespace crema {
namespace internal {
namespace {

/// Rows are written while the line is shorter than this; what remains is for the fields after them.
constexpr std::size_t kRowsUpTo = kMaxLineBytes / 16 * 15;
/// Sketches are written while the line is shorter than this: rows come first.
constexpr std::size_t kSketchesUpTo = kMaxLineBytes / 2;

std::size_t LongText(const MemoryRow& row) { return row.path.size(); }  // 64 names of 256 bytes, escaped
std::size_t LongText(const CutRow& row) { return row.path.size(); }
template <class Row>
std::size_t LongText(const Row&) {
  return 0;  // a name or two: they fit into what is left
}

template <class Row, class Write>
void AppendRows(std::string_view key, RowTable<Row>* rows, JsonLine* line, std::uint64_t* dropped, Write write) {
  line->Key(key);
  line->Raw("[");
  for (Row& row : *rows) {
    if (line->size() + LongText(row) > kRowsUpTo) {
      ++*dropped;
      continue;
    }
    if (!line->EndsWith('[')) line->Raw(",");
    write(row);
  }
  line->Raw("]");
}

}  // namespace

void ChunkData::AppendMemory(JsonLine* line) noexcept {
  AppendRows("memory_sections", &memory_, line, &dropped_, [&](const MemoryRow& row) {
    line->Raw("{\"path\":\"");
    line->Raw(row.path);
    line->Raw("\"");
    line->FieldUnsigned("count", row.count);
    line->Field("delta_bytes", row.delta_bytes);
    line->Field("min_bytes", row.min_bytes);
    line->Field("max_bytes", row.max_bytes);
    line->Field("rss_start_bytes", row.rss_start_bytes);
    line->Field("rss_stop_bytes", row.rss_stop_bytes);
    line->Field("peak_bytes", row.peak_bytes);
    line->Raw("}");
  });
}

void ChunkData::AppendMetrics(JsonLine* line) noexcept {
  AppendRows("metrics", &metrics_, line, &dropped_, [&](const MetricRow& row) {
    line->Raw("{\"name\":");
    line->String(row.name);
    line->Key("unit");
    line->String(row.unit);
    line->FieldUnsigned("count", row.count);
    const bool any = row.count != 0;
    line->FieldNumber("sum", row.sum);
    line->FieldNumber("min", any ? std::optional<double>(row.min) : std::nullopt);
    line->FieldNumber("max", any ? std::optional<double>(row.max) : std::nullopt);
    if (row.invalid != 0) line->FieldUnsigned("invalid", row.invalid);
    const std::size_t longest = row.sketch.buckets() * ValueSketch::kLongestBucket;
    if (!row.sketch.empty() && !row.sketch_lost && line->size() + longest < kSketchesUpTo) {
      line->Key("sketch");
      row.sketch.Append(line);
      if (row.sketch.shift() != 0) line->Field("sketch_shift", std::int64_t{row.sketch.shift()});
    }
    line->Raw("}");
  });
}

void ChunkData::AppendCuts(JsonLine* line) noexcept {
  AppendRows("cuts", &cuts_, line, &dropped_, [&](const CutRow& row) {
    line->Raw("{\"name\":");
    line->String(row.name);
    line->Field("events", row.events);
    line->FieldNumber("weights", row.has_weights ? std::optional<double>(row.weights) : std::nullopt);
    if (row.seen >= 0) line->Field("seen", row.seen);
    if (!row.path.empty()) {
      line->Key("path");
      line->Raw("\"");
      line->Raw(row.path);
      line->Raw("\"");
    }
    if (!row.flow.empty()) line->FieldText("flow", row.flow);
    line->Raw("}");
  });
}

void ChunkData::AppendColumns(JsonLine* line) noexcept {
  line->Key("columns");
  if (columns_.empty()) {
    line->Raw("null");
    return;
  }
  line->Raw("[");
  for (const std::string_view name : columns_) {
    if (line->size() > kRowsUpTo) {
      ++dropped_;
      continue;
    }
    if (!line->EndsWith('[')) line->Raw(",");
    line->String(name);
  }
  line->Raw("]");
}

void ChunkData::AppendActivities(JsonLine* line) noexcept {
  AppendRows("activities", &activities_, line, &dropped_, [&](const ActivityRow& row) {
    line->Raw("{\"label\":");
    line->String(row.label);
    line->Key("unit");
    line->String(row.unit);
    line->FieldNumber("value", row.value);
    line->Raw("}");
  });
}

void ChunkData::AppendRequests(JsonLine* line) noexcept {
  if (std::none_of(requests_.begin(), requests_.end(), [](const RequestRow& row) { return row.has_ended(); })) return;
  line->Key("requests");
  line->Raw("[");
  for (const RequestRow& row : requests_) {
    if (!row.has_ended()) continue;  // it was begun, and has not ended
    if (line->size() > kRowsUpTo) {
      ++dropped_;
      continue;
    }
    line->Raw(line->EndsWith('[') ? "{\"server\":" : ",{\"server\":");
    line->String(row.server);
    line->Key("operation");
    line->String(row.operation);
    line->FieldUnsigned("count", row.count);
    line->Field("bytes", row.bytes);
    line->Field("total_ns", row.total_ns);
    line->Field("max_ns", row.max_ns);
    if (row.errors != 0) line->FieldUnsigned("errors", row.errors);
    line->Raw("}");
  }
  line->Raw("]");
}

void ChunkData::AppendWaits(JsonLine* line) noexcept {
  if (waits_.size() == 0) return;
  const std::size_t begin = line->size();
  AppendRows("waits", &waits_, line, &dropped_, [&](const WaitRow& row) {
    line->Raw("{\"path\":\"");
    line->Raw(row.path);
    line->Raw("\"");
    line->Key("kind");
    line->String(row.kind);
    line->FieldText("object", row.object);
    if (!row.stack.empty()) line->FieldText("stack", row.stack);
    line->FieldUnsigned("samples", row.samples);
    line->Raw("}");
  });
  line->TakeSecretsOut(begin);
}

void ChunkData::AppendTrace(const TickRate& rate, std::uint64_t start_ticks, JsonLine* line) noexcept {
  if (trace_.size() == 0 && trace_dropped_ == 0) return;
  line->Key("trace");
  line->Raw("[");
  for (const TraceRow& occurrence : trace_) {
    const SectionRow& row = *RowOf(occurrence.node);
    if (!row.is_written || occurrence.start_ticks < start_ticks || line->size() > kRowsUpTo) {
      ++trace_dropped_;
      continue;
    }
    line->Raw(line->EndsWith('[') ? "[" : ",[");
    line->Unsigned(row.index);
    line->Raw(",");
    // From the rounded ends, so that an occurrence ends no later than what it lies in.
    const std::int64_t start_ns = rate.Nanoseconds(occurrence.start_ticks - start_ticks);
    line->Integer(start_ns);
    line->Raw(",");
    line->Integer(rate.Nanoseconds(occurrence.stop_ticks - start_ticks) - start_ns);
    line->Raw(",");
    line->Integer(occurrence.tid);
    line->Raw("]");
  }
  line->Raw("]");
  line->FieldUnsigned("trace_dropped", trace_dropped_);
}

void ChunkData::AppendAttributes(JsonLine* line) noexcept {
  const std::size_t begin = line->size();
  line->Key("attributes");
  line->Raw("{");
  for (const AttributeRow& row : attributes_) {
    if (line->size() > kRowsUpTo) {
      ++dropped_;
      continue;
    }
    if (!line->EndsWith('{')) line->Raw(",");
    line->String(row.name);
    line->Raw(":");
    line->String(row.value);
  }
  line->Raw("}");
  line->TakeSecretsOut(begin);
}

}  // namespace internal
}  // namespace crema
