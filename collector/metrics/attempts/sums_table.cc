#include "collector/metrics/attempts/sums_table.h"

#include <cstring>
#include <string_view>
#include <tuple>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

// Calls `visit` for each text of a fact.
template <class Fact, class Visit>
void ForEachText(Fact& fact, const Visit& visit) {
  visit(fact.reason);
  visit(fact.input.dataset);
  visit(fact.input.file);
  visit(fact.input.pass);
  for (auto& section : fact.sections) visit(section.path);
  for (auto& section : fact.memory_sections) visit(section.path);
  for (auto& metric : fact.metrics) {
    visit(metric.name);
    visit(metric.unit);
  }
  for (auto& cut : fact.cuts) visit(cut.name);
  for (auto& activity : fact.activities) {
    visit(activity.label);
    visit(activity.unit);
  }
  for (auto& request : fact.requests) {
    visit(request.server);
    visit(request.operation);
  }
}

// What tells rows apart.
std::string NameOf(const LogRef& log, const SumsFact& fact) {
  std::string name(sizeof(log.log_hash), '\0');
  std::memcpy(name.data(), &log.log_hash, sizeof(log.log_hash));
  name.push_back(fact.failed ? 'f' : 'o');
  for (const std::string_view text : {fact.input.dataset, fact.input.file, fact.input.pass}) {
    name.append(std::to_string(text.size())).push_back(':');
    name.append(text);
  }
  return name;
}

// Sums only grow.
bool IsLater(const SumsFact& one, const SumsFact& other) {
  const auto order = [](const SumsFact& fact) { return std::tie(fact.chunks, fact.time_ns, fact.duration_ns); };
  return order(one) > order(other);
}

}  // namespace

std::shared_ptr<const SumsTable::Kept> SumsTable::Keep(const SumsFact& fact) {
  auto kept = std::make_shared<Kept>();
  kept->fact = fact;
  size_t bytes = 0;
  ForEachText(fact, [&bytes](std::string_view text) { bytes += text.size(); });
  kept->texts.reserve(bytes);  // so that views into it stay
  ForEachText(kept->fact, [&kept](std::string_view& text) {
    const size_t begin = kept->texts.size();
    kept->texts.append(text);
    text = std::string_view(kept->texts).substr(begin);
  });
  return kept;
}

uint32_t SumsTable::Find(const std::string& name) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index != BoundedNames::kRefused && index >= rows_.size()) rows_.resize(index + 1);
  return index;
}

void SumsTable::Renumber(const Renumbering& renumbering) {
  renumbering.Apply(rows_, [this](const Row&) { ++rows_left_out_; });
}

void SumsTable::Add(const LogRef& log, const SumsFact& fact) {
  const uint32_t index = Find(NameOf(log, fact));
  if (index == BoundedNames::kRefused) {
    ++rows_left_out_;
    return;
  }
  Row& row = rows_[index];
  if (row.kept != nullptr && !IsLater(fact, row.kept->fact)) return;
  row = {log, Keep(fact)};
  if (names_.full()) Renumber(names_.Prune());
}

void SumsTable::Merge(const SumsTable& other, const std::vector<uint32_t>& logs) {
  rows_left_out_ += other.rows_left_out_;
  for (uint32_t i = 0; i < other.rows_.size(); ++i) {
    const Row& theirs = other.rows_[i];
    const uint32_t index = Find(other.names_.name(i));
    if (index == BoundedNames::kRefused) {
      ++rows_left_out_;
      continue;
    }
    Row& row = rows_[index];
    if (row.kept != nullptr && !IsLater(theirs.kept->fact, row.kept->fact)) continue;
    row = theirs;
    row.log.index = logs[theirs.log.index];
    if (names_.full()) Renumber(names_.Prune());
  }
}

}  // namespace crema
