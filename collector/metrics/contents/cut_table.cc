#include "collector/metrics/contents/cut_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "collector/metrics/contents/cut_order.h"
#include "collector/metrics/statistics/known_sum.h"
#include "collector/metrics/statistics/real_sum.h"
#include "collector/metrics/statistics/stable_hash.h"

namespace crema {

// Base 128, lowest digits first; the top bit says that more follow.
void CutTable::AppendNumber(uint64_t number) {
  for (; number >= 128; number /= 128) readings_.push_back(static_cast<char>(number % 128 + 128));
  readings_.push_back(static_cast<char>(number));
}

uint64_t CutTable::TakeNumber(const std::string& readings, uint64_t& offset) {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(readings[offset++]);
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

CutTable::Reading CutTable::Take(const std::string& readings, uint64_t& offset) {
  Reading reading;
  reading.cut = static_cast<uint32_t>(TakeNumber(readings, offset));
  reading.events = TakeNumber(readings, offset);
  if (TakeNumber(readings, offset) != 0) {
    std::memcpy(&reading.weights.emplace(), readings.data() + offset, sizeof(double));
    offset += sizeof(double);
  }
  return reading;
}

uint32_t CutTable::Intern(std::string_view name) { return names_.Intern(name, HashOf(name)); }

void CutTable::MakeRoom() {
  if (names_.full()) Renumber(names_.Prune());
}

void CutTable::Renumber(const Renumbering& renumbering) {
  recent_.Clear();
  const std::string old = std::exchange(readings_, {});
  const auto renumber = [&](uint64_t& place) {
    uint64_t offset = std::exchange(place, readings_.size());
    std::vector<Reading> kept;
    for (uint64_t left = TakeNumber(old, offset); left > 0; --left) {
      Reading reading = Take(old, offset);
      reading.cut = renumbering[reading.cut];
      if (reading.cut != BoundedNames::kRefused) kept.push_back(reading);
      refused_ += reading.cut == BoundedNames::kRefused;
    }
    AppendAll(kept);
  };
  for (Attempt& attempt : attempts_) renumber(attempt.offset);
  for (uint64_t& offset : of_results_) renumber(offset);
}

void CutTable::AppendAll(const std::vector<Reading>& readings) {
  AppendNumber(readings.size());
  for (const Reading& reading : readings) Append(reading);
}

void CutTable::Add(const LogRef& log, const ChunkFact& chunk) {
  if (chunk.cuts.empty() || chunk.failed) return;  // a failed attempt is never a result
  attempts_.push_back({AttemptKey(log.index, chunk.number), readings_.size()});
  AppendAll(KnownReadings(chunk.cuts));
  MakeRoom();
}

void CutTable::Add(const SumsFact& sums) {
  if (sums.cuts.empty() || sums.failed) return;
  of_results_.push_back(readings_.size());
  AppendAll(KnownReadings(sums.cuts));
  MakeRoom();
}

std::vector<CutTable::Reading> CutTable::KnownReadings(const std::vector<CutFact>& cuts) {
  std::vector<Reading> readings;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const CutFact& cut = cuts[i];
    const uint32_t index = recent_.IndexOf(i, cut.name, "", [&] { return Intern(cut.name); });
    if (index != BoundedNames::kRefused) readings.push_back({index, static_cast<uint64_t>(cut.events), cut.weights});
    refused_ += index == BoundedNames::kRefused;
  }
  return readings;
}

void CutTable::Merge(const CutTable& other, const std::vector<uint32_t>& logs) {
  refused_ += other.refused_;
  std::vector<uint32_t> cuts;
  for (uint32_t i = 0; i < other.names_.size(); ++i) cuts.push_back(Intern(other.names_.name(i)));
  const auto take = [&](uint64_t offset) {
    std::vector<Reading> readings;
    for (uint64_t left = TakeNumber(other.readings_, offset); left > 0; --left) {
      Reading reading = Take(other.readings_, offset);
      reading.cut = cuts[reading.cut];
      if (reading.cut != BoundedNames::kRefused) readings.push_back(reading);
      refused_ += reading.cut == BoundedNames::kRefused;
    }
    AppendAll(readings);
  };
  for (const Attempt& attempt : other.attempts_) {
    attempts_.push_back({AttemptKey(logs[attempt.key.first], attempt.key.second), readings_.size()});
    take(attempt.offset);
  }
  for (const uint64_t offset : other.of_results_) {
    of_results_.push_back(readings_.size());
    take(offset);
  }
  MakeRoom();
}

std::vector<CutRow> CutTable::Finalize(const std::vector<AttemptKey>& results, int64_t* dropped) const {
  if (names_.size() > kMaxNames) {
    CutTable pruned = *this;
    pruned.Renumber(pruned.names_.Prune());
    return pruned.Finalize(results, dropped);
  }
  struct Sums {
    int64_t readings = 0;
    int64_t events = 0;
    RealSum weights;
    bool all_weighted = true;
  };
  *dropped = refused_;
  std::vector<Sums> sums(names_.size());
  CutPrecedence precedence{{}, std::vector<int64_t>(names_.size(), -1), {}};
  for (uint32_t i = 0; i < names_.size(); ++i) precedence.names.push_back(names_.name(i));
  std::vector<Attempt> attempts = attempts_;
  std::sort(attempts.begin(), attempts.end(), [](const Attempt& a, const Attempt& b) { return a.key < b.key; });
  std::vector<uint64_t> offsets = of_results_;
  for (const Attempt& attempt : attempts) {
    if (std::binary_search(results.begin(), results.end(), attempt.key)) offsets.push_back(attempt.offset);
  }
  for (uint64_t offset : offsets) {
    const uint64_t count = TakeNumber(readings_, offset);
    uint32_t previous = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const Reading reading = Take(readings_, offset);
      Sums& cut = sums[reading.cut];
      ++cut.readings;
      cut.events = AddCounts(cut.events, static_cast<int64_t>(reading.events));
      cut.all_weighted &= reading.weights.has_value();
      if (reading.weights.has_value()) cut.weights.Add(*reading.weights);
      precedence.position[reading.cut] = std::max(precedence.position[reading.cut], static_cast<int64_t>(i));
      if (i > 0) precedence.before.emplace(previous, reading.cut);
      previous = reading.cut;
    }
  }
  std::vector<CutRow> rows;
  const auto ratio = [](const Number& part, const Number& whole) {
    return *whole > 0 ? Number(*part / *whole) : Number();
  };
  for (const uint32_t index : OrderCuts(precedence)) {
    if (precedence.position[index] < 0) continue;  // recorded by no result
    if (rows.size() == kMaxCuts) {
      *dropped += sums[index].readings;
      continue;
    }
    const Sums& cut = sums[index];
    CutRow row;
    row.name = names_.name(index);
    row.events = cut.events;
    if (cut.all_weighted) row.weights = cut.weights.value();
    if (refused_ == 0) {
      row.step_efficiency = ratio(row.events, rows.empty() ? row.events : rows.back().events);
      row.total_efficiency = ratio(row.events, rows.empty() ? row.events : rows.front().events);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace crema
