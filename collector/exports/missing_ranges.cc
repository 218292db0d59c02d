#include "collector/exports/missing_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace crema {
namespace {

using Range = std::pair<int64_t, int64_t>;
using FileKey = std::tuple<std::string, std::string, std::string>;  // dataset, file, tree

/// What attempts at one file said.
struct Tried {
  std::vector<Range> all;
  std::vector<Range> done;
  bool whole = false;       ///< an attempt named no entries
  bool whole_done = false;  ///< and had a result
};

/// In order, with those that touch put together.
std::vector<Range> Union(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (merged.empty() || merged.back().second < range.first) {
      merged.push_back(range);
    } else {
      merged.back().second = std::max(merged.back().second, range.second);
    }
  }
  return merged;
}

/// Both are unions.
std::vector<Range> Without(const std::vector<Range>& ranges, const std::vector<Range>& taken) {
  std::vector<Range> left;
  auto from = taken.begin();
  for (Range range : ranges) {
    while (from != taken.end() && from->second <= range.first) ++from;
    for (auto hole = from; hole != taken.end() && hole->first < range.second; ++hole) {
      if (hole->first > range.first) left.emplace_back(range.first, hole->first);
      range.first = std::max(range.first, hole->second);
    }
    if (range.first < range.second) left.push_back(range);
  }
  return left;
}

std::vector<MissingRange> MissingOf(const Tried& tried) {
  if (tried.whole_done) return {};
  if (tried.whole) return {std::nullopt};
  const std::vector<Range> left = Without(Union(tried.all), Union(tried.done));
  return {left.begin(), left.end()};
}

}  // namespace

absl::StatusOr<std::vector<MissingFile>> FindMissing(const ExportSource& source) {
  const auto summed = static_cast<int64_t>(source.measurement.quality.summed_chunks.value_or(0));
  if (summed > 0) {
    return absl::FailedPreconditionError(
        fmt::format("{} chunks were summed where they ran: which of them have a result is not known", summed));
  }
  std::map<FileKey, Tried> tried;
  std::map<std::pair<std::string, std::string>, std::string> trees;  // of dataset and file
  const absl::Status read = source.for_each_attempt([&](const Attempt& attempt) {
    const ChunkInput& input = attempt.chunk.input;
    if (input.file.empty()) return;
    Tried& file = tried[FileKey(input.dataset, input.file, input.tree)];
    trees.emplace(std::pair(input.dataset, input.file), input.tree);
    const bool is_ok = attempt.state == AttemptState::kOk;
    if (!input.entry_start.has_value() || !input.entry_stop.has_value()) {
      file.whole = true;
      file.whole_done = file.whole_done || is_ok;
      return;
    }
    const Range range(*input.entry_start, *input.entry_stop);
    if (range.first >= range.second) return;
    file.all.push_back(range);
    if (is_ok) file.done.push_back(range);
  });
  if (!read.ok()) return read;
  for (const ExpectedFile& expected : source.expected) {
    const auto tree = trees.find({expected.dataset, expected.file});
    const bool was_tried = tree != trees.end();
    if (was_tried && expected.ranges.empty()) continue;
    Tried& file = tried[FileKey(expected.dataset, expected.file, was_tried ? tree->second : expected.tree)];
    file.whole = file.whole || expected.ranges.empty();
    file.all.insert(file.all.end(), expected.ranges.begin(), expected.ranges.end());
  }
  std::vector<MissingFile> missing;
  for (const auto& [key, file] : tried) {
    std::vector<MissingRange> ranges = MissingOf(file);
    if (ranges.empty()) continue;
    const auto& [dataset, name, tree] = key;
    missing.push_back({dataset, name, tree, std::move(ranges)});
  }
  return missing;
}

}  // namespace crema
