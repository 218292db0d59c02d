// The attempts at chunks: from begin and chunk lines to rows, each with its place among the attempts at its chunk.
#ifndef CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_TABLE_H_
#define CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_TABLE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "collector/metrics/attempts/attempt_results.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/attempts/input_table.h"
#include "collector/metrics/attempts/recent_inputs.h"
#include "collector/metrics/attempts/summed_attempts.h"
#include "collector/metrics/statistics/bounded_names.h"
#include "collector/metrics/statistics/byte_sums.h"
#include "collector/metrics/statistics/stable_hash.h"
#include "collector/metrics/workers/process_table.h"
#include "collector/records/facts.h"

namespace crema {

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
  /// Nothing more comes before it is merged: packs what waits for more.
  void Seal() { rows_.Seal(); }
  void Add(const LogRef& log, const BeginFact& fact);
  void Add(const LogRef& log, const ChunkFact& fact);
  /// The last line of its row: call it once for each, after every `Merge`.
  void Add(const LogRef& log, const SumsFact& fact);
  /// `logs`: what `ProcessTable::Merge` returned. Rows that are moved in cost no second memory.
  void Merge(AttemptTable other, const std::vector<uint32_t>& logs);

  /// `processes` as finished: it tells lost attempts from open ones, and renames logs to processes. `results` receives
  /// the keys of the results, sorted, for those who keep things by attempt.
  AttemptFindings Finalize(const ProcessFindings& processes, std::vector<AttemptKey>* results) const&;
  /// The same without a copy of the rows, which are most of the memory.
  AttemptFindings Finalize(const ProcessFindings& processes, std::vector<AttemptKey>* results) &&;

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

  uint32_t InternThread(const LogRef& log, std::optional<uint64_t> thread, std::optional<int64_t> tid);
  template <class Fact>
  uint32_t InternThreadOf(const LogRef& log, const Fact& fact);
  uint32_t InternNewThread(const LogRef& log, uint64_t id, uint64_t pthread);
  const RecentInput& InternInput(const LogRef& log, const ChunkInput& input);
  /// Of those that began and have no chunk line: what became of them, and until when. Returns how many chunks ended of
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_ATTEMPTS_ATTEMPT_TABLE_H_
