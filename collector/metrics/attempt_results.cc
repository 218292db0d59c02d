#include "collector/metrics/attempt_results.h"

#include <algorithm>

namespace crema {
namespace {

struct ChunkAttempt {
  uint64_t chunk_id;
  uint32_t attempt;  // index

  bool operator<(const ChunkAttempt& other) const {
    return chunk_id != other.chunk_id ? chunk_id < other.chunk_id : attempt < other.attempt;
  }
};

// The attempts at one chunk, in the order given.
using ChunkAttempts = std::vector<ChunkAttempt>::const_iterator;

void MarkResult(std::vector<AttemptRow>& attempts, ChunkAttempts first, ChunkAttempts last) {
  AttemptRow* result = nullptr;
  for (auto at = first; at != last; ++at) {
    AttemptRow& attempt = attempts[at->attempt];
    attempt.is_result = false;
    if (attempt.status != AttemptStatus::kOk) continue;
    if (result == nullptr || attempt.stop_ns() >= result->stop_ns()) result = &attempt;
  }
  if (result != nullptr) result->is_result = true;
}

void CountChunk(const std::vector<AttemptRow>& attempts, ChunkAttempts first, ChunkAttempts last,
                AttemptCounts& counts) {
  int64_t latest_start_ns = attempts[first->attempt].start_ns;
  for (auto at = first; at != last; ++at) latest_start_ns = std::max(latest_start_ns, attempts[at->attempt].start_ns);
  int64_t ok = 0;
  bool retried = false;
  for (auto at = first; at != last; ++at) {
    const AttemptRow& attempt = attempts[at->attempt];
    const bool failed = attempt.status == AttemptStatus::kFailed;
    const bool lost = attempt.status == AttemptStatus::kLost;
    ok += attempt.status == AttemptStatus::kOk;
    counts.num_failed_attempts += failed;
    counts.num_lost_attempts += lost;
    counts.num_open_attempts += attempt.status == AttemptStatus::kOpen;
    retried |= (failed || lost) && latest_start_ns > attempt.start_ns;
  }
  counts.num_attempts += last - first;
  counts.num_chunks += ok > 0;
  counts.num_unfinished_chunks += ok == 0;
  counts.num_recomputed_chunks += ok > 1;
  counts.num_retried_chunks += retried;
}

}  // namespace

AttemptCounts MarkResults(std::vector<AttemptRow>& attempts) {
  std::vector<ChunkAttempt> by_chunk;
  by_chunk.reserve(attempts.size());
  for (uint32_t i = 0; i < attempts.size(); ++i) by_chunk.push_back({attempts[i].chunk_id, i});
  std::sort(by_chunk.begin(), by_chunk.end());
  AttemptCounts counts;
  for (auto first = by_chunk.cbegin(); first != by_chunk.cend();) {
    auto last = first + 1;
    while (last != by_chunk.cend() && last->chunk_id == first->chunk_id) ++last;
    MarkResult(attempts, first, last);
    CountChunk(attempts, first, last, counts);
    first = last;
  }
  return counts;
}

}  // namespace crema
