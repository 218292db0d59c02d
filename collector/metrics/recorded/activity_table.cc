#include "collector/metrics/recorded/activity_table.h"

namespace crema {
namespace {

using Texts = std::vector<std::string>;

/// A name for the table: its kind, the process, then each text as a key.
template <class List>
std::string EncodeTexts(char kind, uint64_t process_hash, const List& texts) {
  std::string name(1, kind);
  name.append(reinterpret_cast<const char*>(&process_hash), sizeof(process_hash));
  for (const std::string_view text : texts) name.append(KeyOf({text}));
  return name;
}

Texts DecodeTexts(std::string_view name) {
  Texts texts;
  name.remove_prefix(1 + sizeof(uint64_t));
  while (!name.empty()) texts.emplace_back(TakeText(&name));
  return texts;
}

// All of its unit; where there are more units than room, all.
std::string StandInOfActivity(std::string_view name) {
  const bool ordinary = name.front() == NamesWithOther::kOrdinary;
  Texts texts = DecodeTexts(name);
  std::fill(texts.begin(), texts.end() - (ordinary ? 1 : 0), std::string(kOtherName));
  return EncodeTexts(ordinary ? NamesWithOther::kStandIn : NamesWithOther::kLast, 0, texts);
}

}  // namespace

ProcessSums::ProcessSums(size_t max_rows) : names_(max_rows, StandInOfActivity) {}

ProcessSums::Sum& ProcessSums::Find(std::string_view name, uint32_t log) {
  const uint32_t index = names_.Intern(name);
  if (index >= sums_.size()) sums_.resize(index + size_t{1}, Sum{log, 0, {}});
  return sums_[index];
}

void ProcessSums::Add(const LogRef& log, std::initializer_list<std::string_view> texts, std::optional<double> value) {
  if (!value.has_value() || !std::isfinite(*value)) {
    ++not_finite_;
    return;
  }
  Sum& sum = Find(EncodeTexts(NamesWithOther::kOrdinary, log.process_hash, texts), log.index);
  ++sum.readings;
  sum.value.Add(*value);
}

void ProcessSums::Merge(const ProcessSums& other, const std::vector<uint32_t>& logs) {
  not_finite_ += other.not_finite_;
  for (uint32_t i = 0; i < other.names_.size(); ++i) {
    Sum sum = other.sums_[i];
    sum.log = logs[sum.log];
    Find(other.names_.name(i), sum.log).Add(sum);
  }
  MakeRoom();
}

std::vector<ProcessSums::Row> ProcessSums::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  ProcessSums pruned = *this;
  pruned.Prune();
  *dropped = not_finite_;
  std::vector<Row> rows;
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    const std::string& name = pruned.names_.name(i);
    const Sum& sum = pruned.sums_[i];
    if (name.front() != NamesWithOther::kOrdinary) *dropped += sum.readings;
    Row& row = rows.emplace_back();
    row.process = name.front() == NamesWithOther::kOrdinary ? processes.process_of_log[sum.log] : kAllProcesses;
    row.texts = DecodeTexts(name);
    const double value = sum.value.value();
    if (std::isfinite(value) && name.front() != NamesWithOther::kLast) row.value = value;
  }
  SortBy(&rows, [](const Row& row) { return std::tie(row.process, row.texts); });
  return rows;
}

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

std::vector<EngineFineSum> ActivityTable::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  std::vector<EngineFineSum> rows;
  for (ProcessSums::Row& sum : sums_.Finalize(processes, dropped)) {
    rows.push_back({sum.process, "native", std::move(sum.texts[0]), "", std::move(sum.texts[1]),
                    std::move(sum.texts[2]), sum.value.value_or(std::numeric_limits<double>::infinity())});
  }
  return rows;
}

void FineTable::Add(const LogRef& log, const FineFact& fact) {
  for (const FineRowFact& row : fact.rows) {
    sums_.Add(log, {row.context, row.span, row.function, row.activity, row.unit}, row.value);
  }
  sums_.MakeRoom();
}

std::vector<EngineFineSum> FineTable::Finalize(const ProcessFindings& processes, int64_t* dropped) const {
  std::vector<EngineFineSum> rows;
  for (ProcessSums::Row& sum : sums_.Finalize(processes, dropped)) {
    std::vector<std::string>& texts = sum.texts;
    rows.push_back({sum.process, std::move(texts[0]), std::move(texts[1]), std::move(texts[2]), std::move(texts[3]),
                    std::move(texts[4]), sum.value.value_or(std::numeric_limits<double>::infinity())});
  }
  return rows;
}

}  // namespace crema
