// Tables of what records say: allocations, work of GPUs, memory sections, attributes, requests to storage, spans, files
// and their columns.
#pragma once

#include "collector/measurement/breakdowns.h"
#include "collector/measurement/recorded.h"
#include "collector/metrics/attempts/attempt_table.h"
#include "collector/metrics/recorded/section_table.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

struct AllocationFindings {
  std::string reason;                 ///< why figures are not known; empty: they are, or nobody asked
  std::optional<AllocationSums> all;  ///< of all processes that record; nullopt: not known
  std::optional<int64_t> cost_ns;     ///< what counting cost them
};

/// Accumulator of `allocations` lines. A line holds all since its process began, so the last one of each log counts.
class AllocationTable {
 public:
  /// `log_hash`: the log's identity.
  void Add(uint64_t log_hash, const AllocationsFact& fact);
  void Merge(const AllocationTable& other);
  /// Sets the figures of sections inside and outside chunks. What is of no section that has a row counts for the row
  /// `(other)`; outside chunks there is none.
  AllocationFindings Finalize(std::vector<SectionRow>* sections, std::vector<SectionRow>* process_sections) const;

 private:
  struct Row {
    std::string path;
    std::string of;
    AllocationSums sums;
  };
  struct Log {
    int64_t time_ns = -1;
    bool is_last = false;
    std::string reason;
    std::optional<AllocationSums> all;
    std::optional<int64_t> cost_ns;
    std::vector<Row> rows;
  };

  std::map<uint64_t, Log> logs_;
};

/// The row's figures of kernels and copies.
template <class Row>
void SetGpuWork(const GpuWork& sums, Row* row) {
  row->gpu_seconds = SecondsOf(sums.kernel_ns);
  row->gpu_launches = sums.launches;
  row->gpu_copy_seconds = SecondsOf(sums.copy_ns);
  row->gpu_to_device_bytes = sums.to_device_bytes;
  row->gpu_from_device_bytes = sums.from_device_bytes;
}

struct GpuFindings {
  std::string reason;                 ///< why figures are not known; empty: they are, or nobody asked
  std::optional<GpuWork> all;         ///< of all processes that record, outside chunks too; nullopt: not known
  std::optional<GpuWork> of_results;  ///< of chunks that are results
  std::optional<int64_t> busy_ns;     ///< in which a device worked for a process; sum over processes
  std::vector<GpuKernelRow> kernels;  ///< longest first
  std::map<std::string, GpuWork> by_dataset;
};

/// Accumulator of `gpu` lines.
class GpuTable {
 public:
  static constexpr size_t kMaxKernels = 200;  ///< docs/limits.md, "Kept short"

  void Add(const LogRef& log, const GpuFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const GpuTable& other, const std::vector<uint32_t>& logs);
  bool empty() const { return states_.empty(); }
  /// Sets the figures of sections inside and outside chunks. `results`: sorted.
  GpuFindings Finalize(const std::vector<AttemptKey>& results, std::vector<SectionRow>* sections,
                       std::vector<SectionRow>* process_sections) const;

 private:
  /// What the last line of a log says.
  struct State {
    int64_t time_ns = -1;
    bool is_last = false;
    std::string reason;
    int64_t busy_ns = 0;
    int64_t lost = 0;
  };
  struct Kernel {
    int64_t count = 0;
    int64_t total_ns = 0;
    int64_t max_ns = 0;

    template <class More>
    void Add(const More& more) {
      count = SaturatingAdd(count, more.count);
      total_ns = SaturatingAdd(total_ns, more.total_ns);
      max_ns = std::max(max_ns, more.max_ns);
    }
  };

  std::map<uint32_t, State> states_;                            // by log
  std::map<std::pair<bool, std::string>, GpuWork> by_section_;  // outside chunks?, path
  std::map<std::string, GpuWork> by_dataset_;
  absl::flat_hash_map<AttemptKey, GpuWork> by_chunk_;
  std::map<std::tuple<std::string, std::string, std::string>, Kernel> kernels_;  // section, dataset, name
};

// Tables of what records say: memory sections, attributes, requests to storage, spans, files and the columns read from
// them.

/// Accumulator of the `memory_sections` of chunk lines.
class MemorySectionTable {
 public:
  static constexpr size_t kMaxPaths = 1000;  ///< docs/limits.md, "Kept short"

  void Add(const ChunkFact& chunk) { Add(chunk.memory_sections, 1); }
  void Add(const SumsFact& sums) { Add(sums.memory_sections, sums.chunks); }
  void Merge(const MemorySectionTable& other) { paths_.Merge(other.paths_); }
  /// Rows by path, last the one of all that found no room, if any did. `dropped`: how many readings that were.
  std::vector<MemorySectionRow> Finalize(int64_t* dropped) const;

 private:
  struct Path {
    int64_t count = 0;
    int64_t chunks = 0;
    OptionalSum delta_bytes;
    std::optional<int64_t> min_bytes;
    // (delta, stop, start): the largest is kept, so the order of records does not matter.
    std::tuple<std::optional<int64_t>, std::optional<int64_t>, std::optional<int64_t>> largest;
    std::optional<int64_t> peak_bytes;

    void Add(const Path& other) {
      count = SaturatingAdd(count, other.count);
      chunks += other.chunks;
      delta_bytes.Add(other.delta_bytes);
      if (other.min_bytes.has_value() && (!min_bytes.has_value() || *other.min_bytes < *min_bytes)) {
        min_bytes = other.min_bytes;
      }
      largest = std::max(largest, other.largest);
      peak_bytes = std::max(peak_bytes, other.peak_bytes);
    }
  };
  void Add(const std::vector<MemorySectionFact>& sections, int64_t chunks);

  GroupedSums<Path> paths_{kMaxPaths};
};

/// Names and values, from `attributes` of a fact; values that are not texts are left out.
std::vector<std::pair<std::string, std::string>> AttributesOf(std::string_view attributes);

/// Accumulator of the `attributes` of chunk lines. Until it is pruned it has room for twice `kMaxNames` names, each
/// with twice `kMaxValues` values, and keeps each text twice: 80 MB if all of them are as long as they may be. Before
/// that it has 256 KiB of whole objects, and one line of any length. Attributes with few values take some kilobytes.
class AttributeTable {
 public:
  // docs/limits.md, "Kept short"
  static constexpr size_t kMaxNames = 100;       ///< the SDK's own stay before all others
  static constexpr size_t kMaxValues = 100;      ///< of a name: the commonest are found among these
  static constexpr size_t kMaxShown = 10;        ///< of a name
  static constexpr size_t kMaxTextBytes = 1024;  ///< of a name or value, as the SDK cuts values

  void Add(const ChunkFact& chunk) {
    if (!chunk.attributes.empty()) Add(chunk.attributes, 1);
  }
  void Merge(const AttributeTable& other);
  /// Rows by name, in each the commonest value first, then all others; last the one of all names that found no room, if
  /// any did. `dropped`: how many readings that were.
  std::vector<AttributeRow> Finalize(int64_t* dropped) &&;

 private:
  struct Name : ChunkCount {
    GroupedSums<ChunkCount> values{kMaxValues};

    void Add(const Name& more) {
      ChunkCount::Add(more);
      values.Merge(more.values);
    }
  };
  void Add(std::string_view attributes, int64_t chunks);
  void Divide();
  static uint64_t RankOf(std::string_view name) {
    return name == AttributeRow::kCounters || name == AttributeRow::kReading ? 0 : HashOf(name);
  }

  absl::flat_hash_map<std::string, int64_t> chunks_;  // by all their attributes: most chunks have those of others
  size_t bytes_ = 0;                                  // of these
  GroupedSums<Name, ChunkCount, RankOf> names_{kMaxNames};
  int64_t refused_ = 0;  // readings of names that were never in `names_`
};

/// Accumulator of the `requests` of chunk lines.
class RequestTable {
 public:
  static constexpr size_t kMaxRows = 1000;  ///< docs/limits.md, "Kept short"

  void Add(const ChunkFact& chunk) { Add(chunk.requests); }
  void Add(const SumsFact& sums) { Add(sums.requests); }
  void Merge(const RequestTable& other);
  /// Rows by server and operation, last the one of all that found no room, if any did: here, or in its chunk.
  /// `dropped`: the calls that found no room here.
  std::vector<RequestSumRow> Finalize(int64_t* dropped) const;

 private:
  struct Sum {
    int64_t calls = 0;
    OptionalSum bytes;
    OptionalSum nanoseconds;
    int64_t max_ns = 0;
    int64_t errors = 0;

    void Add(const Sum& other) {
      calls = SaturatingAdd(calls, other.calls);
      bytes.Add(other.bytes);
      nanoseconds.Add(other.nanoseconds);
      max_ns = std::max(max_ns, other.max_ns);
      errors = SaturatingAdd(errors, other.errors);
    }
  };
  void Add(const std::vector<RequestFact>& requests);

  GroupedSums<Sum> sums_{kMaxRows};  ///< by server and operation
  Sum other_;                        ///< of chunks that had no room for them
};

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

/// From the first begin to the last end of these intervals, of which there is one at least, and how long any was open.
PhaseRow PhaseOf(std::string_view phase, std::vector<std::pair<int64_t, int64_t>> intervals);

/// Spans named `preprocess`, `process`, `reduce` or `postprocess`, each phase in one row, in this order.
std::vector<PhaseRow> FindPhases(const std::vector<SpanRow>& spans);

/// What is known of files (`SetFileInfo`) and of the columns read from them (`AddColumns`).
struct FileFindings {
  std::vector<std::string> columns;  ///< names read, sorted
  bool columns_known = false;        ///< some attempt said which columns it read
  bool columns_truncated = false;    ///< there were more names than room
  /// The share of a file's branches, and of its bytes, that was read: the mean over the files of which both sides are
  /// known. Where there are more than `FileTable::kMaxFiles` files, a random sample of that size stands for them.
  std::optional<double> branches_read_share;
  std::optional<double> bytes_read_share;
};

/// Accumulator of file lines and of the columns and bytes of chunk lines.
class FileTable {
 public:
  static constexpr size_t kMaxFiles = 10000;    ///< docs/limits.md, "Kept short"
  static constexpr size_t kMaxColumns = 10000;  ///< of the run, and of a file

  void Add(const FileFact& fact);
  void Add(const ChunkFact& chunk);
  void Add(const SumsFact& sums);
  void Merge(const FileTable& other);
  FileFindings Finalize() const;

 private:
  struct File {
    std::optional<int64_t> branches;
    std::optional<int64_t> bytes;
    std::optional<absl::int128> bytes_read;
    absl::flat_hash_set<uint64_t> columns;  // hashes of their names
    bool too_many_columns = false;          // more than `kMaxColumns`: `columns` is empty then, for good
    uint64_t latest_columns = 0;            // hash of the latest list: chunks of a file read the same columns

    void Add(const File& other);
    void AddRead(std::optional<absl::int128> read) {
      if (read.has_value()) bytes_read = bytes_read.value_or(0) + *read;
    }
    void LimitColumns();
  };
  struct NothingKept {
    template <class More>
    void Add(const More&) {}
  };
  /// Remembers the file of the last chunk.
  File* Find(std::string_view name) {
    return files_.FindAt(0, name, "", [name] { return name; });
  }
  void MakeRoomForColumns();

  GroupedSums<File, NothingKept> files_{kMaxFiles};
  BoundedNames columns_{kMaxColumns};
  uint64_t latest_columns_ = 0;
  bool columns_known_ = false;
  bool columns_truncated_ = false;
};

}  // namespace crema
