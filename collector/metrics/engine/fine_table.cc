#include "collector/metrics/engine/fine_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

/// A name for the table: the process, then each text with its length before it. Texts may hold any byte.
std::string Encode(uint64_t process_hash, const FineRowFact& row) {
  std::string name(reinterpret_cast<const char*>(&process_hash), sizeof(process_hash));
  for (std::string_view text : {row.context, row.span, row.function, row.activity, row.unit}) {
    const auto length = static_cast<uint32_t>(text.size());
    name.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(text);
  }
  return name;
}

FineRow Decode(std::string_view name) {
  FineRow row;
  name.remove_prefix(sizeof(uint64_t));
  for (std::string* text : {&row.context, &row.span, &row.function, &row.activity, &row.unit}) {
    uint32_t length = 0;
    std::memcpy(&length, name.data(), sizeof(length));
    *text = std::string(name.substr(sizeof(length), length));
    name.remove_prefix(sizeof(length) + length);
  }
  return row;
}

}  // namespace

FineTable::Sum* FineTable::Find(std::string_view name, uint32_t log) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index == BoundedNames::kRefused) return nullptr;
  if (index >= sums_.size()) sums_.resize(index + size_t{1}, Sum{log, 0, {}});
  return &sums_[index];
}

void FineTable::MakeRoom() {
  if (!names_.full()) return;
  Renumber(sums_, names_.Prune(), names_.size(), [this](const Sum& sum) { dropped_ += sum.readings; });
}

void FineTable::Add(const LogRef& log, const FineFact& fact) {
  for (const FineRowFact& row : fact.rows) {
    Sum* sum = std::isfinite(row.value) ? Find(Encode(log.process_hash, row), log.index) : nullptr;
    if (sum == nullptr) {
      ++dropped_;
      continue;
    }
    ++sum->readings;
    sum->value.Add(row.value);
  }
  MakeRoom();
}

void FineTable::Merge(const FineTable& other, const std::vector<uint32_t>& logs) {
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

std::vector<FineRow> FineTable::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  FineTable pruned = *this;
  Renumber(pruned.sums_, pruned.names_.Prune(), pruned.names_.size(),
           [&pruned](const Sum& sum) { pruned.dropped_ += sum.readings; });
  std::vector<FineRow> rows;
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    FineRow row = Decode(pruned.names_.name(i));
    row.process = processes.process_of_log[pruned.sums_[i].log];
    row.value = pruned.sums_[i].value.value();
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const FineRow& a, const FineRow& b) {
    return std::tie(a.process, a.context, a.span, a.function, a.activity, a.unit) <
           std::tie(b.process, b.context, b.span, b.function, b.activity, b.unit);
  });
  *dropped = pruned.dropped_;
  return rows;
}

}  // namespace crema
