// What should have been processed: a fileset as Coffea takes it, or as its `preprocess` returns it.
#ifndef CREMA_COLLECTOR_EXPORTS_EXPECTED_FILESET_H_
#define CREMA_COLLECTOR_EXPORTS_EXPECTED_FILESET_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace crema {

struct ExpectedFile {
  std::string dataset;
  std::string file;
  std::string tree;  ///< empty: not told
  /// Entries from the first to the one after the last; empty: only the file is named, not what of it.
  std::vector<std::pair<int64_t, int64_t>> ranges;
};

/// Reads `{dataset: [file]}` or `{dataset: {"files": [file] or {file: tree or {"object_path": tree, "steps": [[first,
/// one after the last]], "num_entries": n}}, "treename": tree}}`. Of `steps` and `num_entries`, the first that is there
/// counts. Errors: the file cannot be read, or is no such fileset.
absl::StatusOr<std::vector<ExpectedFile>> ReadExpectedFileset(const std::string& path);

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_EXPECTED_FILESET_H_
