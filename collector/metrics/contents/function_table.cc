#include "collector/metrics/contents/function_table.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "collector/metrics/statistics/known_sum.h"

namespace crema {
namespace {

std::string NameOf(const StacksFact& stacks, const FunctionFact& function) {
  const std::string line = function.line.has_value() ? std::to_string(*function.line) : "";
  return KeyOf({stacks.section, stacks.dataset, function.name, function.file, line, function.build_id});
}

FunctionRow RowOf(std::string_view name) {
  FunctionRow row;
  row.section = TakeText(&name);
  row.dataset = Text::OrNull(TakeText(&name));
  row.function = TakeText(&name);
  row.file = Text::OrNull(TakeText(&name));
  const std::string line(TakeText(&name));
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
    samples = AddCounts(samples, row.samples.integer());
    squares = AddCounts(squares, row.squares);
    if (!finished.empty() && PlaceAndFunction(finished.back()) == PlaceAndFunction(row)) {
      finished.back().samples = AddCounts(finished.back().samples.integer(), row.samples.integer());
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
    row.share = *row.samples / all;
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

void FunctionTable::Add(const StacksFact& stacks) {
  for (const StackFact& stack : stacks.stacks) {
    const auto innermost = static_cast<size_t>(stack.functions.back());
    sums_.Add(NameOf(stacks, stacks.functions[innermost]), {stack.samples, stack.squares});
  }
  if (!stacks.refused.empty()) AddReason(std::string(stacks.refused));
}

void FunctionTable::AddReason(std::string reason) {
  refused_reasons_.insert(std::move(reason));
  if (refused_reasons_.size() > kMostReasons) refused_reasons_.erase(std::prev(refused_reasons_.end()));
}

void FunctionTable::Merge(const FunctionTable& other) {
  sums_.Merge(other.sums_);
  for (const std::string& reason : other.refused_reasons_) AddReason(reason);
}

std::vector<FunctionRow> FunctionTable::Finalize(int64_t* dropped) const {
  std::vector<FunctionRow> rows;
  const Sum refused = sums_.Finalize([&rows](std::string_view key, const Sum& sum) {
    FunctionRow& row = rows.emplace_back(RowOf(key));
    row.samples = sum.samples;
    row.squares = sum.squares;
  });
  *dropped = refused.samples;
  if (*dropped > 0) {
    FunctionRow other;
    other.section = other.function = kOtherName;
    other.samples = *dropped;
    other.squares = refused.squares;
    rows.push_back(std::move(other));
  }
  FinishFunctionRows(*dropped > 0, &rows);
  return rows;
}

}  // namespace crema
