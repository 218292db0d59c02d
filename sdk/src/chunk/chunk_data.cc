#include "chunk/chunk_data.h"

#include <algorithm>
#include <cmath>

#include "log/secret_filter.h"

namespace crema::internal {

namespace {

/// The server and the operation of requests that found no row of their own.
constexpr std::string_view kOtherRequests = "(other)";

/// The row for which `is_it` holds. Looked for first where the row stands that followed last time on the one found
/// before: that is right for values that are set in turn, and for one that is set again and again.
template <class Row, class IsIt>
Row* FindRow(RowTable<Row>* rows, std::size_t* found, IsIt is_it) {
  const std::size_t size = rows->size();
  if (size == 0) return nullptr;
  Row& before = (*rows)[*found];
  const std::size_t expected = before.followed_by;
  if (is_it((*rows)[expected])) {
    *found = expected;
    return &(*rows)[expected];
  }
  for (std::size_t i = 0, at = *found; i < size; ++i, at = at + 1 < size ? at + 1 : 0) {
    if (!is_it((*rows)[at])) continue;
    before.followed_by = static_cast<std::uint32_t>(at);
    *found = at;
    return &(*rows)[at];
  }
  return nullptr;
}

void AddTo(MemoryRow* to, const MemoryRow& from) {
  if (from.count == 0) return;
  if (to->count == 0 || from.max_bytes > to->max_bytes) {
    to->max_bytes = from.max_bytes;
    to->rss_start_bytes = from.rss_start_bytes;
    to->rss_stop_bytes = from.rss_stop_bytes;
  }
  to->min_bytes = to->count == 0 ? from.min_bytes : std::min(to->min_bytes, from.min_bytes);
  to->delta_bytes += from.delta_bytes;
  to->peak_bytes = std::max(to->peak_bytes, from.peak_bytes);
  to->count += from.count;
}

void AddTo(RequestRow* to, const RequestRow& from) {
  to->count += from.count;
  to->errors += from.errors;
  AddKnown(&to->bytes, from.bytes);
  AddKnown(&to->total_ns, from.total_ns);
  to->max_ns = std::max(to->max_ns, from.max_ns);
}

}  // namespace

template <class Row>
Row* ChunkData::AddNamed(RowTable<Row>* rows, std::string_view Row::*name, std::string_view text,
                         std::string_view Row::*second_name, std::string_view second_text) noexcept {
  // The texts come last: they would stay behind, with each call again, where there is no place for the row.
  Row* row = rows->size() < kMostRows ? rows->Add() : nullptr;
  if (row == nullptr) return nullptr;
  char* const texts = static_cast<char*>(texts_.Allocate(text.size() + second_text.size()));
  if (texts == nullptr) {
    rows->CutTo(rows->size() - 1);
    return nullptr;
  }
  text.copy(texts, text.size());
  second_text.copy(texts + text.size(), second_text.size());
  row->*name = {texts, text.size()};
  if (second_name != nullptr) row->*second_name = {texts + text.size(), second_text.size()};
  return row;
}

MetricRow* ChunkData::FindMetric(std::string_view name, std::string_view unit) noexcept {
  MetricRow* row = FindRow(&metrics_, &found_metric_,
                           [&](const MetricRow& other) { return other.name == name && other.unit == unit; });
  if (row == nullptr) row = AddNamed(&metrics_, &MetricRow::name, name, &MetricRow::unit, unit);
  if (row == nullptr) ++dropped_;
  return row;
}

void ChunkData::AddToSketch(MetricRow* row, double value, std::uint64_t times) noexcept {
  if (row->sketch_lost) return;
  if (row->sketch.empty()) {
    if (row->count == 0 || (value == row->min && value == row->max)) return;
    // The first value that differs: those before it were all like the least.
    row->sketch_lost = !row->sketch.Add(row->min, row->count, &texts_, &sketch_room_);
  }
  if (!row->sketch_lost) row->sketch.Add(value, times, &texts_, &sketch_room_);
}

void ChunkData::MergeSketch(MetricRow* to, const MetricRow& from) noexcept {
  if (from.sketch_lost) to->sketch_lost = true;
  if (to->sketch_lost) return;
  if (from.sketch.empty()) return AddToSketch(to, from.min, from.count);
  const bool all_equal = to->sketch.empty() && to->count != 0;
  to->sketch_lost = !to->sketch.Merge(from.sketch, &texts_, &sketch_room_);
  if (all_equal && !to->sketch_lost) to->sketch.Add(to->min, to->count, &texts_, &sketch_room_);
}

void ChunkData::AddMetric(std::string_view name, double value, std::string_view unit) noexcept {
  MetricRow* row = FindMetric(CutOnCodePoint(name, kMaxNameBytes), CutOnCodePoint(unit, kMaxNameBytes));
  if (row == nullptr) return;
  if (!std::isfinite(value)) {
    ++row->invalid;
    return;
  }
  AddToSketch(row, value, 1);
  row->min = row->count == 0 ? value : std::min(row->min, value);
  row->max = row->count == 0 ? value : std::max(row->max, value);
  row->sum += value;
  ++row->count;
}

void ChunkData::SetCutPath(std::string_view name, const CutInput& input) noexcept {
  // One that is too long is dropped as a whole: a part of it would be the path of another cut.
  if (!input.path.empty()) return path_.StringPart(input.path.substr(0, kMaxPathBytes + 1), false);
  if (!input.parent.empty()) {
    const auto found = std::find_if(cuts_.begin(), cuts_.end(), [&](const CutRow& row) {
      return row.flow == input.flow && (row.name == input.parent || row.path == input.parent);
    });
    if (found != cuts_.end() && !found->path.empty()) {
      path_.Raw(found->path);
    } else {
      path_.StringPart(input.parent.substr(0, kMaxPathBytes + 1), found != cuts_.end());
    }
    path_.Raw("/");
  }
  path_.StringPart(name, true);
}

void ChunkData::AddCut(std::string_view name, std::int64_t events, const double* weights,
                       const CutInput* input) noexcept {
  CutRow row;
  row.name = CutOnCodePoint(name, kMaxNameBytes);
  path_.Clear();
  if (input != nullptr) {
    SetCutPath(row.name, *input);
    row.flow = CutOnCodePoint(input->flow, kMaxNameBytes);
    row.seen = input->seen;
  }
  row.path = path_.text();
  if (path_.broken() || path_.size() > kMaxPathBytes || events < 0 ||
      (weights != nullptr && !std::isfinite(*weights))) {
    ++dropped_;
    return;
  }
  row.events = events;
  row.has_weights = weights != nullptr;
  if (row.has_weights) row.weights = *weights;
  AddCutRow(row);
}

void ChunkData::AddCutRow(const CutRow& from) noexcept {
  CutRow* row = FindRow(&cuts_, &found_cut_, [&](const CutRow& other) {
    return other.name == from.name && other.path == from.path && other.flow == from.flow;
  });
  if (row == nullptr) {
    row = AddNamed(&cuts_, &CutRow::name, from.name, &CutRow::path, from.path);
    if (row != nullptr && !Keep(from.flow, &row->flow)) {
      cuts_.CutTo(cuts_.size() - 1);
      row = nullptr;
    }
    if (row == nullptr) {
      ++dropped_;
      return;
    }
    row->seen = 0;
  }
  AddKnown(&row->events, from.events);
  if (row->seen >= 0 && from.seen >= 0) {
    AddKnown(&row->seen, from.seen);
  } else {
    row->seen = -1;  // of all calls together it is not known
  }
  row->weights += from.weights;
  row->has_weights |= from.has_weights;
}

void ChunkData::AddTrace(const TraceRow& occurrence) noexcept {
  TraceRow* row = trace_.size() < kMostTraced ? trace_.Add() : nullptr;
  if (row == nullptr) {
    ++trace_dropped_;
  } else {
    *row = occurrence;
  }
}

void ChunkData::SetAttribute(std::string_view name, std::string_view value) noexcept {
  name = CutOnCodePoint(name, kMaxNameBytes);
  value = CutOnCodePoint(value, kMaxErrorBytes);
  for (AttributeRow& row : attributes_) {
    if (row.name != name) continue;
    if (row.value == value || Keep(value, &row.value)) return;
    ++dropped_;
    row = attributes_[attributes_.size() - 1];  // an old value would be a wrong one
    attributes_.CutTo(attributes_.size() - 1);
    return;
  }
  if (AddNamed(&attributes_, &AttributeRow::name, name, &AttributeRow::value, value) == nullptr) ++dropped_;
}

int ChunkData::ActivityRowIndex(std::string_view label, std::string_view unit) noexcept {
  label = CutOnCodePoint(label, kMaxNameBytes);
  unit = CutOnCodePoint(unit, kMaxNameBytes);
  ActivityRow* row = FindRow(&activities_, &found_activity_,
                             [&](const ActivityRow& other) { return other.label == label && other.unit == unit; });
  if (row == nullptr) row = AddNamed(&activities_, &ActivityRow::label, label, &ActivityRow::unit, unit);
  if (row == nullptr) ++dropped_;
  return row == nullptr ? -1 : static_cast<int>(row - activities_.begin());
}

int ChunkData::RequestRowIndex(std::string_view server, std::string_view operation) noexcept {
  char name[kMaxNameBytes + 1];
  server = CutOnCodePoint(ServerWithoutUser(server, name, sizeof name), kMaxNameBytes);
  operation = CutOnCodePoint(operation, kMaxNameBytes);
  const auto find = [this](std::string_view of_server, std::string_view of_operation) {
    return FindRow(&requests_, &found_request_, [&](const RequestRow& other) {
      return other.server == of_server && other.operation == of_operation;
    });
  };
  RequestRow* row = find(server, operation);
  if (row == nullptr && requests_.size() >= kMostRequestRows) {
    server = operation = kOtherRequests;
    row = find(server, operation);
  }
  if (row == nullptr) row = AddNamed(&requests_, &RequestRow::server, server, &RequestRow::operation, operation);
  if (row == nullptr) ++dropped_;
  return row == nullptr ? -1 : static_cast<int>(row - requests_.begin());
}

void ChunkData::AddRequest(int row_index, std::int64_t bytes, std::int64_t nanoseconds, bool failed) noexcept {
  AddTo(&requests_[static_cast<std::size_t>(row_index)],
        {{}, {}, 1, failed ? 1u : 0u, bytes, nanoseconds, nanoseconds});
}

std::uint64_t ChunkData::Requests() noexcept {
  std::uint64_t requests = 0;
  for (const RequestRow& row : requests_) requests += row.count;
  return requests;
}

void ChunkData::AddBytes(std::int64_t stored, std::int64_t uncompressed) noexcept {
  AddKnown(&bytes_read_, stored);
  AddKnown(&bytes_uncompressed_, uncompressed);
}

void ChunkData::SetPath(std::string_view prefix, const SectionNode* section) noexcept {
  section = Kept(section);
  path_.Clear();
  path_.Raw(prefix);
  if (section->parent == nullptr) return;
  if (!prefix.empty()) path_.Raw("/");
  AppendPath(section, &path_);
}

void ChunkData::AddWait(std::string_view prefix, const SectionNode* section, std::string_view kind,
                        std::string_view object, std::string_view stack, std::uint64_t samples) noexcept {
  SetPath(prefix, section);
  if (path_.broken()) return;  // a sample less, no wrong one
  AddWaitRow({path_.text(), object, kind, stack, samples});
}

void ChunkData::AddWaitRow(WaitRow row) noexcept {
  while (true) {
    for (WaitRow& known : waits_) {
      if (known.kind != row.kind || known.object != row.object || known.stack != row.stack || known.path != row.path) {
        continue;
      }
      known.samples += row.samples;
      return;
    }
    const bool is_plain = row.object.empty() && row.stack.empty();
    const std::size_t most = is_plain ? kMostRows : kMostWaitRows;
    WaitRow* const added =
        waits_.size() < most ? AddNamed(&waits_, &WaitRow::path, row.path, &WaitRow::object, row.object) : nullptr;
    if (added != nullptr) {
      added->kind = row.kind;
      added->stack = row.stack;
      added->samples = row.samples;
    }
    if (added != nullptr || is_plain) return;
    (row.stack.empty() ? row.object : row.stack) = {};
  }
}

int ChunkData::MemoryRowIndex(std::string_view prefix, const SectionNode* parent, std::string_view name) noexcept {
  SetPath(prefix, parent);
  if (path_.size() != 0) path_.Raw("/");
  path_.StringPart(CutOnCodePoint(name, kMaxNameBytes), true);
  for (std::size_t i = 0; i < memory_.size() && !path_.broken(); ++i) {
    if (memory_[i].path == path_.text()) return static_cast<int>(i);
  }
  if (path_.broken() || AddNamed<MemoryRow>(&memory_, &MemoryRow::path, path_.text(), nullptr, {}) == nullptr) {
    ++dropped_;
    return -1;
  }
  return static_cast<int>(memory_.size() - 1);
}

void ChunkData::AddMemory(int row_index, std::int64_t rss_start_bytes, std::int64_t rss_stop_bytes) noexcept {
  if (static_cast<std::size_t>(row_index) >= memory_.size()) return;  // its helper scope is over
  const std::int64_t delta = rss_stop_bytes - rss_start_bytes;
  const std::int64_t peak = std::max(rss_start_bytes, rss_stop_bytes);
  AddTo(&memory_[static_cast<std::size_t>(row_index)],
        {{}, 1, delta, delta, delta, rss_start_bytes, rss_stop_bytes, peak});
  SawRss(peak);
}

void ChunkData::MergeTables(ChunkData& other) noexcept {
  MergeSums(other);
  for (const AttributeRow& from : other.attributes_) SetAttribute(from.name, from.value);
  trace_dropped_ += other.trace_dropped_;
  dropped_ += other.dropped_;
}

void ChunkData::MergeSums(ChunkData& other) noexcept {
  for (const MetricRow& from : other.metrics_) {
    MetricRow* to = FindMetric(from.name, from.unit);
    if (to == nullptr) continue;
    if (from.count != 0) {
      MergeSketch(to, from);
      to->min = to->count == 0 ? from.min : std::min(to->min, from.min);
      to->max = to->count == 0 ? from.max : std::max(to->max, from.max);
    }
    to->sum += from.sum;
    to->count += from.count;
    to->invalid += from.invalid;
  }
  for (const CutRow& from : other.cuts_) AddCutRow(from);
  for (const MemoryRow& from : other.memory_) {
    MemoryRow* to =
        std::find_if(memory_.begin(), memory_.end(), [&](const MemoryRow& row) { return row.path == from.path; });
    if (to == memory_.end()) to = AddNamed<MemoryRow>(&memory_, &MemoryRow::path, from.path, nullptr, {});
    if (to == nullptr) {
      ++dropped_;
      continue;
    }
    AddTo(to, from);
  }
  for (const ActivityRow& from : other.activities_) {
    const int to = ActivityRowIndex(from.label, from.unit);
    if (to >= 0) AddActivity(to, from.value);
  }
  for (const RequestRow& from : other.requests_) {
    const int index = from.has_ended() ? RequestRowIndex(from.server, from.operation) : -1;
    if (index >= 0) AddTo(&requests_[static_cast<std::size_t>(index)], from);
  }
  for (const WaitRow& from : other.waits_) AddWaitRow(from);
  AddBytes(other.bytes_read_, other.bytes_uncompressed_);
  SawRss(other.rss_peak_bytes_);
}

void ChunkData::Reset() noexcept {
  sections_.Reset();
  const auto clear = [](auto&... tables) { (tables.Clear(), ...); };
  clear(texts_, metrics_, cuts_, memory_, attributes_, activities_, requests_, waits_, trace_, columns_);
  trace_dropped_ = dropped_ = 0;
  sketch_room_ = kSketchBytes;
  found_activity_ = found_metric_ = found_request_ = found_cut_ = 0;
  bytes_read_ = bytes_uncompressed_ = rss_peak_bytes_ = -1;
}

// The tables of ChunkData in a line of the record log.

namespace {

/// Rows end before the line is longer than this; what remains is for the fields after them.
constexpr std::size_t kRowsUpTo = kMaxLineBytes / 16 * 15;
/// Sketches are written while the line is shorter than this: rows come first.
constexpr std::size_t kSketchesUpTo = kMaxLineBytes / 2;

bool IsRow(const RequestRow& row) { return row.has_ended(); }  // else it was begun, and has not ended
template <class Row>
bool IsRow(const Row&) {
  return true;
}

void AppendRow(const MemoryRow& row, JsonLine* line) {
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
}

void AppendRow(const MetricRow& row, JsonLine* line) {
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
}

void AppendRow(const CutRow& row, JsonLine* line) {
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
}

void AppendRow(std::string_view column, JsonLine* line) { line->String(column); }

void AppendRow(const ActivityRow& row, JsonLine* line) {
  line->Raw("{\"label\":");
  line->String(row.label);
  line->Key("unit");
  line->String(row.unit);
  line->FieldNumber("value", row.value);
  line->Raw("}");
}

void AppendRow(const RequestRow& row, JsonLine* line) {
  line->Raw("{\"server\":");
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

void AppendRow(const WaitRow& row, JsonLine* line) {
  line->Raw("{\"path\":\"");
  line->Raw(row.path);
  line->Raw("\"");
  line->Key("kind");
  line->String(row.kind);
  line->FieldText("object", row.object);
  if (!row.stack.empty()) line->FieldText("stack", row.stack);
  line->FieldUnsigned("samples", row.samples);
  line->Raw("}");
}

void AppendRow(const AttributeRow& row, JsonLine* line) {
  line->String(row.name);
  line->Raw(":");
  line->String(row.value);
}

template <class Rows>
void AppendRows(std::string_view key, Rows* rows, JsonLine* line, std::uint64_t* dropped,
                std::string_view brackets = "[]") {
  line->Key(key);
  line->Raw(brackets.substr(0, 1));
  for (const auto& row : *rows) {
    if (!IsRow(row)) continue;
    const std::size_t begin = line->size();
    if (!line->EndsWith(brackets[0])) line->Raw(",");
    AppendRow(row, line);
    if (line->size() <= kRowsUpTo) continue;
    line->CutTo(begin);
    ++*dropped;
  }
  line->Raw(brackets.substr(1));
}

}  // namespace

void ChunkData::AppendMemory(JsonLine* line) noexcept { AppendRows("memory_sections", &memory_, line, &dropped_); }

void ChunkData::AppendMetrics(JsonLine* line) noexcept { AppendRows("metrics", &metrics_, line, &dropped_); }

void ChunkData::AppendCuts(JsonLine* line) noexcept { AppendRows("cuts", &cuts_, line, &dropped_); }

void ChunkData::AppendTables(JsonLine* line) noexcept {
  AppendMemory(line);
  AppendMetrics(line);
  AppendCuts(line);
  AppendRows("activities", &activities_, line, &dropped_);
  if (std::any_of(requests_.begin(), requests_.end(), [](const RequestRow& row) { return row.has_ended(); })) {
    AppendRows("requests", &requests_, line, &dropped_);
  }
  if (waits_.size() == 0) return;
  const std::size_t begin = line->size();
  AppendRows("waits", &waits_, line, &dropped_);
  line->TakeSecretsOut(begin);
}

void ChunkData::AppendColumns(JsonLine* line) noexcept {
  if (columns_.empty()) return line->Raw(",\"columns\":null");
  AppendRows("columns", &columns_, line, &dropped_);
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
    // From the rounded ends, so that an occurrence ends no later than what it is in.
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
  AppendRows("attributes", &attributes_, line, &dropped_, "{}");
  line->TakeSecretsOut(begin);
}

}  // namespace crema::internal
