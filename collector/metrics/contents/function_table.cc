#include "collector/metrics/contents/function_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/known_sum.h"
#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

// A text may hold any character, so its length tells where it ends.
void Append(std::string_view text, std::string* name) {
  name->append(std::to_string(text.size())).append(":").append(text);
}

std::string TakeText(std::string_view* name) {
  size_t length = 0;
  const size_t colon = name->find(':');
  for (const char digit : name->substr(0, colon)) length = 10 * length + static_cast<size_t>(digit - '0');
  std::string text(name->substr(colon + 1, length));
  name->remove_prefix(colon + 1 + length);
  return text;
}

std::string NameOf(const StacksFact& stacks, const FunctionFact& function) {
  std::string name;
  Append(stacks.section, &name);
  Append(stacks.dataset, &name);
  Append(function.name, &name);
  Append(function.file, &name);
  Append(function.line.has_value() ? std::to_string(*function.line) : "", &name);
  return name;
}

FunctionRow RowOf(std::string_view name) {
  FunctionRow row;
  for (std::string* text : {&row.section, &row.dataset, &row.function, &row.file}) *text = TakeText(&name);
  const std::string line = TakeText(&name);
  if (!line.empty()) row.line = std::stoll(line);
  return row;
}

}  // namespace

void FunctionTable::Sum::Add(const Sum& other) {
  samples = AddCounts(samples, other.samples);
  squares = AddCounts(squares, other.squares);
}

void FunctionTable::Add(const std::string& name, const Sum& sum) {
  const uint32_t index = names_.Intern(name, HashOf(name));
  if (index == BoundedNames::kRefused) {
    refused_.Add(sum);
    return;
  }
  if (index >= sums_.size()) sums_.resize(index + 1);
  sums_[index].Add(sum);
  if (names_.full()) {
    names_.Prune().Apply(sums_, [this](const Sum& refused) { refused_.Add(refused); });
  }
}

void FunctionTable::Add(const StacksFact& stacks) {
  for (const StackFact& stack : stacks.stacks) {
    const auto innermost = static_cast<size_t>(stack.functions.back());
    Add(NameOf(stacks, stacks.functions[innermost]), {stack.samples, stack.squares});
  }
}

void FunctionTable::Merge(const FunctionTable& other) {
  refused_.Add(other.refused_);
  for (uint32_t i = 0; i < other.names_.size(); ++i) Add(other.names_.name(i), other.sums_[i]);
}

std::vector<FunctionRow> FunctionTable::Finalize(int64_t* dropped) const {
  FunctionTable pruned = *this;
  pruned.names_.Prune().Apply(pruned.sums_, [&pruned](const Sum& refused) { pruned.refused_.Add(refused); });
  std::vector<FunctionRow> rows;
  std::map<std::pair<std::string, std::string>, Sum> totals;  // by section and dataset
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    FunctionRow row = RowOf(pruned.names_.name(i));
    row.samples = pruned.sums_[i].samples;
    totals[{row.section, row.dataset}].Add(pruned.sums_[i]);
    rows.push_back(std::move(row));
  }
  *dropped = pruned.refused_.samples;
  for (FunctionRow& row : rows) {
    const Sum& total = totals[{row.section, row.dataset}];
    if (*dropped > 0 || total.samples == 0 || total.squares == 0) continue;
    const auto all = static_cast<double>(total.samples);
    row.share = static_cast<double>(row.samples) / all;
    // A sighting may stand for several samples: of so many equal ones the share would be as uncertain.
    const double sightings = all * all / static_cast<double>(total.squares);
    row.share_error = std::sqrt(*row.share * (1 - *row.share) / sightings);
  }
  std::sort(rows.begin(), rows.end(), [](const FunctionRow& one, const FunctionRow& other) {
    return std::tie(one.section, one.dataset, other.samples, one.function, one.file, one.line) <
           std::tie(other.section, other.dataset, one.samples, other.function, other.file, other.line);
  });
  if (*dropped > 0) {
    FunctionRow other;
    other.section = other.function = kOtherName;
    other.samples = *dropped;
    rows.push_back(std::move(other));
  }
  return rows;
}

}  // namespace crema
