#include "collector/metrics/workers/process_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

/// A name for the table: the process, then each text with its length before it. Texts may hold any byte.
std::string Encode(uint64_t process_hash, std::initializer_list<std::string_view> texts) {
  std::string name(reinterpret_cast<const char*>(&process_hash), sizeof(process_hash));
  for (std::string_view text : texts) {
    const auto length = static_cast<uint32_t>(text.size());
    name.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
  }
  return name;
}

std::vector<std::string> DecodeTexts(std::string_view name) {
  std::vector<std::string> texts;
  name.remove_prefix(sizeof(uint64_t));
  while (!name.empty()) {
    uint32_t length = 0;
    std::memcpy(&length, name.data(), sizeof(length));
    texts.emplace_back(name.substr(sizeof(length), length));
    name.remove_prefix(sizeof(length) + length);
  }
  return texts;
}

}  // namespace

ProcessSums::Sum* ProcessSums::Find(std::string_view name, uint32_t log) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index == BoundedNames::kRefused) return nullptr;
  if (index >= sums_.size()) sums_.resize(index + size_t{1}, Sum{log, 0, {}});
  return &sums_[index];
}

void ProcessSums::MakeRoom() {
  if (!names_.full()) return;
  Renumber(sums_, names_.Prune(), names_.size(), [this](const Sum& sum) { dropped_ += sum.readings; });
}

void ProcessSums::Add(const LogRef& log, std::initializer_list<std::string_view> texts, std::optional<double> value) {
  const bool is_finite = value.has_value() && std::isfinite(*value);
  Sum* sum = is_finite ? Find(Encode(log.process_hash, texts), log.index) : nullptr;
  if (sum == nullptr) {
    ++dropped_;
    return;
  }
  ++sum->readings;
  sum->value.Add(*value);
}

void ProcessSums::Merge(const ProcessSums& other, const std::vector<uint32_t>& logs) {
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

std::vector<ProcessSums::Row> ProcessSums::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  ProcessSums pruned = *this;
  Renumber(pruned.sums_, pruned.names_.Prune(), pruned.names_.size(),
           [&pruned](const Sum& sum) { pruned.dropped_ += sum.readings; });
  std::vector<Row> rows;
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    Row& row = rows.emplace_back();
    row.process = processes.process_of_log[pruned.sums_[i].log];
    row.texts = DecodeTexts(pruned.names_.name(i));
    const double value = pruned.sums_[i].value.value();
    if (std::isfinite(value)) row.value = value;
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return std::tie(a.process, a.texts) < std::tie(b.process, b.texts); });
  *dropped = pruned.dropped_;
  return rows;
}

}  // namespace crema
