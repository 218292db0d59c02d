#include "collector/metrics/contents/cut_table.h"

#include <algorithm>
#include <cstring>

#include "collector/metrics/contents/cut_order.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/metrics/statistics/real_sum.h"

namespace crema {

// Base 128, lowest digits first; the top bit says that more follow.
void CutTable::AppendNumber(uint64_t number) {
  for (; number >= 128; number /= 128) readings_.push_back(static_cast<char>(number % 128 + 128));
  readings_.push_back(static_cast<char>(number));
}

uint64_t CutTable::TakeNumber(uint64_t& offset) const {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(readings_[offset++]);
    number |= static_cast<uint64_t>(byte % 128) << shift;
    if (byte < 128) return number;
  }
}

void CutTable::Append(const Reading& reading) {
  AppendNumber(reading.cut);
  AppendNumber(reading.events);
  AppendNumber(reading.weights.has_value());
  if (reading.weights.has_value()) {
    char bytes[sizeof(double)];
    std::memcpy(bytes, &*reading.weights, sizeof(bytes));
    readings_.append(bytes, sizeof(bytes));
  }
}

CutTable::Reading CutTable::Take(uint64_t& offset) const {
  Reading reading;
  reading.cut = static_cast<uint32_t>(TakeNumber(offset));
  reading.events = TakeNumber(offset);
  if (TakeNumber(offset) != 0) {
    std::memcpy(&reading.weights.emplace(), readings_.data() + offset, sizeof(double));
    offset += sizeof(double);
  }
  return reading;
}

uint32_t CutTable::Intern(std::string_view name) {
  const auto found = index_.find(absl::string_view(name.data(), name.size()));
  if (found != index_.end()) return found->second;
  names_.emplace_back(name);
  const auto index = static_cast<uint32_t>(names_.size() - 1);
  index_.emplace(names_.back(), index);
  return index;
}

void CutTable::Add(const LogRef& log, const ChunkFact& chunk) {
  if (chunk.cuts.empty() || chunk.failed) return;  // a failed attempt is never a result
  attempts_.push_back({AttemptKey(log.index, chunk.number), readings_.size()});
  Append(chunk.cuts);
}

void CutTable::Add(const SumsFact& sums) {
  if (sums.cuts.empty() || sums.failed) return;
  of_results_.push_back(readings_.size());
  Append(sums.cuts);
}

void CutTable::Append(const std::vector<CutFact>& cuts) {
  AppendNumber(cuts.size());
  for (size_t i = 0; i < cuts.size(); ++i) {
    const CutFact& cut = cuts[i];
    const uint32_t index = recent_.IndexOf(i, cut.name, "", [&] { return Intern(cut.name); });
    Append({index, static_cast<uint64_t>(cut.events), cut.weights});
  }
}

void CutTable::Merge(const CutTable& other, const std::vector<uint32_t>& logs) {
  std::vector<uint32_t> cuts;
  for (const std::string& name : other.names_) cuts.push_back(Intern(name));
  for (const Attempt& attempt : other.attempts_) {
    attempts_.push_back({AttemptKey(logs[attempt.key.first], attempt.key.second), readings_.size()});
    uint64_t offset = attempt.offset;
    const uint64_t count = other.TakeNumber(offset);
    AppendNumber(count);
    for (uint64_t i = 0; i < count; ++i) {
      Reading reading = other.Take(offset);
      reading.cut = cuts[reading.cut];
      Append(reading);
    }
  }
}

std::vector<CutRow> CutTable::Finalize(const std::vector<AttemptKey>& results, int64_t* dropped) const {
  struct Sums {
    int64_t events = 0;
    RealSum weights;
    bool all_weighted = true;
  };
  *dropped = 0;
  std::vector<Sums> sums(names_.size());
  CutPrecedence precedence{names_, std::vector<int64_t>(names_.size(), -1), {}};
  std::vector<Attempt> attempts = attempts_;
  std::sort(attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) { return a.key < b.key; });
  std::vector<uint64_t> offsets = of_results_;
  for (const Attempt& attempt : attempts) {
    if (std::binary_search(results.begin(), results.end(), attempt.key)) offsets.push_back(attempt.offset);
  }
  for (uint64_t offset : offsets) {
    const uint64_t count = TakeNumber(offset);
    uint32_t previous = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const Reading reading = Take(offset);
      Sums& cut = sums[reading.cut];
      cut.events = AddCounts(cut.events, static_cast<int64_t>(reading.events));
      cut.all_weighted &= reading.weights.has_value();
      if (reading.weights.has_value()) cut.weights.Add(*reading.weights);
      precedence.position[reading.cut] = std::max(precedence.position[reading.cut], static_cast<int64_t>(i));
      if (i > 0) precedence.before.emplace(previous, reading.cut);
      previous = reading.cut;
    }
  }
  std::vector<CutRow> rows;
  const auto ratio = [](int64_t part, int64_t whole) {
    return whole > 0 ? std::optional<double>(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
  };
  for (const uint32_t index : OrderCuts(precedence)) {
    if (precedence.position[index] < 0) continue;  // recorded by no result
    if (rows.size() == kMaxCuts) {
      ++*dropped;
      continue;
    }
    const Sums& cut = sums[index];
    CutRow row;
    row.name = names_[index];
    row.events = cut.events;
    if (cut.all_weighted) row.weights = cut.weights.value();
    row.step_efficiency = ratio(cut.events, rows.empty() ? cut.events : rows.back().events);
    row.total_efficiency = ratio(cut.events, rows.empty() ? cut.events : rows.front().events);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace crema
