#include "collector/metrics/contents/cut_table.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/known_sum.h"
#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

/// The order of a cut flow, from the orders in which chunks recorded their cuts.
/// What chunks say of the order: `before` holds (a, b) where some chunk recorded b right after a; `position[a]` is the
/// latest place at which any recorded a.
struct CutPrecedence {
  std::vector<std::string> names;
  std::vector<int64_t> position;
  std::set<std::pair<uint32_t, uint32_t>> before;
};

/// Indices of the names, each after all that were recorded before it: Kahn's topological order, where there is a choice
/// (or a contradiction) by position, then by name. It depends on nothing but the sets given.
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

}  // namespace

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

void CutTable::MakeRoom() {
  if (names_.full()) Renumber(names_.Prune());
}

template <class NewIndex>
void CutTable::AppendKnown(const std::string& readings, uint64_t offset, const NewIndex& new_index) {
  std::vector<Reading> known;
  for (uint64_t left = TakeNumber(readings, offset); left > 0; --left) {
    Reading reading = Take(readings, offset);
    reading.cut = new_index[reading.cut];
    if (reading.cut != BoundedNames::kRefused) known.push_back(reading);
    refused_ += reading.cut == BoundedNames::kRefused;
  }
  AppendAll(known);
}

void CutTable::Renumber(const Renumbering& renumbering) {
  recent_.Clear();
  const std::string old = std::exchange(readings_, {});
  const auto renumber = [&](uint64_t& place) { AppendKnown(old, std::exchange(place, readings_.size()), renumbering); };
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

void CutTable::Add(const LogRef&, const SumsFact& sums) {
  if (sums.cuts.empty() || sums.failed) return;
  of_results_.push_back(readings_.size());
  AppendAll(KnownReadings(sums.cuts));
  MakeRoom();
}

std::vector<CutTable::Reading> CutTable::KnownReadings(const std::vector<CutFact>& cuts) {
  std::vector<Reading> readings;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const CutFact& cut = cuts[i];
    const uint32_t index = recent_.IndexOf(i, cut.name, "", [&] { return names_.Intern(cut.name, HashOf(cut.name)); });
    if (index != BoundedNames::kRefused) readings.push_back({index, static_cast<uint64_t>(cut.events), cut.weights});
    refused_ += index == BoundedNames::kRefused;
  }
  return readings;
}

void CutTable::Merge(const CutTable& other, const std::vector<uint32_t>& logs) {
  refused_ += other.refused_;
  const std::vector<uint32_t> cuts = names_.Take(other.names_);
  for (const Attempt& attempt : other.attempts_) {
    attempts_.push_back({AttemptKey(logs[attempt.key.first], attempt.key.second), readings_.size()});
    AppendKnown(other.readings_, attempt.offset, cuts);
  }
  for (const uint64_t offset : other.of_results_) {
    of_results_.push_back(readings_.size());
    AppendKnown(other.readings_, offset, cuts);
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
