#include "sdk/tests/record_log_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>

namespace crema {
namespace testing {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
void Get(const Json& from, const char* key, Value* to) {
  *to = from.at(key).get<Value>();
}

template <class Value>
void Get(const Json& from, const char* key, std::optional<Value>* to) {
  const auto found = from.find(key);
  if (found != from.end() && !found->is_null()) *to = found->get<Value>();
}

std::vector<SectionRow> ReadSections(const Json& rows) {
  std::vector<SectionRow> sections;
  for (const Json& row : rows) {
    SectionRow section;
    Get(row, "path", &section.path);
    section.helper = row.value("helper", false);
    Get(row, "count", &section.count);
    Get(row, "total_ns", &section.total_ns);
    Get(row, "self_ns", &section.self_ns);
    Get(row, "min_ns", &section.min_ns);
    Get(row, "max_ns", &section.max_ns);
    Get(row, "cpu_ns", &section.cpu_ns);
    section.failed = row.value("failed", std::int64_t{0});
    sections.push_back(section);
  }
  return sections;
}

void ReadIdentity(const Json& line, ChunkIdentity* identity) {
  Get(line, "chunk", &identity->number);
  Get(line, "thread", &identity->thread);
  Get(line, "tid", &identity->tid);
  Get(line, "dataset", &identity->dataset);
  Get(line, "file", &identity->file);
  Get(line, "tree", &identity->tree);
  Get(line, "entry_start", &identity->entry_start);
  Get(line, "entry_stop", &identity->entry_stop);
  Get(line, "pass", &identity->pass);
  Get(line, "span", &identity->span);
  for (const auto& item : line.at("attributes").items()) identity->attributes[item.key()] = item.value();
}

BeginLine ReadBegin(const Json& line) {
  BeginLine begin;
  ReadIdentity(line, &begin);
  Get(line, "time_ns", &begin.time_ns);
  Get(line, "suspended", &begin.suspended);
  Get(line, "inside", &begin.inside);
  return begin;
}

/// Fields that a line may leave out.
std::vector<MetricRow> ReadMetrics(const Json& line) {
  std::vector<MetricRow> metrics;
  for (const Json& row : line.value("metrics", Json::array())) {
    MetricRow metric;
    Get(row, "name", &metric.name);
    metric.unit = row.at("unit").is_null() ? std::string() : row.at("unit").get<std::string>();
    Get(row, "count", &metric.count);
    metric.invalid = row.value("invalid", std::int64_t{0});
    Get(row, "sum", &metric.sum);
    Get(row, "min", &metric.min);
    Get(row, "max", &metric.max);
    metric.sketch = row.value("sketch", std::vector<std::int64_t>());
    metric.sketch_shift = row.value("sketch_shift", std::int64_t{0});
    metrics.push_back(metric);
  }
  return metrics;
}

/// What `chunk` and `sums` lines share.
template <class Line>
void ReadTables(const Json& line, Line* chunk) {
  chunk->sections = ReadSections(line.at("sections"));
  for (const Json& row : line.at("memory_sections")) {
    MemoryRow memory;
    Get(row, "path", &memory.path);
    Get(row, "count", &memory.count);
    Get(row, "delta_bytes", &memory.delta_bytes);
    Get(row, "min_bytes", &memory.min_bytes);
    Get(row, "max_bytes", &memory.max_bytes);
    Get(row, "rss_start_bytes", &memory.rss_start_bytes);
    Get(row, "rss_stop_bytes", &memory.rss_stop_bytes);
    Get(row, "peak_bytes", &memory.peak_bytes);
    chunk->memory_sections.push_back(memory);
  }
  chunk->metrics = ReadMetrics(line);
  for (const Json& row : line.at("cuts")) {
    CutRow cut;
    Get(row, "name", &cut.name);
    Get(row, "events", &cut.events);
    Get(row, "weights", &cut.weights);
    if (row.contains("seen")) Get(row, "seen", &cut.seen);
    if (row.contains("path")) Get(row, "path", &cut.path);
    if (row.contains("flow")) Get(row, "flow", &cut.flow);
    chunk->cuts.push_back(cut);
  }
  for (const Json& row : line.at("activities")) {
    ActivityRow activity;
    Get(row, "label", &activity.label);
    Get(row, "unit", &activity.unit);
    Get(row, "value", &activity.value);
    chunk->activities.push_back(activity);
  }
  for (const Json& row : line.value("requests", Json::array())) {
    RequestRow request;
    Get(row, "server", &request.server);
    Get(row, "operation", &request.operation);
    Get(row, "count", &request.count);
    Get(row, "bytes", &request.bytes);
    Get(row, "total_ns", &request.total_ns);
    Get(row, "max_ns", &request.max_ns);
    request.errors = row.value("errors", std::int64_t{0});
    chunk->requests.push_back(request);
  }
}

ChunkLine ReadChunk(const Json& line) {
  ChunkLine chunk;
  ReadIdentity(line, &chunk);
  Get(line, "start_ns", &chunk.start_ns);
  Get(line, "stop_ns", &chunk.stop_ns);
  Get(line, "status", &chunk.status);
  Get(line, "events", &chunk.events);
  Get(line, "bytes_read", &chunk.bytes_read);
  Get(line, "bytes_uncompressed", &chunk.bytes_uncompressed);
  Get(line, "cpu_ns", &chunk.cpu_ns);
  Get(line, "helper_cpu_ns", &chunk.helper_cpu_ns);
  Get(line, "cpu_wait_ns", &chunk.cpu_wait_ns);
  Get(line, "helper_wait_ns", &chunk.helper_wait_ns);
  Get(line, "helper_scope_ns", &chunk.helper_scope_ns);
  Get(line, "helper_union_ns", &chunk.helper_union_ns);
  Get(line, "rss_start_bytes", &chunk.rss_start_bytes);
  Get(line, "rss_stop_bytes", &chunk.rss_stop_bytes);
  Get(line, "rss_peak_bytes", &chunk.rss_peak_bytes);
  Get(line, "io_read_bytes", &chunk.io_read_bytes);
  Get(line, "open_chunks", &chunk.open_chunks);
  Get(line, "lanes_peak", &chunk.lanes_peak);
  Get(line, "system_cpu_ns", &chunk.system_cpu_ns);
  Get(line, "minor_faults", &chunk.minor_faults);
  Get(line, "major_faults", &chunk.major_faults);
  Get(line, "unannounced_cpu_ns", &chunk.unannounced_cpu_ns);
  Get(line, "children_cpu_ns", &chunk.children_cpu_ns);
  for (const Json& row : line.value("waits", Json::array())) {
    WaitRow wait;
    Get(row, "path", &wait.path);
    Get(row, "kind", &wait.kind);
    Get(row, "object", &wait.object);
    Get(row, "stack", &wait.stack);
    Get(row, "samples", &wait.samples);
    chunk.waits.push_back(wait);
  }
  Get(line, "error", &chunk.error);
  Get(line, "columns", &chunk.columns);
  Get(line, "sections_dropped", &chunk.sections_dropped);
  Get(line, "suspended_ns", &chunk.suspended_ns);
  Get(line, "inner_ns", &chunk.inner_ns);
  Get(line, "trace_dropped", &chunk.trace_dropped);
  ReadTables(line, &chunk);
  if (line.contains("trace")) {
    chunk.trace.emplace();
    for (const Json& row : line["trace"]) chunk.trace->push_back({row.at(0), row.at(1), row.at(2), row.at(3)});
  }
  return chunk;
}

SumsLine ReadSums(const Json& line) {
  SumsLine sums;
  Get(line, "reason", &sums.reason);
  Get(line, "dataset", &sums.dataset);
  Get(line, "file", &sums.file);
  Get(line, "pass", &sums.pass);
  Get(line, "status", &sums.status);
  Get(line, "chunks", &sums.chunks);
  Get(line, "begun", &sums.begun);
  Get(line, "first_start_ns", &sums.first_start_ns);
  Get(line, "last_stop_ns", &sums.last_stop_ns);
  Get(line, "duration_ns", &sums.duration_ns);
  Get(line, "min_duration_ns", &sums.min_duration_ns);
  Get(line, "max_duration_ns", &sums.max_duration_ns);
  Get(line, "chunks_with_events", &sums.chunks_with_events);
  Get(line, "events", &sums.events);
  Get(line, "bytes_read", &sums.bytes_read);
  Get(line, "cpu_ns", &sums.cpu_ns);
  Get(line, "helper_cpu_ns", &sums.helper_cpu_ns);
  Get(line, "helper_joined_ns", &sums.helper_joined_ns);
  ReadTables(line, &sums);
  return sums;
}

SampleLine ReadSample(const Json& line) {
  SampleLine sample;
  Get(line, "time_ns", &sample.time_ns);
  Get(line, "realtime_offset_ns", &sample.realtime_offset_ns);
  Get(line, "rss_bytes", &sample.rss_bytes);
  Get(line, "cpu_ns", &sample.cpu_ns);
  Get(line, "threads", &sample.threads);
  Get(line, "open_chunks", &sample.open_chunks);
  Get(line, "overhead_ns", &sample.overhead_ns);
  sample.sections = ReadSections(line.at("sections"));
  sample.metrics = ReadMetrics(line);
  return sample;
}

FileLine ReadFile(const Json& line) {
  FileLine file;
  Get(line, "file", &file.file);
  Get(line, "branches", &file.branches);
  Get(line, "bytes", &file.bytes);
  Get(line, "compressed_bytes", &file.compressed_bytes);
  return file;
}

SpanLine ReadSpan(const Json& line) {
  SpanLine span;
  Get(line, "name", &span.name);
  Get(line, "path", &span.path);
  Get(line, "start_ns", &span.start_ns);
  Get(line, "stop_ns", &span.stop_ns);
  Get(line, "thread", &span.thread);
  return span;
}

ProcessLine ReadProcess(const Json& line) {
  ProcessLine process;
  Get(line, "run_id", &process.run_id);
  Get(line, "pid", &process.pid);
  Get(line, "parent_pid", &process.parent_pid);
  Get(line, "start_ns", &process.start_ns);
  Get(line, "recorder", &process.recorder);
  Get(line, "executable", &process.executable);
  Get(line, "arguments", &process.arguments);
  Get(line, "threads", &process.threads);
  Get(line.at("attributes"), "total_events", &process.total_events);
  return process;
}

EndLine ReadEnd(const Json& line) {
  EndLine end;
  Get(line, "time_ns", &end.time_ns);
  Get(line, "realtime_offset_ns", &end.realtime_offset_ns);
  Get(line, "chunks", &end.chunks);
  Get(line, "failed", &end.failed);
  Get(line, "open", &end.open);
  Get(line, "dropped", &end.dropped);
  Get(line, "summed_chunks", &end.summed_chunks);
  Get(line, "misused", &end.misused);
  Get(line, "unwritten", &end.unwritten);
  Get(line, "outside_chunks", &end.outside_chunks);
  Get(line, "overhead_ns", &end.overhead_ns);
  Get(line, "cpu_ns", &end.cpu_ns);
  end.sections = ReadSections(line.at("sections"));
  end.metrics = ReadMetrics(line);
  return end;
}

void ReadLine(const std::string& text, RecordLog* log) {
  const Json line = Json::parse(text);
  const std::string type = line.at("type");
  if (type == "process") log->process = ReadProcess(line);
  if (type == "begin") log->begins.push_back(ReadBegin(line));
  if (type == "chunk") log->chunks.push_back(ReadChunk(line));
  if (type == "sums") log->sums.push_back(ReadSums(line));
  if (type == "sample") log->samples.push_back(ReadSample(line));
  if (type == "file") log->files.push_back(ReadFile(line));
  if (type == "span") log->spans.push_back(ReadSpan(line));
  if (type == "end") log->end = ReadEnd(line);
}

/// The only element for which `is_it` holds.
template <class Row, class IsIt>
Row Only(const std::vector<Row>& rows, std::string_view what, IsIt is_it) {
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), is_it), 1) << "looking for " << what;
  const auto found = std::find_if(rows.begin(), rows.end(), is_it);
  return found == rows.end() ? Row() : *found;
}

}  // namespace

RecordLog ReadRecordLog(const std::string& path) {
  RecordLog log;
  log.path = path;
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  log.ends_with_newline = text.empty() || text.back() == '\n';
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    log.lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
    try {
      ReadLine(log.lines.back(), &log);
    } catch (const nlohmann::json::exception&) {
      log.malformed.push_back(log.lines.back());
    }
  }
  return log;
}

std::vector<RecordLog> ReadRecordLogs(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".jsonl") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<RecordLog> logs;
  for (const std::string& path : paths) logs.push_back(ReadRecordLog(path));
  return logs;
}

std::vector<SumsLine> LastSums(const RecordLog& log) {
  std::vector<SumsLine> last;
  for (const SumsLine& sums : log.sums) {
    const auto same = std::find_if(last.begin(), last.end(), [&](const SumsLine& other) {
      return std::tie(other.dataset, other.file, other.pass, other.status) ==
             std::tie(sums.dataset, sums.file, sums.pass, sums.status);
    });
    if (same == last.end()) {
      last.push_back(sums);
    } else {
      *same = sums;
    }
  }
  return last;
}

std::int64_t SummedChunks(const RecordLog& log) {
  std::int64_t chunks = 0;
  for (const SumsLine& sums : LastSums(log)) chunks += sums.chunks;
  return chunks;
}

std::vector<std::string> FieldNames(std::string_view line) {
  std::vector<std::string> names;
  const Json object = Json::parse(line);
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

std::string FirstLineOfType(const RecordLog& log, std::string_view type) {
  const std::string start = "{\"type\":\"" + std::string(type) + "\"";
  for (const std::string& line : log.lines) {
    if (line.compare(0, start.size(), start) == 0) return line;
  }
  return {};
}

SectionRow Section(const std::vector<SectionRow>& rows, std::string_view path, bool helper) {
  return Only(rows, path, [&](const SectionRow& row) { return row.path == path && row.helper == helper; });
}

bool HasSection(const std::vector<SectionRow>& rows, std::string_view path, bool helper) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const SectionRow& row) { return row.path == path && row.helper == helper; });
}

std::vector<std::string> Paths(const std::vector<SectionRow>& rows) {
  std::vector<std::string> paths;
  for (const SectionRow& row : rows) paths.push_back(row.path);
  return paths;
}

MetricRow Metric(const ChunkLine& chunk, std::string_view name, std::string_view unit) {
  return Only(chunk.metrics, name, [&](const MetricRow& row) { return row.name == name && row.unit == unit; });
}

ActivityRow Activity(const ChunkLine& chunk, std::string_view label, std::string_view unit) {
  return Only(chunk.activities, label, [&](const ActivityRow& row) { return row.label == label && row.unit == unit; });
}

MemoryRow Memory(const ChunkLine& chunk, std::string_view path) {
  return Only(chunk.memory_sections, path, [&](const MemoryRow& row) { return row.path == path; });
}

ChunkLine ChunkOf(const RecordLog& log, std::string_view dataset) {
  return Only(log.chunks, dataset, [&](const ChunkLine& chunk) { return chunk.dataset == std::string(dataset); });
}

}  // namespace testing
}  // namespace crema
