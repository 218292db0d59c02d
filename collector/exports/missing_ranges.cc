#include "collector/exports/missing_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
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

/// Calls `on_file(dataset, file, tree)` for each file of `{dataset: [file]}`, `{dataset: {"files": [file] or
/// {file: tree or {"object_path": tree}}, "treename": tree}}`.
template <class OnFile>
absl::Status ForEachFile(const std::string& path, const OnFile& on_file) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(fmt::format("{} cannot be read", path));
  const Json fileset = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  const auto refuse = [&path](const std::string& dataset) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is no fileset of Coffea: expected {{\"dataset\": [\"file\", ...]}} or {{\"dataset\": "
                    "{{\"files\": ...}}}}",
                    path, dataset.empty() ? "this" : "the entry of " + dataset));
  };
  if (!fileset.is_object()) return refuse("");
  const auto text = [](const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); };
  for (const auto& [dataset, entry] : fileset.items()) {
    const bool has_files = entry.is_object() && entry.contains("files");
    const Json& files = has_files ? entry["files"] : entry;
    const std::string tree = has_files && entry.contains("treename") ? text(entry["treename"]) : std::string();
    if (files.is_array()) {
      for (const Json& file : files) {
        if (!file.is_string()) return refuse(dataset);
        on_file(dataset, file.get<std::string>(), tree);
      }
    } else if (files.is_object() && has_files) {
      for (const auto& [file, told] : files.items()) {
        const bool is_object = told.is_object() && told.contains("object_path");
        const std::string own = text(is_object ? told["object_path"] : told);
        on_file(dataset, file, own.empty() ? tree : own);
      }
    } else {
      return refuse(dataset);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<MissingFile>> FindMissing(const ExportSource& source) {
  if (const int64_t summed = source.document.value("/quality/summed_chunks"_json_pointer, int64_t{0}); summed > 0) {
    return absl::FailedPreconditionError(
        fmt::format("{} chunks were summed where they ran: which of them have a result is not known", summed));
  }
  std::map<FileKey, Tried> tried;
  std::set<std::pair<std::string, std::string>> seen;  // dataset, file
  const absl::Status read = source.for_each_attempt([&](const Attempt& attempt) {
    const ChunkInput& input = attempt.chunk.input;
    if (input.file.empty()) return;
    Tried& file = tried[FileKey(input.dataset, input.file, input.tree)];
    seen.emplace(input.dataset, input.file);
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
  if (!source.expected.empty()) {
    const absl::Status status =
        ForEachFile(source.expected, [&](const std::string& dataset, const std::string& file, const std::string& tree) {
          if (seen.count({dataset, file}) == 0) tried[FileKey(dataset, file, tree)].whole = true;
        });
    if (!status.ok()) return status;
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
