#include "collector/exports/expected_fileset.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"
#include "sdk/src/log/secret_filter.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Ranges = std::vector<std::pair<int64_t, int64_t>>;

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

/// The value of `key`; nullptr: there is none, or it is null, as Coffea writes what it does not know.
const Json* ToldOf(const Json& entry, const char* key) {
  const auto found = entry.find(key);
  return found == entry.end() || found->is_null() ? nullptr : &*found;
}

/// As records name it: without the signature, which may have changed.
std::string NameOf(std::string file) {
  file.resize(internal::TakeSecretsOut(file.data(), file.size()));
  return file;
}

/// nullopt: they are none.
std::optional<Ranges> RangesOf(const Json& entry) {
  Ranges ranges;
  if (const Json* steps = ToldOf(entry, "steps")) {
    if (!steps->is_array()) return std::nullopt;
    for (const Json& step : *steps) {
      const bool is_range =
          step.is_array() && step.size() == 2 && step[0].is_number_integer() && step[1].is_number_integer();
      if (!is_range || step[0] < 0 || step[1] < step[0]) return std::nullopt;
      ranges.emplace_back(step[0].get<int64_t>(), step[1].get<int64_t>());
    }
  } else if (const Json* entries = ToldOf(entry, "num_entries")) {
    if (!entries->is_number_integer() || *entries < 0) return std::nullopt;
    ranges.emplace_back(0, entries->get<int64_t>());
  }
  return ranges;
}

}  // namespace

absl::StatusOr<std::vector<ExpectedFile>> ReadExpectedFileset(const std::string& path) {
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
      for (const auto& [file, told] : files.items()) {
        const std::string own = TextOf(told.is_object() ? told.value("object_path", Json()) : told);
        std::optional<Ranges> ranges = told.is_object() ? RangesOf(told) : Ranges();
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

}  // namespace crema
