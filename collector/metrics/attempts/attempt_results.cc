#include "collector/metrics/attempts/attempt_results.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <cstddef>

namespace crema {
namespace {

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

// One of so many parts of the chunks: of very many attempts a part is looked at after the other, in little memory.
struct PartOfChunks {
  size_t index = 0;
  size_t count = 1;

  bool Has(uint64_t chunk_id) const { return count == 1 || chunk_id % count == index; }
};

constexpr size_t kMostOfPart = size_t{1} << 24;  // attempts: 64 MB for the sieves

// Finds the attempts at chunks that were attempted more than once, and a few others: nearly all chunks are attempted
// once, and need no sorting.
class RepeatedChunks {
 public:
  RepeatedChunks(size_t attempts, PartOfChunks part)
      : part_(part), seen_(attempts / part.count), repeated_(attempts / part.count) {}
  // Each attempt, before any is looked for.
  void See(const AttemptRow& attempt) {
    if (!part_.Has(attempt.chunk_id)) return;
    if (seen_.Has(attempt.chunk_id)) {
      repeated_.Add(attempt.chunk_id);
    } else {
      seen_.Add(attempt.chunk_id);
    }
  }
  std::vector<ChunkAttempt> SortByChunk(const AttemptRows& attempts) const;

 private:
  PartOfChunks part_;
  HashSieve seen_;
  HashSieve repeated_;
};

std::vector<ChunkAttempt> RepeatedChunks::SortByChunk(const AttemptRows& attempts) const {
  std::vector<ChunkAttempt> found;
  uint32_t i = 0;
  for (const AttemptRow& attempt : attempts) {
    if (part_.Has(attempt.chunk_id) && repeated_.Has(attempt.chunk_id)) found.push_back({attempt.chunk_id, i});
    ++i;
  }
  boost::sort::pdqsort_branchless(found.begin(), found.end(),
                                  [](const ChunkAttempt& a, const ChunkAttempt& b) { return a.chunk_id < b.chunk_id; });
  return found;
}

// The attempts at one chunk, in the order given.
using ChunkAttempts = std::vector<ChunkAttempt>::const_iterator;

void MarkResult(AttemptRows& attempts, ChunkAttempts first, ChunkAttempts last) {
  auto result = last;
  for (auto at = first; at != last; ++at) {
    const AttemptRow attempt = attempts[at->attempt];
    attempts.SetResult(at->attempt, false);
    if (attempt.status != AttemptState::kOk) continue;
    if (result == last || attempt.stop_ns() >= attempts[result->attempt].stop_ns()) result = at;
  }
  if (result != last) attempts.SetResult(result->attempt, true);
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

void MarkRepeated(const RepeatedChunks& repeated, AttemptRows& attempts, AttemptCounts& counts) {
  std::vector<ChunkAttempt> by_chunk = repeated.SortByChunk(attempts);
  for (auto first = by_chunk.begin(); first != by_chunk.end();) {
    auto last = first + 1;
    while (last != by_chunk.end() && last->chunk_id == first->chunk_id) ++last;
    std::sort(first, last, [](const ChunkAttempt& a, const ChunkAttempt& b) { return a.attempt < b.attempt; });
    MarkResult(attempts, first, last);
    CountChunk(attempts, first, last, counts);
    first = last;
  }
}

std::optional<int64_t> Sum(const std::optional<int64_t>& one, const std::optional<int64_t>& other) {
  if (!one.has_value() || !other.has_value()) return std::nullopt;
  return AddCounts(*one, *other);
}

/// The times of an ended attempt, or of so many together.
void AddTimes(const AttemptRow& row, int64_t chunks, const std::vector<HelperTimes>& helpers, AttemptTotals& totals) {
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
  totals.lane_cpu_wait_ns.Add(Sum(Known(row.cpu_wait_ns), HelperCpuWait(row, helpers)), chunks);
  totals.lane_blocked_ns.Add(Sum(blocked_ns, HelperBlocked(row, helpers)), chunks);
  totals.system_cpu_ns.Add(Known(row.system_cpu_ns), chunks);
  totals.minor_faults.Add(Known(row.minor_faults), chunks);
  totals.major_faults.Add(Known(row.major_faults), chunks);
  const std::optional<OwnerTime> owner = SplitOwnerTime(row, helpers);
  if (owner.has_value()) totals.joined_ns.Add(owner->joined_ns, chunks);
  const int64_t scope_ns = row.helpers == AttemptRow::kNone ? 0 : helpers[row.helpers].scope_ns;
  totals.lane_ns.Add(WholeLaneTime(row, scope_ns, owner), chunks);
}

void Add(const SummedAttempts& summed, const std::vector<HelperTimes>& helpers, AttemptTotals& totals) {
  const AttemptRow& row = summed.row;
  totals.first_start_ns = std::min(row.start_ns, totals.first_start_ns.value_or(row.start_ns));
  totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(summed.stop_ns));
  if (row.is_result) totals.events.Add(Known(row.events), summed.chunks_with_events);
  AddTimes(row, summed.chunks, helpers, totals);
}

}  // namespace

AttemptCounts MarkResults(AttemptRows& attempts) {
  AttemptCounts counts;
  counts.num_attempts = static_cast<int64_t>(attempts.size());
  PartOfChunks part = {0, 1 + attempts.size() / kMostOfPart};
  std::optional<RepeatedChunks> repeated;
  repeated.emplace(attempts.size(), part);
  attempts.SetResults([&](const AttemptRow& attempt) {
    counts.num_failed_attempts += attempt.status == AttemptState::kFailed;
    counts.num_lost_attempts += attempt.status == AttemptState::kLost;
    counts.num_open_attempts += attempt.status == AttemptState::kRunning;
    counts.num_unrecorded_attempts += attempt.status == AttemptState::kUnrecorded;
    CountOnly(attempt, 1, counts);
    repeated->See(attempt);
    return attempt.status == AttemptState::kOk;
  });
  MarkRepeated(*repeated, attempts, counts);
  for (++part.index; part.index < part.count; ++part.index) {
    repeated.reset();  // one after the other: each takes much
    repeated.emplace(attempts.size(), part);
    for (const AttemptRow& attempt : attempts) repeated->See(attempt);
    MarkRepeated(*repeated, attempts, counts);
  }
  return counts;
}

AttemptTotals SumAttempts(const AttemptRows& attempts, const std::vector<SummedAttempts>& summed,
                          const std::vector<HelperTimes>& helpers, const AttemptCounts& counts) {
  AttemptTotals totals;
  totals.counts = counts;
  for (const SummedAttempts& sums : summed) Add(sums, helpers, totals);
  for (const AttemptRow& attempt : attempts) {
    totals.first_start_ns = std::min(attempt.start_ns, totals.first_start_ns.value_or(attempt.start_ns));
    if (attempt.is_result) totals.events.Add(Known(attempt.events));
    if (!HasEnded(attempt)) continue;
    totals.last_stop_ns = std::max(totals.last_stop_ns, std::optional<int64_t>(attempt.stop_ns()));
    AddTimes(attempt, 1, helpers, totals);
    totals.rss_delta_bytes.Add(RssDelta(attempt));
  }
  return totals;
}

}  // namespace crema
