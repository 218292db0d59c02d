#include "collector/metrics/contents/activity_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

constexpr size_t kLengths = 2 * sizeof(uint32_t);

/// A name for the table: the process, the lengths of the first two texts, the texts. Texts may hold any byte.
std::string Encode(uint64_t process_hash, std::string_view span, const ActivityFact& activity) {
  const uint32_t lengths[] = {static_cast<uint32_t>(span.size()), static_cast<uint32_t>(activity.label.size())};
  std::string name(sizeof(process_hash) + kLengths, '\0');
  std::memcpy(name.data(), &process_hash, sizeof(process_hash));
  std::memcpy(name.data() + sizeof(process_hash), lengths, kLengths);
  return name.append(span).append(activity.label).append(activity.unit);
}

ActivitySumRow Decode(std::string_view name) {
  uint32_t lengths[2];
  name.remove_prefix(sizeof(uint64_t));
  std::memcpy(lengths, name.data(), kLengths);
  name.remove_prefix(kLengths);
  ActivitySumRow row;
  row.span = std::string(name.substr(0, lengths[0]));
  row.activity = std::string(name.substr(lengths[0], lengths[1]));
  row.unit = std::string(name.substr(size_t{lengths[0]} + lengths[1]));
  return row;
}

}  // namespace

ActivityTable::Sum* ActivityTable::Find(const std::string& name, uint32_t log) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index == BoundedNames::kRefused) return nullptr;
  if (index >= sums_.size()) sums_.resize(index + size_t{1}, Sum{log, 0, {}});
  return &sums_[index];
}

void ActivityTable::MakeRoom() {
  if (!names_.full()) return;
  Renumber(sums_, names_.Prune(), names_.size(), [this](const Sum& sum) { dropped_ += sum.readings; });
}

void ActivityTable::Add(const LogRef& log, const ChunkFact& chunk) {
  if (chunk.activities.empty()) return;
  for (const ActivityFact& activity : chunk.activities) {
    if (!activity.value.has_value()) {
      ++dropped_;  // it was not finite
      continue;
    }
    Sum* sum = Find(Encode(log.process_hash, chunk.span, activity), log.index);
    if (sum == nullptr) {
      ++dropped_;
      continue;
    }
    ++sum->readings;
    sum->value.Add(*activity.value);
  }
  MakeRoom();
}

void ActivityTable::Merge(const ActivityTable& other, const std::vector<uint32_t>& logs) {
  dropped_ += other.dropped_;
  for (uint32_t i = 0; i < other.names_.size(); ++i) {
    Sum* sum = Find(other.names_.name(i), logs[other.sums_[i].log]);
    if (sum == nullptr) {
      dropped_ += other.sums_[i].readings;
      continue;
    }
    sum->readings += other.sums_[i].readings;
    sum->value.Add(other.sums_[i].value);
  }
  MakeRoom();
}

std::vector<ActivitySumRow> ActivityTable::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  ActivityTable pruned = *this;
  Renumber(pruned.sums_, pruned.names_.Prune(), pruned.names_.size(),
           [&pruned](const Sum& sum) { pruned.dropped_ += sum.readings; });
  std::vector<ActivitySumRow> rows;
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    ActivitySumRow row = Decode(pruned.names_.name(i));
    row.process = processes.process_of_log[pruned.sums_[i].log];
    const double value = pruned.sums_[i].value.value();
    if (std::isfinite(value)) row.value = value;
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const ActivitySumRow& a, const ActivitySumRow& b) {
    return std::tie(a.process, a.span, a.activity, a.unit) < std::tie(b.process, b.span, b.activity, b.unit);
  });
  *dropped = pruned.dropped_;
  return rows;
}

}  // namespace crema
