#include "collector/metrics/attempts/attempt_rows.h"

#include <atomic>
#include <boost/sort/pdqsort/pdqsort.hpp>

#include "absl/numeric/bits.h"

namespace crema {
namespace {

/// Values as they are before they are packed.
using Values = std::array<uint64_t, PackedBlock::kMostRows>;

constexpr size_t kWord = sizeof(uint64_t);

/// The place of each row's value in the list of those that occur.
template <class T, class ValueOf>
std::vector<T> ListOf(absl::Span<const AttemptRow> rows, const ValueOf& value_of, Values* places) {
  std::vector<T> list;
  absl::flat_hash_map<uint64_t, uint32_t> place_of;
  uint64_t recent = 0;
  uint32_t place = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto [value, key] = value_of(rows[i]);
    if (i == 0 || key != recent) {  // the next one mostly has the same
      recent = key;
      place = place_of.try_emplace(key, static_cast<uint32_t>(list.size())).first->second;
      if (place == list.size()) list.push_back(value);
    }
    (*places)[i] = place;
  }
  list.shrink_to_fit();
  return list;
}

/// Rows of one group that are together in a block.
struct Run {
  uint32_t group;
  uint32_t block;
  uint32_t begin;
  uint32_t end;
};

struct ChunkAttempt {
  uint64_t chunk_id;
  uint32_t attempt;  // index
};

// A set of hashes, by their first bits: it says "perhaps" of one that is in it, and hardly ever of another.
class HashSieve {
 public:
  explicit HashSieve(size_t expected) {
    while (bits_ < 40 && (uint64_t{1} << bits_) < 16 * expected) ++bits_;
    words_.resize((size_t{1} << bits_) / 64);
  }
  bool Has(uint64_t hash) const { return (words_[Place(hash) / 64] >> Place(hash) % 64 & 1) != 0; }
  void Add(uint64_t hash) { words_[Place(hash) / 64] |= uint64_t{1} << Place(hash) % 64; }

 private:
  size_t Place(uint64_t hash) const { return static_cast<size_t>(hash >> (64 - bits_)); }

  int bits_ = 6;
  std::vector<uint64_t> words_;
};

constexpr size_t kMostOfParts = size_t{1} << 24;  // attempts, of all parts at once: 64 MB for the sieves

// The attempts at chunks that were attempted more than once, and a few others; of one part of the chunks. Nearly all
// chunks are attempted once, and need no sorting.
std::vector<ChunkAttempt> FindRepeated(const AttemptRows& attempts, size_t part, size_t parts) {
  // The sieves use the first bits.
  const auto has = [=](uint64_t chunk_id) { return (chunk_id & 0xffffffff) * parts >> 32 == part; };
  HashSieve seen(attempts.size() / parts), repeated(attempts.size() / parts);
  for (const AttemptRow& attempt : attempts) {
    const uint64_t chunk_id = attempt.chunk_id;
    if (has(chunk_id)) (seen.Has(chunk_id) ? repeated : seen).Add(chunk_id);
  }
  std::vector<ChunkAttempt> found;
  attempts.ForEachOf({{0, attempts.size()}}, [&](size_t i, const AttemptRow& attempt) {
    const uint64_t chunk_id = attempt.chunk_id;
    if (has(chunk_id) && repeated.Has(chunk_id)) found.push_back({chunk_id, static_cast<uint32_t>(i)});
  });
  boost::sort::pdqsort_branchless(found.begin(), found.end(),
                                  [](const ChunkAttempt& a, const ChunkAttempt& b) { return a.chunk_id < b.chunk_id; });
  return found;
}

// The attempts at one chunk, in the order given.
using ChunkAttempts = std::vector<ChunkAttempt>::const_iterator;

/// What one part of the chunks came to.
struct PartResults {
  AttemptCounts counts;
  std::vector<std::pair<size_t, bool>> marks;  ///< of attempts at repeated chunks: whether they are the result
};

void MarkResult(const AttemptRows& attempts, ChunkAttempts first, ChunkAttempts last, PartResults& results) {
  auto result = last;
  for (auto at = first; at != last; ++at) {
    const AttemptRow attempt = attempts[at->attempt];
    if (attempt.status != AttemptState::kOk) continue;
    if (result == last || attempt.stop_ns() >= attempts[result->attempt].stop_ns()) result = at;
  }
  for (auto at = first; at != last; ++at) results.marks.emplace_back(at->attempt, at == result);
}

// What a chunk comes to that was attempted only once.
void CountOnly(const AttemptRow& attempt, int64_t weight, AttemptCounts& counts) {
  const bool ok = attempt.status == AttemptState::kOk;
  counts.num_chunks += ok ? weight : 0;
  counts.num_unfinished_chunks += ok || attempt.status == AttemptState::kUnrecorded ? 0 : weight;
}

void CountChunk(const AttemptRows& attempts, ChunkAttempts first, ChunkAttempts last, AttemptCounts& counts) {
  int64_t latest_start_ns = attempts[first->attempt].start_ns;
  for (auto at = first; at != last; ++at) latest_start_ns = std::max(latest_start_ns, attempts[at->attempt].start_ns);
  int64_t ok = 0;
  bool perhaps_ok = false;
  bool retried = false;
  for (auto at = first; at != last; ++at) {
    const AttemptRow& attempt = attempts[at->attempt];
    CountOnly(attempt, -1, counts);
    ok += attempt.status == AttemptState::kOk;
    perhaps_ok |= attempt.status == AttemptState::kUnrecorded;
    const bool wasted = attempt.status == AttemptState::kFailed || attempt.status == AttemptState::kLost;
    retried |= wasted && latest_start_ns > attempt.start_ns;
  }
  counts.num_chunks += ok > 0;
  counts.num_unfinished_chunks += ok == 0 && !perhaps_ok;
  counts.num_recomputed_chunks += ok > 1;
  counts.num_retried_chunks += retried;
}

void JudgeRepeated(const AttemptRows& attempts, size_t part, size_t parts, PartResults& results) {
  std::vector<ChunkAttempt> by_chunk = FindRepeated(attempts, part, parts);
  for (auto first = by_chunk.begin(); first != by_chunk.end();) {
    auto last = first + 1;
    while (last != by_chunk.end() && last->chunk_id == first->chunk_id) ++last;
    if (last - first > 1) {
      std::sort(first, last, [](const ChunkAttempt& a, const ChunkAttempt& b) { return a.attempt < b.attempt; });
      MarkResult(attempts, first, last, results);
      CountChunk(attempts, first, last, results.counts);
    }
    first = last;
  }
}

void AddCounts(const AttemptCounts& other, AttemptCounts& counts) {
  for (const auto count :
       {&AttemptCounts::num_chunks, &AttemptCounts::num_failed_attempts, &AttemptCounts::num_lost_attempts,
        &AttemptCounts::num_open_attempts, &AttemptCounts::num_unrecorded_attempts, &AttemptCounts::num_retried_chunks,
        &AttemptCounts::num_recomputed_chunks, &AttemptCounts::num_unfinished_chunks}) {
    counts.*count += other.*count;
  }
}

std::optional<int64_t> SumIfBoth(const std::optional<int64_t>& one, const std::optional<int64_t>& other) {
  if (!one.has_value() || !other.has_value()) return std::nullopt;
  return SaturatingAdd(*one, *other);
}

/// The times of an ended attempt, or of so many together. Inline, so that only what it uses is unpacked.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline void AddTimes(const AttemptRow& row, int64_t chunks,
                                                  const std::vector<HelperTimes>& helpers, AttemptTotals& totals) {
  totals.ended += chunks;
  totals.busy_ns.Add(row.duration_ns, chunks);
  const std::optional<int64_t> cpu_ns = ChunkCpu(row, helpers);
  totals.cpu_ns.Add(cpu_ns, chunks);
  if (cpu_ns.has_value()) {
    const HelperTimes other = row.helpers == AttemptRow::kNone ? HelperTimes() : helpers[row.helpers];
    totals.helper_cpu_ns.Add(*HelperCpu(row, helpers) - other.unannounced_ns - other.children_ns, chunks);
    totals.unannounced_cpu_ns.Add(other.unannounced_ns, chunks);
    totals.children_cpu_ns.Add(other.children_ns, chunks);
  }
  const std::optional<int64_t> blocked_ns = ChunkBlocked(row, helpers);
  totals.cpu_wait_ns.Add(Known(row.cpu_wait_ns), chunks);
  totals.blocked_ns.Add(blocked_ns, chunks);
  totals.lane_cpu_wait_ns.Add(SumIfBoth(Known(row.cpu_wait_ns), HelperCpuWait(row, helpers)), chunks);
  totals.lane_blocked_ns.Add(SumIfBoth(blocked_ns, HelperBlocked(row, helpers)), chunks);
  totals.system_cpu_ns.Add(Known(row.system_cpu_ns), chunks);
  totals.minor_faults.Add(Known(row.minor_faults), chunks);
  totals.major_faults.Add(Known(row.major_faults), chunks);
  const std::optional<OwnerTime> owner = SplitOwnerTime(row, helpers);
  if (owner.has_value()) totals.joined_ns.Add(owner->joined_ns, chunks);
  const int64_t scope_ns = row.helpers == AttemptRow::kNone ? 0 : helpers[row.helpers].scope_ns;
  totals.lane_ns.Add(WholeLaneTime(row, scope_ns, owner), chunks);
}

/// Inline, as the last.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline void AddAttempt(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers,
                                                    AttemptTotals& totals) {
  totals.first_start_ns = std::min(attempt.start_ns, totals.first_start_ns.value_or(attempt.start_ns));
  if (attempt.is_result) totals.events.Add(Known(attempt.events));
  if (!HasEnded(attempt)) return;
  totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(attempt.stop_ns()));
  AddTimes(attempt, 1, helpers, totals);
}

}  // namespace

PackedBlock::PackedBlock(absl::Span<const AttemptRow> rows, RowMemory* memory)
    : size_(static_cast<uint32_t>(rows.size())) {
  // What differs is packed one column after the other, and copied to its place once its size is known.
  static thread_local std::vector<uint8_t> packed_bytes((kColumns * kMostRows + 1) * kWord);
  size_t used = 0;
  Values values = {};
  const auto pack = [&](Column column) {
    // As signed numbers: what was not measured is -1.
    int64_t least = static_cast<int64_t>(values[0]), most = least;
    for (size_t i = 1; i < size_; ++i) {
      least = std::min(least, static_cast<int64_t>(values[i]));
      most = std::max(most, static_cast<int64_t>(values[i]));
    }
    const auto base = static_cast<uint64_t>(least);
    const uint32_t width = (absl::bit_width(static_cast<uint64_t>(most) - base) + 7) / 8;
    columns_[column] = {base, width == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * width), static_cast<uint32_t>(used), width};
    if (width == 0) return;
    // Local, because a byte that is stored may be any of the others.
    uint8_t* to = packed_bytes.data() + used;
    for (size_t i = 0, count = size_; i < count; ++i, to += width) {
      const uint64_t value = values[i] - base;
      std::memcpy(to, &value, kWord);
    }
    used += size_t{width} * size_;
  };
  const auto pack_each = [&](Column column, const auto& value_of) {
    for (size_t i = 0; i < size_; ++i) values[i] = static_cast<uint64_t>(value_of(rows[i]));
    pack(column);
  };
  pack_each(kChunkId, [](const AttemptRow& row) { return row.chunk_id; });
  for (size_t at = 0; at < std::size(kNumbers); ++at) {
    pack_each(static_cast<Column>(kStart + at), [number = kNumbers[at]](const AttemptRow& row) { return row.*number; });
  }
  pack_each(kHelpers, [](const AttemptRow& row) { return row.helpers + 1; });
  pack_each(kLanesPeak, [](const AttemptRow& row) { return row.lanes_peak; });
  pack_each(kStatus, [](const AttemptRow& row) { return row.status; });
  processes_ = ListOf<Process>(
      rows,
      [](const AttemptRow& row) {
        return std::pair(Process{row.process, row.recorder}, uint64_t{row.process} << 32 | row.recorder);
      },
      &values);
  pack(kProcess);
  inputs_ = ListOf<uint32_t>(
      rows, [](const AttemptRow& row) { return std::pair(row.input, uint64_t{row.input}); }, &values);
  pack(kInput);
  threads_ = ListOf<uint32_t>(
      rows, [](const AttemptRow& row) { return std::pair(row.thread, uint64_t{row.thread}); }, &values);
  pack(kThread);
  for (size_t i = 0; i < size_; ++i) {
    if (rows[i].is_result) SetResult(i, true);
    if (i > 0 && PlaceOf(rows[i]) < PlaceOf(rows[i - 1])) is_in_order_ = false;
  }
  used += kWord;  // whoever reads the last value reads a word from where it begins
  std::shared_ptr<uint8_t> bytes = memory->Take(used);
  std::memcpy(bytes.get(), packed_bytes.data(), used);
  bytes_ = bytes.get();
  memory_ = std::move(bytes);
}

AttemptRows::AttemptRows(std::initializer_list<AttemptRow> rows) : AttemptRows(std::vector<AttemptRow>(rows)) {}

AttemptRows::AttemptRows(const std::vector<AttemptRow>& rows) {
  for (const AttemptRow& row : rows) Add(row);
  Seal();
}

void AttemptRows::Seal() {
  if (!pending_.empty()) Pack();
  pending_ = {};  // its memory too
  if (block_at_.size() != (size_ + kLeastOfBlock - 1) / kLeastOfBlock) Index();
}

void AttemptRows::Pack() {
  PackedBlock block(pending_, &memory_);
  pending_.clear();
  first_.push_back(size_ - block.size());
  blocks_.push_back(std::move(block));
}

void AttemptRows::AddBlock(PackedBlock block) {
  if (!pending_.empty()) Pack();
  first_.push_back(size_);
  size_ += block.size();
  blocks_.push_back(std::move(block));
}

void AttemptRows::Index() {
  block_at_.clear();
  uint32_t block = 0;
  for (size_t i = 0; i < size_; i += kLeastOfBlock) {
    while (i - first_[block] >= blocks_[block].size()) ++block;
    block_at_.push_back(block);
  }
}

void AttemptRows::Take(AttemptRows other) {
  for (PackedBlock& block : other.blocks_) AddBlock(std::move(block));
  for (const AttemptRow& row : other.pending_) Add(row);
}

void AttemptRows::Replace(const std::vector<std::pair<size_t, AttemptRow>>& changed) {
  std::vector<AttemptRow> rows;
  for (auto next = changed.begin(); next != changed.end();) {
    const size_t block = BlockOf(next->first);
    rows.clear();
    for (size_t i = 0; i < blocks_[block].size(); ++i) rows.push_back(blocks_[block][i]);
    for (; next != changed.end() && next->first - first_[block] < rows.size(); ++next) {
      rows[next->first - first_[block]] = next->second;
    }
    blocks_[block] = PackedBlock(rows, &memory_);
  }
}

void AttemptRows::SetResult(size_t i, bool is_result) {
  const size_t block = BlockOf(i);
  blocks_[block].SetResult(i - first_[block], is_result);
}

template <class Visit>
void AttemptRows::ForEachRun(const Visit& visit) const {
  for (size_t at = 0; at < blocks_.size(); ++at) {
    const PackedBlock& block = blocks_[at];
    if (const std::optional<uint32_t> process = block.OnlyProcess()) {
      visit(*process, first_[at], block.size());
      continue;
    }
    for (size_t i = 0; i < block.size(); ++i) visit(block[i].process, first_[at] + i, 1);
  }
}

std::vector<size_t> AttemptRows::CountByProcess(size_t processes) const {
  std::vector<size_t> counts(processes);
  ForEachRun([&counts](uint32_t process, size_t /*first*/, size_t rows) { GrownAt(&counts, process) += rows; });
  return counts;
}

std::vector<AttemptRows::Ranges> AttemptRows::RangesByProcess(size_t processes) const {
  std::vector<Ranges> by_process(processes);
  ForEachRun([&by_process](uint32_t process, size_t first, size_t rows) {
    Ranges& ranges = GrownAt(&by_process, process);
    if (ranges.empty() || ranges.back().end != first) ranges.push_back({first, first});
    ranges.back().end = first + rows;
  });
  return by_process;
}

void AttemptRows::ShiftHelpers(uint32_t offset) {
  for (PackedBlock& block : blocks_) block.ShiftHelpers(offset);
  for (AttemptRow& row : pending_) {
    if (row.helpers != AttemptRow::kNone) row.helpers += offset;
  }
}

void AttemptRows::MoveToWorkers(const std::vector<uint32_t>& worker_of) {
  Seal();
  for (PackedBlock& block : blocks_) {
    block.MoveToWorkers([&worker_of](uint32_t process) { return worker_of[process]; });
  }
}

void AttemptRows::ShiftStarts(const std::vector<int64_t>& offsets) {
  Seal();
  std::vector<AttemptRow> rows;
  for (PackedBlock& block : blocks_) {
    if (const std::optional<uint32_t> process = block.OnlyProcess()) {
      block.ShiftStarts(offsets[*process]);
      continue;
    }
    rows.clear();
    for (size_t i = 0; i < block.size(); ++i) {
      rows.push_back(block[i]);
      rows.back().start_ns += offsets[rows.back().process];
    }
    block = PackedBlock(rows, &memory_);
  }
}

constexpr size_t kLeastOfPart = size_t{1} << 16;  // rows: of fewer, a thread is not worth it
constexpr size_t kPartsOfThread = 4;              // groups differ in size

/// Puts rows in order, group after group; some groups on each thread.
class RowsInOrder {
 public:
  RowsInOrder(AttemptRows rows, const std::vector<uint32_t>& group_of_process) : from_(std::move(rows)) {
    from_.Seal();
    left_ = std::vector<std::atomic<size_t>>(from_.blocks_.size());
    for (uint32_t block = 0; block < from_.blocks_.size(); ++block) {
      left_[block] = from_.blocks_[block].size();
      AddRuns(block, group_of_process);
    }
    SortBy(&runs_, &Run::group);
  }

  AttemptRows Take(const WorkLimits& limits) && {
    std::vector<std::pair<size_t, size_t>> parts;  // runs of whole groups
    const size_t least = std::max(kLeastOfPart, from_.size() / (kPartsOfThread * std::max<size_t>(1, limits.threads)));
    size_t rows = 0;
    for (size_t run = 0; run < runs_.size(); ++run) {
      const bool begins =
          parts.empty() || (rows >= least && limits.threads > 1 && runs_[run].group != runs_[run - 1].group);
      if (begins) parts.emplace_back(run, run), rows = 0;
      parts.back().second = run + 1;
      rows += runs_[run].end - runs_[run].begin;
    }
    std::vector<AttemptRows> ordered(std::max<size_t>(1, parts.size()));
    for (AttemptRows& to : ordered) to.SpillTo(from_.memory_.spill());
    ordered[0].memory_ = std::move(from_.memory_);
    ForEachPart("order", parts.size(), limits, [&](size_t part) {
      for (auto [first, end] = parts[part]; first < end;) {
        size_t last = first;
        while (last < end && runs_[last].group == runs_[first].group) ++last;
        IsInOrder(first, last) ? AddAsTheyAre(first, last, ordered[part]) : AddSorted(first, last, ordered[part]);
        first = last;
      }
      ordered[part].Seal();
    });
    for (size_t part = 1; part < parts.size(); ++part) ordered[0].Take(std::move(ordered[part]));
    ordered[0].Seal();
    return std::move(ordered[0]);
  }

 private:
  void AddRuns(uint32_t index, const std::vector<uint32_t>& group_of_process) {
    const PackedBlock& block = from_.blocks_[index];
    if (const std::optional<uint32_t> process = block.OnlyProcess()) {
      runs_.push_back({group_of_process[*process], index, 0, block.size()});
      return;
    }
    for (uint32_t i = 0; i < block.size(); ++i) {
      const uint32_t group = group_of_process[block[i].process];
      if (i == 0 || runs_.back().group != group) runs_.push_back({group, index, i, i});
      runs_.back().end = i + 1;
    }
  }

  bool IsInOrder(size_t first, size_t last) const {
    std::optional<RowPlace> recent;
    for (size_t run = first; run < last; ++run) {
      const PackedBlock& block = from_.blocks_[runs_[run].block];
      const bool is_known = block.is_in_order() && runs_[run].end - runs_[run].begin == block.size();
      // The first and the last of those that were compared when they were packed.
      const size_t step = is_known ? std::max<size_t>(1, block.size() - 1) : 1;
      for (size_t i = runs_[run].begin; i < runs_[run].end; i += step) {
        const RowPlace place = PlaceOf(block[i]);
        if (recent.has_value() && place < *recent) return false;
        recent = place;
      }
    }
    return true;
  }

  void AddAsTheyAre(size_t first, size_t last, AttemptRows& to) {
    for (size_t run = first; run < last; ++run) {
      PackedBlock& block = from_.blocks_[runs_[run].block];
      const auto is_enough = [](size_t rows) { return rows >= AttemptRows::kLeastOfBlock; };
      const size_t pending = to.pending_.size();
      const bool may_stay = runs_[run].end - runs_[run].begin == block.size() && is_enough(block.size());
      if (may_stay && (pending == 0 || is_enough(pending))) {
        to.AddBlock(std::move(block));
      } else {
        // Together with the few rows before it, it becomes two blocks, so that those behind it may stay as they are.
        const size_t rows = pending + block.size();
        const size_t first_half = may_stay && is_enough(rows / 2) ? rows - rows / 2 : PackedBlock::kMostRows;
        for (size_t i = runs_[run].begin; i < runs_[run].end; ++i) {
          to.Add(block[i]);
          if (to.pending_.size() == first_half) to.Pack();
        }
      }
      Forget(runs_[run].block, runs_[run].end - runs_[run].begin);
    }
  }

  void AddSorted(size_t first, size_t last, AttemptRows& to) {
    struct Where {
      int64_t number;
      uint32_t block;
      uint32_t row;
    };
    size_t count = 0;
    for (size_t run = first; run < last; ++run) count += runs_[run].end - runs_[run].begin;
    const SpilledLists lists(to.memory_.spill(), false);
    LargeList<Where> rows;
    rows.reserve(count);
    for (size_t run = first; run < last; ++run) {
      const PackedBlock& block = from_.blocks_[runs_[run].block];
      for (uint32_t i = runs_[run].begin; i < runs_[run].end; ++i) {
        rows.push_back({block[i].number, runs_[run].block, i});
      }
    }
    const auto row_at = [this](const Where& where) { return from_.blocks_[where.block][where.row]; };
    SortNearlySorted(rows, [&](const Where& a, const Where& b) {
      if (a.number != b.number) return a.number < b.number;
      const RowPlace left = PlaceOf(row_at(a)), right = PlaceOf(row_at(b));
      return std::tie(left, a.block, a.row) < std::tie(right, b.block, b.row);
    });
    for (const Where& where : rows) {
      to.Add(row_at(where));
      Forget(where.block, 1);
    }
  }

  void Forget(size_t block, size_t rows) {
    if (left_[block].fetch_sub(rows) == rows) from_.blocks_[block] = PackedBlock();
  }

  AttemptRows from_;
  std::vector<Run> runs_;
  std::vector<std::atomic<size_t>> left_;  // by block: rows that were not added yet
};

AttemptRows AttemptRows::Ordered(const std::vector<uint32_t>& group_of_process, const WorkLimits& limits) && {
  return RowsInOrder(std::move(*this), group_of_process).Take(limits);
}

void AttemptTotals::Add(const AttemptRow& attempt, const std::vector<HelperTimes>& helpers) {
  AddAttempt(attempt, helpers, *this);
}

void AttemptTotals::Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers) {
  const AttemptRow& row = summed.row;
  first_start_ns = std::min(row.start_ns, first_start_ns.value_or(row.start_ns));
  last_stop_ns = std::max(last_stop_ns, std::optional<int64_t>(summed.stop_ns));
  if (row.is_result) events.Add(Known(row.events), summed.chunks_with_events);
  AddTimes(row, summed.chunks, helpers, *this);
}

StartOrder OrderByStart(const AttemptRows& attempts) {
  using Place = std::pair<int64_t, uint64_t>;  // start, chunk
  bool is_in_order = true;                     // as those of one thread
  size_t count = 0;
  Place recent;
  for (const AttemptRow& attempt : attempts) {
    if (attempt.status != AttemptState::kOk) continue;
    const Place place(attempt.start_ns, attempt.chunk_id);
    is_in_order = is_in_order && (count == 0 || recent <= place);
    recent = place;
    ++count;
  }
  StartOrder order;
  if (is_in_order) return order;
  struct Start {
    int64_t start_ns;
    uint32_t attempt;
  };
  LargeList<Start> starts;
  starts.reserve(count);
  attempts.ForEachOf({{0, attempts.size()}}, [&starts](size_t i, const AttemptRow& attempt) {
    if (attempt.status == AttemptState::kOk) starts.push_back({attempt.start_ns, static_cast<uint32_t>(i)});
  });
  boost::sort::pdqsort(starts.begin(), starts.end(), [&](const Start& a, const Start& b) {
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return attempts[a.attempt].chunk_id < attempts[b.attempt].chunk_id;
  });
  order.reserve(count);
  for (const Start& start : starts) order.push_back(start.attempt);
  return order;
}

AttemptCounts MarkResults(AttemptRows& attempts, const WorkLimits& limits, std::vector<size_t>* repeated) {
  const size_t threads = std::clamp<size_t>(attempts.size() / kLeastOfPart, 1, std::max<size_t>(1, limits.threads));
  std::vector<PartResults> results(threads * (1 + attempts.size() / kMostOfParts));
  ForEachPart("states", results.size(), limits, [&](size_t part) {
    AttemptCounts& counts = results[part].counts;
    attempts.SetResults(part, results.size(), [&counts](const AttemptRow& attempt) {
      counts.num_failed_attempts += attempt.status == AttemptState::kFailed;
      counts.num_lost_attempts += attempt.status == AttemptState::kLost;
      counts.num_open_attempts += attempt.status == AttemptState::kRunning;
      counts.num_unrecorded_attempts += attempt.status == AttemptState::kUnrecorded;
      CountOnly(attempt, 1, counts);
      return attempt.status == AttemptState::kOk;
    });
  });
  ForEachPart("results", results.size(), limits,
              [&](size_t part) { JudgeRepeated(attempts, part, results.size(), results[part]); });
  AttemptCounts counts;
  counts.num_attempts = static_cast<int64_t>(attempts.size());
  for (const PartResults& of_part : results) {
    AddCounts(of_part.counts, counts);
    for (const auto& [attempt, is_result] : of_part.marks) {
      attempts.SetResult(attempt, is_result);
      if (repeated != nullptr) repeated->push_back(attempt);
    }
  }
  if (repeated != nullptr) std::sort(repeated->begin(), repeated->end());
  return counts;
}

AttemptTotals SumAttempts(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                          const std::vector<HelperTimes>& helpers, const AttemptCounts& counts) {
  AttemptTotals totals;
  totals.counts = counts;
  for (const SummedAttempts& sums : summed) totals.Add(sums, helpers);
  for (const AttemptRow& attempt : attempts) AddAttempt(attempt, helpers, totals);
  return totals;
}

}  // namespace crema
