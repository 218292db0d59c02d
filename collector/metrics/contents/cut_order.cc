#include "collector/metrics/contents/cut_order.h"

#include <tuple>

namespace crema {

std::vector<uint32_t> OrderCuts(const CutPrecedence& cuts) {
  // (what must still come before it, position, name, index): the next cut is always the first.
  using Waiting = std::tuple<int64_t, int64_t, std::string, uint32_t>;
  const auto count = static_cast<uint32_t>(cuts.names.size());
  std::vector<int64_t> blockers(count, 0);
  std::vector<std::vector<uint32_t>> after(count);
  for (const auto& [first, second] : cuts.before) {
    if (first == second) continue;
    ++blockers[second];
    after[first].push_back(second);
  }
  const auto waiting_of = [&](uint32_t cut) {
    return Waiting(blockers[cut] > 0, cuts.position[cut], cuts.names[cut], cut);
  };
  std::set<Waiting> waiting;
  for (uint32_t cut = 0; cut < count; ++cut) waiting.insert(waiting_of(cut));
  std::vector<uint32_t> order;
  std::vector<bool> placed(count, false);
  while (!waiting.empty()) {
    const uint32_t cut = std::get<3>(*waiting.begin());
    waiting.erase(waiting.begin());
    order.push_back(cut);
    placed[cut] = true;
    for (const uint32_t next : after[cut]) {
      if (placed[next]) continue;
      waiting.erase(waiting_of(next));
      --blockers[next];
      waiting.insert(waiting_of(next));
    }
  }
  return order;
}

}  // namespace crema
