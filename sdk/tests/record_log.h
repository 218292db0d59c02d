// RecordLog: a record log (docs/record_log.md) as plain data, for tests to look at.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace crema {
namespace testing {

using MaybeInteger = std::optional<std::int64_t>;  ///< nullopt: null, or left out
using MaybeNumber = std::optional<double>;
using MaybeText = std::optional<std::string>;

struct SectionRow {
  std::string path;
  bool helper = false;
  std::int64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;
  MaybeInteger min_ns;
  MaybeInteger max_ns;
  MaybeInteger cpu_ns;
  std::int64_t failed = 0;
};

struct MemoryRow {
  std::string path;
  std::int64_t count = 0;
  std::int64_t delta_bytes = 0;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
  std::int64_t rss_start_bytes = 0;
  std::int64_t rss_stop_bytes = 0;
  std::int64_t peak_bytes = 0;
};

struct MetricRow {
  std::string name;
  std::string unit;  ///< empty for null
  std::int64_t count = 0;
  std::int64_t invalid = 0;
  MaybeNumber sum;
  MaybeNumber min;
  MaybeNumber max;
  std::vector<std::int64_t> sketch;  ///< empty where it is left out
  std::int64_t sketch_shift = 0;
};

struct CutRow {
  std::string name;
  std::int64_t events = 0;
  MaybeNumber weights;
  MaybeInteger seen;
  std::string path;
  std::string flow;
};

struct ActivityRow {
  std::string label;
  std::string unit;
  double value = 0;
};

struct RequestRow {
  std::string server;
  std::string operation;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t errors = 0;
};

struct WaitRow {
  std::string path;
  std::string kind;
  MaybeText object;
  MaybeText stack;
  std::int64_t samples = 0;
};

/// What `begin` and `chunk` lines share.
struct ChunkIdentity {
  std::int64_t number = 0;
  std::uint64_t thread = 0;
  std::int64_t tid = 0;
  MaybeText dataset;
  MaybeText file;
  MaybeText tree;
  MaybeInteger entry_start;
  MaybeInteger entry_stop;
  MaybeText pass;
  MaybeText span;
  std::map<std::string, std::string> attributes;
};

struct BeginLine : ChunkIdentity {
  std::int64_t time_ns = 0;
  std::optional<std::int64_t> suspended;
  std::optional<std::int64_t> inside;
};

/// One occurrence of a section (trace mode).
struct TraceRow {
  std::size_t section = 0;    ///< row among the chunk's sections
  std::int64_t start_ns = 0;  ///< since the chunk's start
  std::int64_t duration_ns = 0;
  std::int64_t tid = 0;
};

struct ChunkLine : ChunkIdentity {
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
  std::string status;
  MaybeInteger events;
  MaybeInteger bytes_read;
  MaybeInteger bytes_uncompressed;
  MaybeInteger cpu_ns;
  MaybeInteger helper_cpu_ns;
  MaybeInteger cpu_wait_ns;
  MaybeInteger helper_wait_ns;
  MaybeInteger helper_scope_ns;
  MaybeInteger helper_union_ns;
  MaybeInteger rss_start_bytes;
  MaybeInteger rss_stop_bytes;
  MaybeInteger rss_peak_bytes;
  MaybeInteger io_read_bytes;
  MaybeInteger open_chunks;
  MaybeInteger lanes_peak;
  MaybeInteger system_cpu_ns;
  MaybeInteger minor_faults;
  MaybeInteger major_faults;
  MaybeInteger unannounced_cpu_ns;
  MaybeInteger children_cpu_ns;
  std::vector<WaitRow> waits;
  MaybeText error;
  std::optional<std::vector<std::string>> columns;
  std::vector<SectionRow> sections;
  std::vector<MemoryRow> memory_sections;
  std::vector<MetricRow> metrics;
  std::vector<CutRow> cuts;
  std::vector<ActivityRow> activities;
  std::vector<RequestRow> requests;
  std::int64_t sections_dropped = 0;
  MaybeInteger suspended_ns;
  MaybeInteger inner_ns;
  std::optional<std::vector<TraceRow>> trace;
  MaybeInteger trace_dropped;

  std::int64_t duration_ns() const { return stop_ns - start_ns; }
};

/// The totals of chunks without a line since the process began.
struct SumsLine {
  std::string reason;
  MaybeText dataset;
  MaybeText file;
  MaybeText pass;
  std::string status;
  std::int64_t chunks = 0;
  std::vector<std::int64_t> begun;
  std::int64_t first_start_ns = 0;
  std::int64_t last_stop_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t min_duration_ns = 0;
  std::int64_t max_duration_ns = 0;
  std::int64_t chunks_with_events = 0;
  MaybeInteger events;
  MaybeInteger bytes_read;
  MaybeInteger cpu_ns;
  MaybeInteger helper_cpu_ns;
  MaybeInteger helper_joined_ns;
  std::vector<SectionRow> sections;
  std::vector<MemoryRow> memory_sections;
  std::vector<MetricRow> metrics;
  std::vector<CutRow> cuts;
  std::vector<ActivityRow> activities;
  std::vector<RequestRow> requests;
};

struct SampleLine {
  std::int64_t time_ns = 0;
  MaybeInteger realtime_offset_ns;
  MaybeInteger rss_bytes;
  MaybeInteger cpu_ns;
  MaybeInteger threads;
  MaybeInteger open_chunks;
  MaybeInteger overhead_ns;
  std::vector<SectionRow> sections;
  std::vector<MetricRow> metrics;
};

struct FileLine {
  std::string file;
  MaybeInteger branches;
  MaybeInteger bytes;
  MaybeInteger compressed_bytes;
};

struct SpanLine {
  std::string name;
  std::string path;
  std::int64_t start_ns = 0;
  std::int64_t stop_ns = 0;
  std::uint64_t thread = 0;
};

struct ProcessLine {
  MaybeText run_id;
  std::int64_t pid = 0;
  std::int64_t parent_pid = 0;
  std::int64_t start_ns = 0;
  std::int64_t recorder = 0;
  MaybeText executable;
  std::optional<std::vector<std::string>> arguments;
  MaybeInteger threads;
  MaybeInteger total_events;
};

struct EndLine {
  std::int64_t time_ns = 0;
  MaybeInteger realtime_offset_ns;
  std::int64_t chunks = 0;
  std::int64_t failed = 0;
  std::int64_t open = 0;
  std::int64_t dropped = 0;
  std::int64_t summed_chunks = 0;
  std::int64_t misused = 0;
  std::int64_t unwritten = 0;
  std::int64_t outside_chunks = 0;
  std::int64_t overhead_ns = 0;
  MaybeInteger cpu_ns;
  std::vector<SectionRow> sections;
  std::vector<MetricRow> metrics;
};

struct RecordLog {
  std::string path;
  std::vector<std::string> lines;  ///< all, as they are in the file
  std::vector<std::string> malformed;
  bool ends_with_newline = true;
  std::optional<ProcessLine> process;
  std::vector<BeginLine> begins;
  std::vector<ChunkLine> chunks;
  std::vector<SumsLine> sums;
  std::vector<SampleLine> samples;
  std::vector<FileLine> files;
  std::vector<SpanLine> spans;
  std::optional<EndLine> end;
};

}  // namespace testing
}  // namespace crema
