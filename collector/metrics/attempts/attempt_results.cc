#include "collector/metrics/attempts/attempt_results.h"

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <utility>

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

constexpr size_t kMostOfParts = size_t{1} << 24;  // attempts, of all parts at once: 64 MB for the sieves
constexpr size_t kLeastOfPart = size_t{1} << 16;  // of fewer, a thread is not worth it

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
  uint32_t i = 0;
  for (const AttemptRow& attempt : attempts) {
    const uint64_t chunk_id = attempt.chunk_id;
    if (has(chunk_id) && repeated.Has(chunk_id)) found.push_back({chunk_id, i});
    ++i;
  }
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

void Add(const AttemptCounts& other, AttemptCounts& counts) {
  for (const auto count :
       {&AttemptCounts::num_chunks, &AttemptCounts::num_failed_attempts, &AttemptCounts::num_lost_attempts,
        &AttemptCounts::num_open_attempts, &AttemptCounts::num_unrecorded_attempts, &AttemptCounts::num_retried_chunks,
        &AttemptCounts::num_recomputed_chunks, &AttemptCounts::num_unfinished_chunks}) {
    counts.*count += other.*count;
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
    Add(of_part.counts, counts);
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
