// The sampled stacks of a run, from its records.
#pragma once

#include "collector/exports/export_format.h"

namespace crema {

/// A function with its name as people read it.
struct SampledFunction {
  std::string name;
  std::string file;             ///< empty: not known
  std::optional<int64_t> line;  ///< of its definition
  std::string build_id;         ///< of `file`, while `name` is an address in it
};
inline bool operator<(const SampledFunction& a, const SampledFunction& b) {
  return std::tie(a.name, a.file, a.line, a.build_id) < std::tie(b.name, b.file, b.line, b.build_id);
}

struct StackWeight {
  int64_t samples = 0;
  double cpu_seconds = 0;  ///< that the samples stand for
};

/// Where stacks were seen.
struct StackPlace {
  std::string dataset;  ///< empty: none
  std::string section;  ///< a path; empty: outside every section
};
inline bool operator<(const StackPlace& a, const StackPlace& b) {
  return std::tie(a.dataset, a.section) < std::tie(b.dataset, b.section);
}

struct SampledStacks {
  std::vector<SampledFunction> functions;
  /// The stacks of each place: indices into `functions`, the outermost first.
  std::map<StackPlace, std::map<std::vector<size_t>, StackWeight>> places;
};

/// Errors: there are no records, or they have no stacks. Beyond 200,000 different stacks, or functions, the rest is in
/// one place, `(other)`.
absl::StatusOr<SampledStacks> ReadSampledStacks(const ExportSource& source);

}  // namespace crema
