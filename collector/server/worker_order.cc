#include "collector/server/worker_order.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace crema {

WorkerConcern ConcernOf(const LiveModel& model, const LiveWorker& worker) {
  if (worker.state == LiveState::kLost) return WorkerConcern::kVanished;
  if (worker.state != LiveState::kRunning) return WorkerConcern::kEnded;
  return worker.slow_is_warned || worker.memory_is_warned || MemoryMarkOf(model, worker) == Mark::kBad
             ? WorkerConcern::kTroubled
             : WorkerConcern::kRunning;
}

Mark MemoryMarkOf(const LiveModel& model, const LiveWorker& worker) {
  if (worker.memory_limit_bytes.value_or(0) <= 0 || worker.rss_bytes <= 0) return Mark::kGood;
  return MarkOf(MemoryBand(model.engine()),
                static_cast<double>(worker.rss_bytes) / static_cast<double>(*worker.memory_limit_bytes));
}

std::vector<size_t> WorstWorkersFirst(const LiveModel& model, size_t most) {
  const auto& workers = model.workers();
  std::vector<size_t> order;
  for (size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].has_recorded() && !workers[i].is_other()) order.push_back(i);
  }
  const auto rank = [&](size_t i) {
    const bool is_gone = workers[i].state != LiveState::kRunning;
    return std::make_pair(ConcernOf(model, workers[i]), is_gone ? -workers[i].last_ns : static_cast<int64_t>(i));
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  if (order.size() <= most) return order;
  const auto others = std::find_if(order.begin(), order.end(),
                                   [&](size_t i) { return ConcernOf(model, workers[i]) != WorkerConcern::kVanished; });
  const size_t vanished = static_cast<size_t>(others - order.begin());
  const size_t kept = std::max(most / 2, most - std::min(most, order.size() - vanished));
  if (vanished > kept) order.erase(order.begin() + static_cast<int64_t>(kept), others);
  order.resize(std::min(order.size(), most));
  return order;
}

}  // namespace crema
