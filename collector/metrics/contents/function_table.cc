#include "collector/metrics/contents/function_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
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
  Append(function.build_id, &name);
  return name;
}

FunctionRow RowOf(std::string_view name) {
  FunctionRow row;
  for (std::string* text : {&row.section, &row.dataset, &row.function, &row.file}) *text = TakeText(&name);
  const std::string line = TakeText(&name);
  if (!line.empty()) row.line = std::stoll(line);
  row.build_id = TakeText(&name);
  return row;
}

auto PlaceAndFunction(const FunctionRow& row) {
  return std::tie(row.section, row.dataset, row.function, row.file, row.line, row.build_id);
}

/// Half the width of Agresti and Coull's interval, which covers the true share in 95 of 100 runs. It is not zero where
/// all sightings, or none, were in one function. (Approximate is better than "exact", The American Statistician 52,
/// 1998)
double ShareError(double share, double sightings) {
  constexpr double kQuantile = 1.96;  // of the normal distribution
  constexpr double kAdded = kQuantile * kQuantile;
  const double centre = (share * sightings + kAdded / 2) / (sightings + kAdded);
  return kQuantile * std::sqrt(centre * (1 - centre) / (sightings + kAdded));
}

}  // namespace

void FinishFunctionRows(bool last_is_other, std::vector<FunctionRow>* rows) {
  std::vector<FunctionRow> finished;
  std::optional<FunctionRow> other;
  if (last_is_other) {
    other = std::move(rows->back());
    rows->pop_back();
  }
  std::sort(rows->begin(), rows->end(), [](const FunctionRow& one, const FunctionRow& another) {
    return PlaceAndFunction(one) < PlaceAndFunction(another);
  });
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, int64_t>> totals;  // by section and dataset
  for (FunctionRow& row : *rows) {
    auto& [samples, squares] = totals[{row.section, row.dataset}];
    samples = AddCounts(samples, row.samples);
    squares = AddCounts(squares, row.squares);
    if (!finished.empty() && PlaceAndFunction(finished.back()) == PlaceAndFunction(row)) {
      finished.back().samples = AddCounts(finished.back().samples, row.samples);
      finished.back().squares = AddCounts(finished.back().squares, row.squares);
    } else {
      finished.push_back(std::move(row));
    }
  }
  for (FunctionRow& row : finished) {
    const auto [samples, squares] = totals[{row.section, row.dataset}];
    row.share = row.share_error = std::nullopt;
    if (other.has_value() || samples == 0 || squares == 0) continue;
    const auto all = static_cast<double>(samples);
    row.share = static_cast<double>(row.samples) / all;
    // A sighting may stand for several samples: of so many equal ones the share would be as uncertain.
    row.share_error = ShareError(*row.share, all * all / static_cast<double>(squares));
  }
  std::stable_sort(finished.begin(), finished.end(), [](const FunctionRow& one, const FunctionRow& another) {
    return std::tie(one.section, one.dataset, another.samples) <
           std::tie(another.section, another.dataset, one.samples);
  });
  if (other.has_value()) finished.push_back(*std::move(other));
  *rows = std::move(finished);
}

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
  if (!stacks.refused.empty()) AddReason(std::string(stacks.refused));
}

void FunctionTable::AddReason(std::string reason) {
  refused_reasons_.insert(std::move(reason));
  if (refused_reasons_.size() > kMostReasons) refused_reasons_.erase(std::prev(refused_reasons_.end()));
}

void FunctionTable::Merge(const FunctionTable& other) {
  refused_.Add(other.refused_);
  for (uint32_t i = 0; i < other.names_.size(); ++i) Add(other.names_.name(i), other.sums_[i]);
  for (const std::string& reason : other.refused_reasons_) AddReason(reason);
}

std::vector<FunctionRow> FunctionTable::Finalize(int64_t* dropped) const {
  FunctionTable pruned = *this;
  pruned.names_.Prune().Apply(pruned.sums_, [&pruned](const Sum& refused) { pruned.refused_.Add(refused); });
  std::vector<FunctionRow> rows;
  for (uint32_t i = 0; i < pruned.names_.size(); ++i) {
    FunctionRow row = RowOf(pruned.names_.name(i));
    row.samples = pruned.sums_[i].samples;
    row.squares = pruned.sums_[i].squares;
    rows.push_back(std::move(row));
  }
  *dropped = pruned.refused_.samples;
  if (*dropped > 0) {
    FunctionRow other;
    other.section = other.function = kOtherName;
    other.samples = *dropped;
    other.squares = pruned.refused_.squares;
    rows.push_back(std::move(other));
  }
  FinishFunctionRows(*dropped > 0, &rows);
  return rows;
}

}  // namespace crema
