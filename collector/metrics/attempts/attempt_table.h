// The attempts at chunks: from begin and chunk lines to rows, each with its place among the attempts at its chunk.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

/// What was made of one input.
struct RecentInput {
  uint64_t run_hash = 0;
  uint32_t index = 0;   ///< in the table of inputs
  StableHash identity;  ///< of the chunks read from it, but for their entries
};

/// A few of those read last, so that the next chunk of the same file needs no hashing: each in a place that its names
/// give, where a later one takes the place of an earlier.
class RecentInputs {
 public:
  /// nullptr where the input was not seen lately.
  const RecentInput* Find(uint64_t run_hash, const ChunkInput& input) const {
    const Place& place = places_[PlaceOf(input)];
    const bool same = place.used && place.input.run_hash == run_hash && place.file == input.file &&
                      place.dataset == input.dataset && place.tree == input.tree && place.pass == input.pass;
    return same ? &place.input : nullptr;
  }
  const RecentInput& Keep(const ChunkInput& input, const RecentInput& made) {
    Place& place = places_[PlaceOf(input)];
    place = {
        true, std::string(input.file), std::string(input.dataset), std::string(input.tree), std::string(input.pass),
        made};
    return place.input;
  }
  /// Indices have changed.
  void Clear() { places_ = {}; }

 private:
  struct Place {
    bool used = false;
    std::string file;
    std::string dataset;
    std::string tree;
    std::string pass;
    RecentInput input;
  };

  // Files' names differ near their ends, as a rule.
  static size_t PlaceOf(const ChunkInput& input) {
    uint64_t last = 0;
    const size_t bytes = std::min(input.file.size(), sizeof(last));
    if (bytes > 0) std::memcpy(&last, input.file.data() + (input.file.size() - bytes), bytes);
    uint64_t before = input.dataset.size();
    if (input.file.size() >= 2 * sizeof(last)) {
      std::memcpy(&before, input.file.data() + (input.file.size() - 2 * sizeof(last)), sizeof(before));
    }
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<size_t>(((last ^ before * kGolden) * kGolden) >> 58);
  }

  std::array<Place, 64> places_;
};

/// The data that chunks came from, and in which pass: (dataset, file, tree, pass), bounded.
struct InputName {
  std::string_view dataset;
  std::string_view file = {};
  std::string_view tree = {};
  std::string_view pass = {};
};

/// Keeps 10,000 inputs (docs/limits.md, "Kept short"). One that finds no room becomes the file `(other)` of its
/// dataset and pass.
class InputTable {
 public:
  static constexpr size_t kMaxInputs = 10000;

  InputTable();
  uint32_t Intern(const InputName& input);
  /// Takes the inputs of another table, and what stands for some there: their indices here, by those there.
  std::vector<uint32_t> Take(const InputTable& other) { return names_.Take(other.names_); }
  size_t size() const { return names_.size(); }
  InputName name(uint32_t index) const;

  bool full() const { return names_.full(); }
  /// Drops inputs beyond the limit; what stands for one that is gone has its index: none is refused.
  Renumbering Prune() { return names_.Prune(); }

 private:
  NamesWithOther names_;
  std::string name_;  // reused
};

/// The attempts in an order that depends on nothing but themselves, and the tables their indices point into, of which
/// that of helpers is in the order of reading.
struct AttemptFindings {
  AttemptRows rows;  ///< by (process, number, start); `process` is an index into the finished processes
  std::vector<SummedAttempts> summed;  ///< those that have no row; their `thread` is the last one, `(other)`
  AttemptCounts counts;                ///< of both
  int64_t nested_ns = 0;               ///< wall time of chunks inside those of another log, which these do not have
  int64_t records_lost = 0;            ///< chunks that ended and have no record, begun in the records or not
  std::vector<uint32_t> vanished_in_chunk;  ///< processes that vanished with an open chunk; some more than once
  std::vector<HelperTimes> helpers;
  std::vector<std::string> datasets;       ///< sorted
  std::vector<std::string> files;          ///< sorted; `(other)` stands for those beyond 10,000
  std::vector<uint32_t> dataset_of_input;  ///< by `AttemptRow::input`
  /// A dataset in a pass: another pass does other work, so only these chunks are compared by their size. Sorted.
  std::vector<std::pair<uint32_t, std::string>> kinds;
  std::vector<uint32_t> kind_of_input;
  std::vector<uint32_t> file_of_input;
  std::vector<std::string> threads;  ///< names, by `AttemptRow::thread`
  std::vector<uint64_t> thread_ids;  ///< what pthread_self(3) says of them; 0: not known
  ByteSums bytes;                    ///< over ended attempts, as the next
  std::vector<ByteSums> bytes_of_dataset;
  std::vector<ByteSums> bytes_of_file;
  std::vector<ByteSums> bytes_of_process;
  std::vector<ByteSums> bytes_of_thread;
};

/// Names one attempt among the logs of one accumulator: (log index, chunk number).
using AttemptKey = std::pair<uint32_t, int64_t>;

/// Accumulator of begin and chunk lines. A begin without its chunk line is an attempt too.
class AttemptTable {
 public:
  static constexpr size_t kMaxThreads = 10000;

  /// Rows that have no room in memory go there; it outlives this table.
  void SpillTo(RowSpill* spill) { rows_.SpillTo(spill); }
  /// Call when this part is complete. Packs the rows that wait for more.
  void Seal() { rows_.Seal(); }
  void Add(const LogRef& log, const BeginFact& fact);
  void Add(const LogRef& log, const ChunkFact& fact);
  /// The last line of its row: call it once for each, after every `Merge`.
  void Add(const LogRef& log, const SumsFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned. Rows that are moved in cost no second memory.
  void Merge(AttemptTable other, const std::vector<uint32_t>& logs);

  /// `processes` as finished: it distinguishes lost attempts from open ones, and renames logs to processes. `results`
  /// receives the keys of the results, sorted, for those who keep things by attempt. Takes the rows along, which are
  /// most of the memory.
  AttemptFindings Finalize(const ProcessFindings& processes, std::vector<AttemptKey>* results,
                           const WorkLimits& limits = {}) &&;

 private:
  struct Thread {
    uint32_t log;
    uint64_t id;
    uint64_t pthread;
  };

  struct RecentThread {
    uint64_t process_hash = 0;
    uint64_t id = 0;
    uint32_t index = BoundedNames::kRefused;
  };

  template <class Fact>
  uint32_t InternThreadOf(const LogRef& log, const Fact& fact);
  uint32_t InternThread(std::string_view name, uint64_t rank, const Thread& thread);
  const RecentInput& InternInput(const LogRef& log, const ChunkInput& input);
  /// For those that began and have no chunk line: what became of them, and until when. Returns how many chunks ended of
  /// which there is no record.
  int64_t JudgeBegun(const ProcessFindings& processes, std::vector<uint32_t>* vanished_in_chunk);
  void MakeRoom();
  void RenumberInputs(const Renumbering& renumbering);
  void RenumberThreads(const Renumbering& renumbering);

  AttemptRows rows_;  // ended; `process` is the index of the log
  std::vector<SummedAttempts> summed_;
  std::vector<HelperTimes> helpers_;
  absl::flat_hash_map<AttemptKey, AttemptRow> begun_;  // those whose chunk line was not seen here
  absl::flat_hash_set<AttemptKey> begun_and_summed_;
  absl::flat_hash_set<uint32_t> suspending_logs_;
  absl::flat_hash_set<uint32_t> nesting_logs_;
  InputTable inputs_;
  RecentInputs recent_inputs_;
  std::vector<ByteSums> bytes_of_input_;
  BoundedNames thread_names_{kMaxThreads};  // process hash and thread id, as bytes
  std::vector<Thread> threads_;
  std::array<RecentThread, 64> recent_threads_;
  std::vector<ByteSums> bytes_of_thread_;
  ByteSums bytes_of_other_threads_;
  std::vector<ByteSums> bytes_of_log_;
};

/// Two copies of the SDK in one process do not know of each other's chunks: the time of the inner chunk is in the
/// record of the outer one, too. Takes it off there, so that each moment counts once; returns the wall time taken off,
/// in ns.
///
/// `rows` are of ended attempts and sealed, their `process` is the index of the log. `writer_of_log`: equal for logs of
/// one copy. `has_thread`: whether the attempt was on its thread, which is known, all the time.
int64_t TakeNestedTimeOff(const std::vector<uint32_t>& process_of_log, const std::vector<uint32_t>& writer_of_log,
                          absl::FunctionRef<bool(const AttemptRow&)> has_thread, AttemptRows& rows);

/// What processes said of chunks that have no line: the last word on each row.
struct SumsFindings {
  int64_t chunks = 0;                               ///< that were summed
  std::map<std::string, int64_t> chunks_by_reason;  ///< as the format names reasons
  int64_t rows_left_out = 0;                        ///< beyond `SumsTable::kMaxRows`
};

/// Accumulator of sums lines. A line holds all of its row (dataset, file, pass, status) since its process began, so
/// lines are not added up: the one with the most chunks replaces the others, wherever and how often it is read.
class SumsTable {
 public:
  /// The limit for all logs. A process writes 1,250 rows at most, and few where room is short.
  static constexpr size_t kMaxRows = 100'000;

  void Add(const LogRef& log, const SumsFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned.
  void Merge(const SumsTable& other, const std::vector<uint32_t>& logs);

  /// Calls `visit(log, fact)` for each row, in an order that depends on nothing but the rows.
  template <class Visit>
  SumsFindings Finalize(const Visit& visit) const {
    SumsFindings findings;
    const auto add = [&](std::string_view, const Row& row) {
      const SumsFact& fact = row.kept->fact;
      findings.chunks += fact.chunks;
      findings.chunks_by_reason[std::string(fact.reason)] += fact.chunks;
      visit(row.log, fact);
    };
    rows_.Finalize(add, &findings.rows_left_out);
    return findings;
  }

 private:
  /// A fact whose texts stay.
  struct Kept {
    SumsFact fact;
    std::string texts;
  };
  struct Row {
    LogRef log;
    std::shared_ptr<const Kept> kept;

    /// Keeps what was said later.
    void Add(const Row& other);
  };
  static std::shared_ptr<const Kept> Keep(const SumsFact& fact);

  GroupedSums<Row> rows_{kMaxRows};
};

}  // namespace crema
