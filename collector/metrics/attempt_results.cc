#include "collector/metrics/attempt_results.h"

#include <algorithm>
#include <numeric>

namespace crema {
namespace {

// Indices of the attempts, those at one chunk side by side in the order given.
std::vector<uint32_t> GroupByChunk(const std::vector<AttemptRow>& attempts) {
  std::vector<uint32_t> order(attempts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return attempts[a].chunk_id != attempts[b].chunk_id ? attempts[a].chunk_id < attempts[b].chunk_id : a < b;
  });
  return order;
}

// Calls `on_chunk(first, last)` with the range of each chunk's attempts.
template <class OnChunk>
void ForEachChunk(const std::vector<AttemptRow>& attempts, const std::vector<uint32_t>& order,
                  const OnChunk& on_chunk) {
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() && attempts[*last].chunk_id == attempts[*first].chunk_id) ++last;
    on_chunk(first, last);
    first = last;
  }
}

}  // namespace

void MarkResults(std::vector<AttemptRow>& attempts) {
  const std::vector<uint32_t> order = GroupByChunk(attempts);
  ForEachChunk(attempts, order, [&](auto first, auto last) {
    AttemptRow* result = nullptr;
    for (auto at = first; at != last; ++at) {
      AttemptRow& attempt = attempts[*at];
      attempt.is_result = false;
      if (attempt.status != AttemptStatus::kOk) continue;
      if (result == nullptr || attempt.stop_ns() >= result->stop_ns()) result = &attempt;
    }
    if (result != nullptr) result->is_result = true;
  });
}

AttemptCounts CountAttempts(const std::vector<AttemptRow>& attempts) {
  AttemptCounts counts;
  counts.num_attempts = static_cast<int64_t>(attempts.size());
  const std::vector<uint32_t> order = GroupByChunk(attempts);
  ForEachChunk(attempts, order, [&](auto first, auto last) {
    int64_t ok = 0;
    int64_t latest_start_ns = attempts[*first].start_ns;
    for (auto at = first; at != last; ++at) latest_start_ns = std::max(latest_start_ns, attempts[*at].start_ns);
    bool retried = false;
    for (auto at = first; at != last; ++at) {
      const AttemptRow& attempt = attempts[*at];
      const bool failed = attempt.status == AttemptStatus::kFailed;
      const bool lost = attempt.status == AttemptStatus::kLost;
      ok += attempt.status == AttemptStatus::kOk;
      counts.num_failed_attempts += failed;
      counts.num_lost_attempts += lost;
      counts.num_open_attempts += attempt.status == AttemptStatus::kOpen;
      retried |= (failed || lost) && latest_start_ns > attempt.start_ns;
    }
    counts.num_chunks += ok > 0;
    counts.num_unfinished_chunks += ok == 0;
    counts.num_recomputed_chunks += ok > 1;
    counts.num_retried_chunks += retried;
  });
  return counts;
}

}  // namespace crema
