// ChunkData: what one thread notes while it works for a chunk.
#pragma once

#include "chunk/chunk_sums.h"
#include "chunk/section_tree.h"
#include "crema/record_cut.h"
#include "log/json_line.h"
#include "storage/arena.h"

namespace crema::internal {

/// The sum of what is known, at most INT64_MAX; below 0: nothing is.
inline void AddKnown(std::int64_t* sum, std::int64_t value) noexcept {
  if (value < 0) return;
  if (__builtin_add_overflow(*sum < 0 ? 0 : *sum, value, sum)) *sum = INT64_MAX;
}

struct MetricRow {
  std::string_view name;
  std::string_view unit;
  std::uint64_t count = 0;
  std::uint64_t invalid = 0;  ///< values that were not finite
  double sum = 0;
  double min = 0;
  double max = 0;
  ValueSketch sketch;             ///< empty while all values are equal
  bool sketch_lost = false;       ///< memory was refused
  std::uint32_t followed_by = 0;  ///< the row that was found after this one last time
};

struct CutRow {
  std::string_view name;
  std::string_view path;  ///< as it is inside a JSON string; empty: the cut is one of a list
  std::string_view flow;
  std::int64_t events = 0;
  std::int64_t seen = -1;  ///< -1: not known
  double weights = 0;
  bool has_weights = false;
  std::uint32_t followed_by = 0;
};

struct MemoryRow {
  std::string_view path;  ///< as it is inside a JSON string
  std::uint64_t count = 0;
  std::int64_t delta_bytes = 0;
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
  std::int64_t rss_start_bytes = 0;  ///< of the largest delta
  std::int64_t rss_stop_bytes = 0;
  std::int64_t peak_bytes = 0;  ///< highest reading
};

struct AttributeRow {
  std::string_view name;
  std::string_view value;
};

struct ActivityRow {
  std::string_view label;
  std::string_view unit;
  double value = 0;
  std::uint32_t followed_by = 0;
};

struct RequestRow {
  std::string_view server;
  std::string_view operation;
  std::uint64_t count = 0;
  std::uint64_t errors = 0;
  std::int64_t bytes = 0;
  std::int64_t total_ns = 0;
  std::int64_t max_ns = 0;
  std::uint32_t followed_by = 0;

  bool has_ended() const noexcept { return count != 0; }  ///< one of its requests, at least
};

/// How often the thread was seen in a wait of this kind.
struct WaitRow {
  std::string_view path;  ///< of the section, as it is inside a JSON string
  std::string_view object;
  std::string_view kind;   ///< a literal
  std::string_view stack;  ///< its functions, as they are in a line; kept by the sampler
  std::uint64_t samples = 0;
};

/// One occurrence of a section (trace mode).
struct TraceRow {
  SectionNode* node = nullptr;
  std::uint64_t start_ticks = 0;
  std::uint64_t stop_ticks = 0;
  std::int64_t tid = 0;
};

/// Sums of one chunk, or of one helper's part in it. Everything that finds no place is counted in `dropped`.
class ChunkData {
 public:
  static constexpr std::size_t kMostRows = 1000;       ///< of each kind
  static constexpr std::size_t kMostRequestRows = 64;  ///< and one for all others
  static constexpr std::size_t kMostWaitRows = 100;
  static constexpr std::size_t kMostTraced = 10000;  ///< occurrences
  static constexpr std::size_t kSketchBytes = std::size_t{1} << 18;

  SectionTree& sections() noexcept { return sections_; }

  void AddMetric(std::string_view name, double value, std::string_view unit) noexcept;
  void AddCut(std::string_view name, std::int64_t events, const double* weights, const CutInput* input) noexcept;
  void AddColumn(std::string_view name) noexcept {
    if (!columns_.Add(CutOnCodePoint(name, kMaxNameBytes), &texts_)) ++dropped_;
  }
  void AddTrace(const TraceRow& occurrence) noexcept;
  void SetAttribute(std::string_view name, std::string_view value) noexcept;
  /// Index of the row of an activity; -1: no place.
  int ActivityRowIndex(std::string_view label, std::string_view unit) noexcept;
  void AddActivity(int row, double value) noexcept { activities_[static_cast<std::size_t>(row)].value += value; }
  /// Index of the row of a server's operation, or of all that find no place; -1: no memory.
  int RequestRowIndex(std::string_view server, std::string_view operation) noexcept;
  std::uint64_t Requests() noexcept;  ///< that ended
  void AddRequest(int row, std::int64_t bytes, std::int64_t nanoseconds, bool failed) noexcept;
  void AddBytes(std::int64_t stored, std::int64_t uncompressed) noexcept;
  /// Index of the memory row of `name` below `prefix` (escaped, may be empty) and the section `parent`; -1: no place.
  int MemoryRowIndex(std::string_view prefix, const SectionNode* parent, std::string_view name) noexcept;
  void AddMemory(int row, std::int64_t rss_start_bytes, std::int64_t rss_stop_bytes) noexcept;
  void SawRss(std::int64_t rss_bytes) noexcept { rss_peak_bytes_ = std::max(rss_peak_bytes_, rss_bytes); }
  /// Below `prefix` as a memory row is. Rows for which there is no place count without their object.
  void AddWait(std::string_view prefix, const SectionNode* section, std::string_view kind, std::string_view object,
               std::string_view stack, std::uint64_t samples) noexcept;
  /// Makes `*kept` a copy that lives as long as the chunk; false when memory is refused.
  bool Keep(std::string_view text, std::string_view* kept) noexcept { return texts_.Copy(text, kept); }

  void CountTraceDropped() noexcept { ++trace_dropped_; }
  RowTable<TraceRow>& trace() noexcept { return trace_; }
  /// From then on, and until `Reset`: what the sketches of all metrics may take.
  void LimitSketches(std::size_t bytes) noexcept { sketch_room_ = bytes; }
  /// Adds the tables and sums of another one; sections and their trace apart.
  void MergeTables(ChunkData& other) noexcept;
  /// As `MergeTables`, but only what adds up over chunks: no attributes, and not what the other could not keep.
  void MergeSums(ChunkData& other) noexcept;
  void Reset() noexcept;

  // `"metrics":[…],"cuts":[…]` and so on, as in the record.
  void AppendMemory(JsonLine* line) noexcept;
  void AppendMetrics(JsonLine* line) noexcept;
  void AppendCuts(JsonLine* line) noexcept;
  /// The three above, activities, requests where one ended, and waits where any was seen.
  void AppendTables(JsonLine* line) noexcept;
  void AppendColumns(JsonLine* line) noexcept;
  /// `"trace":[[section, start_ns, duration_ns, tid], …]` with the number of the row among `sections`, and the start
  /// since `start_ticks`; nothing where nothing was traced.
  void AppendTrace(const TickRate& rate, std::uint64_t start_ticks, JsonLine* line) noexcept;
  void AppendAttributes(JsonLine* line) noexcept;

  std::size_t num_metrics() const noexcept { return metrics_.size(); }
  std::int64_t bytes_read() const noexcept { return bytes_read_; }                  ///< -1: never set
  std::int64_t bytes_uncompressed() const noexcept { return bytes_uncompressed_; }  ///< -1: never set
  std::int64_t rss_peak_bytes() const noexcept { return rss_peak_bytes_; }          ///< -1: never read
  std::uint64_t dropped() const noexcept { return dropped_; }
  void CountDropped() noexcept { ++dropped_; }

 private:
  /// A new row with copies of these texts; `second_name` is null for rows of one text. Null where there is no place for
  /// the row or its texts: without its name it would be taken for another's.
  template <class Row>
  Row* AddNamed(RowTable<Row>* rows, std::string_view Row::*name, std::string_view text,
                std::string_view Row::*second_name, std::string_view second_text) noexcept;
  /// Makes `path_` the path of the section below the prefix.
  void SetPath(std::string_view prefix, const SectionNode* section) noexcept;
  void AddWaitRow(WaitRow row) noexcept;
  MetricRow* FindMetric(std::string_view name, std::string_view unit) noexcept;
  /// Counts values of this size in the sketch, unless all that came so far are equal to them.
  void AddToSketch(MetricRow* row, double value, std::uint64_t times) noexcept;
  void MergeSketch(MetricRow* to, const MetricRow& from) noexcept;
  /// Makes `path_` that of the cut.
  void SetCutPath(std::string_view name, const CutInput& input) noexcept;
  /// Adds to the row of this name, path and flow.
  void AddCutRow(const CutRow& from) noexcept;

  SectionTree sections_;
  Arena texts_;
  JsonLine path_;  ///< scratch
  RowTable<MetricRow> metrics_;
  RowTable<CutRow> cuts_;
  RowTable<MemoryRow> memory_;
  RowTable<AttributeRow> attributes_;
  RowTable<ActivityRow> activities_;
  RowTable<RequestRow> requests_;
  RowTable<WaitRow> waits_;
  RowTable<TraceRow> trace_;
  std::uint64_t trace_dropped_ = 0;
  NameSet columns_;
  std::size_t sketch_room_ = kSketchBytes;
  std::size_t found_activity_ = 0;  ///< the row found last
  std::size_t found_metric_ = 0;
  std::size_t found_request_ = 0;
  std::size_t found_cut_ = 0;
  std::int64_t bytes_read_ = -1;
  std::int64_t bytes_uncompressed_ = -1;
  std::int64_t rss_peak_bytes_ = -1;
  std::uint64_t dropped_ = 0;
};

}  // namespace crema::internal
