#include "collector/exports/missing_ranges.h"

#include <fstream>

#include "collector/exports/export_format.h"
#include "collector/records/json_fields.h"
#include "nlohmann/json.hpp"
#include "sdk/src/log/secret_filter.h"

namespace crema {
namespace {

using Range = std::pair<int64_t, int64_t>;
using FileKey = std::tuple<std::string, std::string, std::string>;  // dataset, file, tree

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

/// The value of `key`; nullptr: there is none, or it is null, as Coffea writes what it does not know.
const Json* KnownMember(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found == entry.end() || found->is_null() ? nullptr : &*found;
}

/// As records name it: without the signature, which may have changed.
std::string NameOf(std::string file) {
  file.resize(internal::TakeSecretsOut(file.data(), file.size()));
  return file;
}

/// nullopt: they are none.
std::optional<std::vector<Range>> RangesOf(const Json& entry) {
  std::vector<Range> ranges;
  if (const Json* steps = KnownMember(entry, "steps")) {
    if (!steps->is_array()) return std::nullopt;
    for (const Json& step : *steps) {
      const bool is_range =
          step.is_array() && step.size() == 2 && step[0].is_number_integer() && step[1].is_number_integer();
      if (!is_range || step[0] < 0 || step[1] < step[0]) return std::nullopt;
      ranges.emplace_back(step[0].get<int64_t>(), step[1].get<int64_t>());
    }
  } else if (const Json* entries = KnownMember(entry, "num_entries")) {
    if (!entries->is_number_integer() || *entries < 0) return std::nullopt;
    ranges.emplace_back(0, entries->get<int64_t>());
  }
  return ranges;
}

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

absl::StatusOr<std::vector<ExpectedFile>> ReadExpectedFileset(const std::string& path) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError(fmt::format("{} cannot be read", path));
  const Json fileset = ParsedJson(std::string(std::istreambuf_iterator<char>(in), {}));
  const auto refuse = [&path](const std::string& dataset) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is not a fileset of Coffea: expected {{\"dataset\": [\"file\", ...]}} or {{\"dataset\": "
                    "{{\"files\": ...}}}}",
                    path, dataset.empty() ? "this" : "the entry of " + dataset));
  };
  if (!fileset.is_object()) return refuse("");
  std::vector<ExpectedFile> expected;
  for (const auto& [dataset, entry] : fileset.items()) {
    const bool has_files = entry.is_object() && entry.contains("files");
    const Json& files = has_files ? entry["files"] : entry;
    const std::string tree = has_files && entry.contains("treename") ? TextOf(entry["treename"]) : std::string();
    if (files.is_array()) {
      for (const Json& file : files) {
        if (!file.is_string()) return refuse(dataset);
        expected.push_back({dataset, NameOf(file.get<std::string>()), tree, {}});
      }
    } else if (files.is_object() && has_files) {
      for (const auto& [file, reported] : files.items()) {
        const std::string own = TextOf(reported.is_object() ? reported.value("object_path", Json()) : reported);
        std::optional<std::vector<Range>> ranges = reported.is_object() ? RangesOf(reported) : std::vector<Range>();
        if (!ranges.has_value()) {
          return absl::InvalidArgumentError(
              fmt::format("{}: {} of {}: expected \"steps\": [[first, one after the last], ...] and \"num_entries\": n",
                          path, NameOf(file), dataset));
        }
        expected.push_back({dataset, NameOf(file), own.empty() ? tree : own, *std::move(ranges)});
      }
    } else {
      return refuse(dataset);
    }
  }
  return expected;
}

absl::StatusOr<std::vector<MissingFile>> FindMissing(const ExportSource& source) {
  if (const auto summed = static_cast<int64_t>(source.measurement.quality.summed_chunks.value_or(0)); summed > 0) {
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

absl::Status WriteCoffeaFileset(const ExportSource& source, const std::string&, TextSink* sink) {
  const absl::StatusOr<std::vector<MissingFile>> missing = FindMissing(source);
  if (!missing.ok()) return missing.status();
  std::map<std::string, std::map<std::string, std::map<std::string, Json>>> fileset;
  for (const MissingFile& file : *missing) {
    Json& entry = fileset[file.dataset]["files"][file.file];
    entry["object_path"] = TextOrNull(file.tree);
    for (const MissingRange& range : file.ranges) {
      if (range.has_value()) entry["steps"].push_back({range->first, range->second});
    }
  }
  sink->Write(JsonText(fileset, 2) + "\n");
  return absl::OkStatus();
}

}  // namespace crema
