#include "collector/metrics/workers/worker_rows.h"

#include <algorithm>
#include <numeric>

#include "collector/metrics/statistics/bounded_names.h"

namespace crema {
namespace {

/// The processes that have no row of their own, by index.
std::vector<bool> FindOthers(const std::vector<ProcessRow>& processes, const AttemptRows& attempts,
                             const std::vector<SummedAttempts>& summed) {
  std::vector<bool> is_other(processes.size(), false);
  if (processes.size() <= WorkerRows::kMost) return is_other;
  std::vector<double> busy_ns(processes.size(), 0);
  for (const AttemptRow& row : attempts)
    busy_ns[row.process] += static_cast<double>(std::max(row.duration_ns, int64_t{0}));
  for (const SummedAttempts& sums : summed) busy_ns[sums.row.process] += static_cast<double>(sums.row.duration_ns);
  std::vector<uint32_t> order(processes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto last = order.begin() + WorkerRows::kMost;
  const auto is_lost = [&](uint32_t process) { return processes[process].state == ProcessState::kLost; };
  std::nth_element(order.begin(), last, order.end(), [&](uint32_t a, uint32_t b) {
    if (is_lost(a) != is_lost(b)) return is_lost(a);
    return busy_ns[a] != busy_ns[b] ? busy_ns[a] > busy_ns[b] : a < b;
  });
  for (auto other = last; other != order.end(); ++other) is_other[*other] = true;
  return is_other;
}

}  // namespace

WorkerRows ChooseWorkerRows(const std::vector<ProcessRow>& processes, const AttemptRows& attempts,
                            const std::vector<SummedAttempts>& summed, const std::vector<ByteSums>& bytes_of_process) {
  const std::vector<bool> is_other = FindOthers(processes, attempts, summed);
  WorkerRows rows;
  rows.bytes.resize(processes.size() + 1);
  const auto other = static_cast<uint32_t>(processes.size());
  for (uint32_t i = 0; i < other; ++i) {
    const uint32_t group = is_other[i] ? other : i;
    rows.group_of_process.push_back(group);
    rows.names.push_back(is_other[i] ? std::string() : processes[i].worker());
    if (i < bytes_of_process.size()) rows.bytes[group].Add(bytes_of_process[i]);
  }
  rows.names.emplace_back(kOtherName);
  return rows;
}

}  // namespace crema
