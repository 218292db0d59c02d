// What a run has no result of: entries that were tried, and files that nobody tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

struct ExportSource;

struct ExpectedFile {
  std::string dataset;
  std::string file;
  std::string tree;  ///< empty: not known
  /// Entries from the first to the one after the last; empty: only the file is named, not what of it.
  std::vector<std::pair<int64_t, int64_t>> ranges;
};

/// Reads `{dataset: [file]}` or `{dataset: {"files": [file] or {file: tree or {"object_path": tree, "steps": [[first,
/// one after the last]], "num_entries": n}}, "treename": tree}}`. Of `steps` and `num_entries`, the first that is there
/// counts. Errors: the file cannot be read, or is not a fileset.
absl::StatusOr<std::vector<ExpectedFile>> ReadExpectedFileset(const std::string& path);

/// Entries of one file, from the first to the one after the last; nullopt: no attempt said which, so the whole file.
using MissingRange = std::optional<std::pair<int64_t, int64_t>>;

struct MissingFile {
  std::string dataset;
  std::string file;
  std::string tree;  ///< empty: not known
  std::vector<MissingRange> ranges;
};

/// By dataset, file and tree; ranges in order, none touches another. Entries have a result once an `ok` attempt covered
/// them, in whatever chunks. Of `source.expected`, files that have no attempt are there too: their guards never began.
/// So are entries that it names, and no attempt covered. Errors: chunks were summed, so what has a result is not known.
absl::StatusOr<std::vector<MissingFile>> FindMissing(const ExportSource& source);

}  // namespace crema
