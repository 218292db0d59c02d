#include "collector/metrics/contents/activity_table.h"

#include <utility>

namespace crema {

void ActivityTable::Add(const LogRef& log, const ChunkFact& chunk) {
  if (chunk.activities.empty()) return;
  for (const ActivityFact& activity : chunk.activities) {
    sums_.Add(log, {chunk.span, activity.label, activity.unit}, activity.value);
  }
  sums_.MakeRoom();
}

void ActivityTable::Add(const LogRef& log, const SumsFact& sums) {
  for (const ActivityFact& activity : sums.activities) {
    sums_.Add(log, {"", activity.label, activity.unit}, activity.value);
    sums_.MakeRoom();
  }
}

void ActivityTable::Merge(const ActivityTable& other, const std::vector<uint32_t>& logs) {
  sums_.Merge(other.sums_, logs);
}

std::vector<ActivitySumRow> ActivityTable::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  std::vector<ActivitySumRow> rows;
  for (ProcessSums::Row& sum : sums_.Finalize(processes, dropped)) {
    std::vector<std::string>& texts = sum.texts;
    rows.push_back({sum.process, std::move(texts[0]), std::move(texts[1]), std::move(texts[2]), sum.value});
  }
  return rows;
}

}  // namespace crema
