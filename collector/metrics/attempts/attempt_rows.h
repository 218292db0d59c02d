// All attempts of a run.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "collector/idioms/sequences.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/parallel.h"
#include "collector/metrics/statistics/optional_sum.h"
#include "collector/metrics/storage/row_memory.h"

namespace crema {

/// Up to a thousand rows of attempts, packed: of each field only the bytes in which its values differ.
/// Some 40 bytes a row where an `AttemptRow` has 128. A row is read in a few nanoseconds: code that reads it inline
/// unpacks the fields that it uses, and no others.
class PackedBlock {
 public:
  static constexpr size_t kMostRows = 1024;

  PackedBlock() = default;
  /// `rows`: 1 to `kMostRows`.
  PackedBlock(absl::Span<const AttemptRow> rows, RowMemory* memory);

  uint32_t size() const { return size_; }
  ABSL_ATTRIBUTE_ALWAYS_INLINE AttemptRow operator[](size_t i) const;

  /// As `RowPlace` orders them.
  bool is_in_order() const { return is_in_order_; }
  /// The only process that its rows have; nullopt: they have several.
  std::optional<uint32_t> OnlyProcess() const {
    const uint32_t first = processes_[0].process;
    const bool is_only = absl::c_all_of(processes_, [first](const Process& other) { return other.process == first; });
    return is_only ? std::optional<uint32_t>(first) : std::nullopt;
  }

  /// True only if all of its rows have ended by then.
  bool HasEndedBy(int64_t time_ns) const {
    const auto most = [this](Column column) {
      return absl::int128(static_cast<int64_t>(columns_[column].base)) + columns_[column].mask;
    };
    const Packed& status = columns_[kStatus];
    return status.width == 0 && HasEnded(static_cast<AttemptState>(status.base)) &&
           most(kStart) + std::max(absl::int128(0), most(kDuration) + most(kSuspended)) <= time_ns;
  }

  void SetResult(size_t i, bool is_result) {
    const uint64_t bit = uint64_t{1} << i % 64;
    results_[i / 64] = is_result ? results_[i / 64] | bit : results_[i / 64] & ~bit;
  }
  /// `kIndex`: the rows' `process`, `input` or `thread`.
  template <uint32_t AttemptRow::*kIndex, class NewIndex>
  void Renumber(const NewIndex& new_index) {
    if constexpr (kIndex == &AttemptRow::process) {
      for (Process& process : processes_) process.process = new_index(process.process);
    } else {
      for (uint32_t& index : kIndex == &AttemptRow::input ? inputs_ : threads_) index = new_index(index);
    }
  }
  /// To other processes; the one that a row had is its recorder from then on, where it was another.
  template <class WorkerOf>
  void MoveToWorkers(const WorkerOf& worker_of) {
    for (Process& process : processes_) {
      const uint32_t worker = worker_of(process.process);
      if (worker == process.process) continue;
      process = {worker, process.process};
    }
  }
  /// Adds to the index of each row's helpers.
  void ShiftHelpers(uint32_t offset) { first_helper_ += offset; }
  /// Adds to each row's start. Only of blocks with one process, or where it is the same for all.
  void ShiftStarts(int64_t nanoseconds) { columns_[kStart].base += static_cast<uint64_t>(nanoseconds); }

 private:
  /// What the columns from `kStart` on hold.
  static constexpr int64_t AttemptRow::*kNumbers[] = {
      &AttemptRow::start_ns,     &AttemptRow::duration_ns,     &AttemptRow::suspended_ns,   &AttemptRow::events,
      &AttemptRow::cpu_ns,       &AttemptRow::cpu_wait_ns,     &AttemptRow::system_cpu_ns,  &AttemptRow::minor_faults,
      &AttemptRow::major_faults, &AttemptRow::rss_start_bytes, &AttemptRow::rss_stop_bytes, &AttemptRow::number};
  enum Column : uint8_t {
    kChunkId,
    kStart,  // this and the next two are the first three of kNumbers
    kDuration,
    kSuspended,
    kHelpers = kStart + std::size(kNumbers),  // index and 1; 0: none
    kLanesPeak,
    kStatus,
    kProcess,  // of these three: where it is in its list
    kInput,
    kThread,
    kColumns
  };
  /// A value is `base` and what its bytes hold.
  struct Packed {
    uint64_t base = 0;
    uint64_t mask = 0;
    uint32_t offset = 0;  ///< of its first byte
    uint32_t width = 0;   ///< bytes of a value: 0 to 8
  };
  struct Process {
    uint32_t process;
    uint32_t recorder;
  };

  ABSL_ATTRIBUTE_ALWAYS_INLINE uint64_t Value(Column column, size_t i) const {
    const Packed& packed = columns_[column];
    uint64_t word;
    std::memcpy(&word, bytes_ + packed.offset + i * packed.width, sizeof(word));
    return packed.base + (word & packed.mask);
  }

  /// One by one as it is compiled, so that those that nobody uses are not unpacked.
  template <size_t... kAt>
  ABSL_ATTRIBUTE_ALWAYS_INLINE void TakeNumbers(size_t i, std::index_sequence<kAt...>, AttemptRow& row) const {
    ((row.*kNumbers[kAt] = static_cast<int64_t>(Value(static_cast<Column>(kStart + kAt), i))), ...);
  }

  std::array<Packed, kColumns> columns_;
  std::shared_ptr<const uint8_t> memory_;  // shared by copies: it never changes
  const uint8_t* bytes_ = nullptr;
  uint32_t size_ = 0;
  uint32_t first_helper_ = 0;
  bool is_in_order_ = true;
  std::vector<Process> processes_;
  std::vector<uint32_t> inputs_;
  std::vector<uint32_t> threads_;
  std::array<uint64_t, kMostRows / 64> results_ = {};
};

inline AttemptRow PackedBlock::operator[](size_t i) const {
  AttemptRow row;
  row.chunk_id = Value(kChunkId, i);
  TakeNumbers(i, std::make_index_sequence<std::size(kNumbers)>(), row);
  const auto helpers = static_cast<uint32_t>(Value(kHelpers, i));
  row.helpers = helpers == 0 ? AttemptRow::kNone : helpers - 1 + first_helper_;
  const Process& process = processes_[Value(kProcess, i)];
  row.process = process.process;
  row.recorder = process.recorder;
  row.input = inputs_[Value(kInput, i)];
  row.thread = threads_[Value(kThread, i)];
  row.lanes_peak = static_cast<uint16_t>(Value(kLanesPeak, i));
  row.status = static_cast<AttemptState>(Value(kStatus, i));
  row.is_result = (results_[i / 64] >> i % 64 & 1) != 0;
  return row;
}

/// Indices of the `ok` attempts by start, those of one moment by chunk_id. Empty: they are in this order.
using StartOrder = LargeList<uint32_t>;

/// Rows in the order in which they came, packed as they come: they are most of the collector's memory. Rows are read by
/// value. `Seal` packs those that were added last: call it before any is read.
class AttemptRows {
 public:
  class Iterator;

  AttemptRows() = default;
  AttemptRows(std::initializer_list<AttemptRow> rows);
  AttemptRows(const std::vector<AttemptRow>& rows);  // NOLINT(google-explicit-constructor): a list of them is one

  /// From here on, rows that have no room in memory go there; it outlives these rows.
  void SpillTo(RowSpill* spill) { memory_.SpillTo(spill); }
  void Add(const AttemptRow& row) {
    pending_.push_back(row);
    ++size_;
    if (pending_.size() == PackedBlock::kMostRows) Pack();
  }
  /// Puts all of the other's rows behind these.
  void Take(AttemptRows other);
  void Seal();

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  ABSL_ATTRIBUTE_ALWAYS_INLINE AttemptRow operator[](size_t i) const {
    const size_t block = BlockOf(i);
    return blocks_[block][i - first_[block]];
  }
  /// The number of rows of each process, of `processes` of them and of any that stands beyond.
  std::vector<size_t> CountByProcess(size_t processes = 0) const;
  Iterator begin() const;
  Iterator end() const;

  /// Rows that are together: from `begin` up to `end`.
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };
  using Ranges = std::vector<Range>;
  static size_t Count(const Ranges& ranges) {
    return SumOf<size_t>(ranges, [](const Range& range) { return range.end - range.begin; });
  }
  /// Where the rows of each process stand, of `processes` of them and of any that stands beyond. Once rows are
  /// `Ordered`, ranges are few.
  std::vector<Ranges> RangesByProcess(size_t processes = 0) const;
  /// Calls `visit(index, row)` for each row of the ranges.
  template <class Visit>
  void ForEachOf(const Ranges& ranges, const Visit& visit) const {
    for (const Range& range : ranges) {
      if (range.begin == range.end) continue;
      size_t block = BlockOf(range.begin);
      for (size_t i = range.begin; i < range.end; ++block) {
        const size_t first = first_[block], end = std::min(range.end, first + blocks_[block].size());
        for (; i < end; ++i) visit(i, blocks_[block][i - first]);
      }
    }
  }
  /// The same, by start; ties in an order that is of the rows themselves.
  template <class Visit>
  void ForEachByStart(const Ranges& ranges, const Visit& visit) const {
    const auto place_of = [](const AttemptRow& row) { return std::tuple(row.start_ns, row.duration_ns, row.number); };
    bool is_in_order = true;
    std::tuple<int64_t, int64_t, int64_t> recent(std::numeric_limits<int64_t>::min(), AttemptRow::kUnknown, 0);
    ForEachOf(ranges, [&](size_t, const AttemptRow& row) {
      is_in_order = is_in_order && recent <= place_of(row);
      recent = place_of(row);
    });
    if (is_in_order) return ForEachOf(ranges, visit);  // as nearly always
    LargeList<std::pair<int64_t, size_t>> places;
    places.reserve(Count(ranges));
    ForEachOf(ranges, [&](size_t i, const AttemptRow& row) { places.emplace_back(row.start_ns, i); });
    SortNearlySorted(places, [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : place_of((*this)[a.second]) < place_of((*this)[b.second]);
    });
    for (const auto& [start_ns, i] : places) visit(i, (*this)[i]);
  }
  /// Calls `visit(index, row)` for the rows of the order; for all of them where it is empty.
  template <class Visit>
  void ForEachInOrder(const StartOrder& order, const Visit& visit) const {
    if (order.empty()) ForEachOf({{0, size_}}, visit);
    for (const uint32_t i : order) visit(i, (*this)[i]);
  }
  /// Calls `visit(row)` for each row but some of those that have ended by then: mostly all of them.
  template <class Visit>
  void ForEachOpenAfter(int64_t time_ns, const Visit& visit) const {
    for (const PackedBlock& block : blocks_) {
      if (block.HasEndedBy(time_ns)) continue;
      for (size_t i = 0; i < block.size(); ++i) visit(block[i]);
    }
  }

  /// `changed`: by index.
  void Replace(const std::vector<std::pair<size_t, AttemptRow>>& changed);
  void SetResult(size_t i, bool is_result);
  /// Sets each row of one of `parts` parts by `is_result(row)`, in order. Parts may be set at once.
  template <class IsResult>
  void SetResults(size_t part, size_t parts, const IsResult& is_result) {
    for (size_t at = blocks_.size() * part / parts; at < blocks_.size() * (part + 1) / parts; ++at) {
      PackedBlock& block = blocks_[at];
      for (size_t i = 0; i < block.size(); ++i) block.SetResult(i, is_result(block[i]));
    }
  }
  /// As that of blocks.
  template <uint32_t AttemptRow::*kIndex, class NewIndex>
  void Renumber(const NewIndex& new_index) {
    for (PackedBlock& block : blocks_) block.Renumber<kIndex>(new_index);
    for (AttemptRow& row : pending_) row.*kIndex = new_index(row.*kIndex);
  }
  void ShiftHelpers(uint32_t offset);
  /// `worker_of[process]`: the process that counts as the one that worked; the other is the row's recorder from then
  /// on.
  void MoveToWorkers(const std::vector<uint32_t>& worker_of);
  /// `offsets[process]`: nanoseconds to be added to the starts of its rows.
  void ShiftStarts(const std::vector<int64_t>& offsets);

  /// All rows by (`group_of_process[row.process]`, number, start, duration, chunk_id, status); those that are equal in
  /// all of it as they came, whatever the limits are. Gives back memory as it goes. They can be read by index then.
  AttemptRows Ordered(const std::vector<uint32_t>& group_of_process, const WorkLimits& limits = {}) &&;

 private:
  friend class RowsInOrder;

  // All blocks have so many rows, except for the last one and those that were taken and not put in order yet.
  static constexpr size_t kLeastOfBlock = 256;

  size_t BlockOf(size_t i) const {
    size_t block = block_at_[i / kLeastOfBlock];
    while (i - first_[block] >= blocks_[block].size()) ++block;
    return block;
  }
  /// Calls `visit(process, first, rows)` for rows that are together.
  template <class Visit>
  void ForEachRun(const Visit& visit) const;
  void Pack();
  void AddBlock(PackedBlock block);
  /// Where to find a row by its index.
  void Index();

  RowMemory memory_;
  std::vector<PackedBlock> blocks_;
  std::vector<size_t> first_;       // by block: the index of its first row
  std::vector<uint32_t> block_at_;  // of every 256th row
  std::vector<AttemptRow> pending_;
  size_t size_ = 0;
};

class AttemptRows::Iterator {
 public:
  // As the standard library names them.
  using iterator_category = std::input_iterator_tag;  // NOLINT(readability-identifier-naming)
  using value_type = AttemptRow;                      // NOLINT(readability-identifier-naming)
  using difference_type = std::ptrdiff_t;             // NOLINT(readability-identifier-naming)
  using pointer = const AttemptRow*;                  // NOLINT(readability-identifier-naming)
  using reference = AttemptRow;                       // NOLINT(readability-identifier-naming)

  explicit Iterator(const PackedBlock* block) : block_(block) {}

  ABSL_ATTRIBUTE_ALWAYS_INLINE AttemptRow operator*() const { return (*block_)[row_]; }
  Iterator& operator++() {
    if (++row_ == block_->size()) {
      ++block_;
      row_ = 0;
    }
    return *this;
  }
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.block_ == b.block_ && a.row_ == b.row_; }
  friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

 private:
  const PackedBlock* block_;
  size_t row_ = 0;
};

inline AttemptRows::Iterator AttemptRows::begin() const { return Iterator(blocks_.data()); }
inline AttemptRows::Iterator AttemptRows::end() const { return Iterator(blocks_.data() + blocks_.size()); }

// Which attempt at a chunk is its result, and what became of chunks that were attempted more than once.

/// Counts of docs/metrics.md. Attempts that are still open, or whose record is lost, count as attempts, and as
/// neither failed nor lost.
struct AttemptCounts {
  int64_t num_chunks = 0;
  int64_t num_attempts = 0;
  int64_t num_failed_attempts = 0;
  int64_t num_lost_attempts = 0;
  int64_t num_open_attempts = 0;
  int64_t num_unrecorded_attempts = 0;
  int64_t num_retried_chunks = 0;     ///< attempted again after a failed or lost attempt
  int64_t num_recomputed_chunks = 0;  ///< with several `ok` attempts
  int64_t num_unfinished_chunks = 0;  ///< attempted, no result, and none that may be one whose record is lost
  /// The attempts without a line. Retried, recomputed and unfinished chunks are of the others: which attempts
  /// belong to one chunk is known of them only.
  int64_t num_summed_attempts = 0;

  /// Retries among them cannot be identified, so each `ok` one counts as a chunk.
  void Add(const SummedAttempts& summed) {
    num_attempts = SaturatingAdd(num_attempts, summed.chunks);
    num_summed_attempts = SaturatingAdd(num_summed_attempts, summed.chunks);
    int64_t& of_status = summed.row.is_result ? num_chunks : num_failed_attempts;
    of_status = SaturatingAdd(of_status, summed.chunks);
  }
};

StartOrder OrderByStart(const AttemptRows& attempts);

/// Sets `is_result` (docs/metrics.md, "Chunks and attempts"): of each chunk's `ok` attempts the one that stopped last;
/// of several that stopped at the same moment, the last in the order given. Returns what became of the chunks; adds to
/// `*repeated`, in order, the index of each attempt at a chunk that was attempted more than once. All is the same for
/// any limits.
AttemptCounts MarkResults(AttemptRows& attempts, const WorkLimits& limits = {},
                          std::vector<size_t>* repeated = nullptr);

/// Sums over all attempts of the run (docs/metrics.md, "The run").
struct AttemptTotals {
  AttemptCounts counts;
  int64_t ended = 0;
  OptionalSum busy_ns;        ///< of ended attempts, as all but `events`
  OptionalSum lane_ns;        ///< of owners and helpers, but for owners that waited for their helpers
  OptionalSum cpu_ns;         ///< owners and helpers
  OptionalSum helper_cpu_ns;  ///< of attempts whose `cpu_ns` is known, as the next two
  OptionalSum unannounced_cpu_ns;
  OptionalSum children_cpu_ns;
  OptionalSum cpu_wait_ns;
  OptionalSum joined_ns;
  OptionalSum blocked_ns;
  OptionalSum lane_cpu_wait_ns;  ///< of owners and helpers, as the next
  OptionalSum lane_blocked_ns;
  OptionalSum system_cpu_ns;  ///< of owners, as the next two
  OptionalSum minor_faults;
  OptionalSum major_faults;
  OptionalSum events;                     ///< of results
  std::optional<int64_t> first_start_ns;  ///< of any attempt, Unix time
  std::optional<int64_t> last_stop_ns;    ///< of an ended attempt

  /// An attempt whose `is_result` is set; `helpers` is the table that it points into. Counts are not touched, as of the
  /// next.
  void Add(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers);
  void Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers);
};

/// `counts`: of these attempts.
AttemptTotals SumAttempts(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                          const std::vector<HelperTimes>& helpers, const AttemptCounts& counts);

}  // namespace crema
