// The sampled stacks of a run, from its records.
#pragma once

#include <unordered_map>

#include "collector/exports/export_format.h"

namespace crema {

/// Frames are separated by `;`, the number by the last space, stacks by line ends.
std::string FoldedFrame(std::string name);

/// The frames of a section's path below `root`.
std::string FoldedStack(const std::string& root, const std::string& path);

/// Stacks with their numbers, each stack once, in the order in which they came.
class FoldedLines {
 public:
  void Add(const std::string& stack, int64_t number);
  bool Has(const std::string& stack) const { return places_.count(stack) != 0; }
  /// 0: there is no such stack.
  int64_t NumberOf(const std::string& stack) const;
  const std::vector<std::pair<std::string, int64_t>>& all() const { return lines_; }

 private:
  std::vector<std::pair<std::string, int64_t>> lines_;
  std::unordered_map<std::string, size_t> places_;
};

/// Writes the lines of `source`. If it has a baseline, each line has two numbers, as flamegraph.pl draws a difference:
/// that of the baseline, then its own. Errors: those of `lines_of`.
absl::Status WriteFoldedLines(const ExportSource& source, absl::StatusOr<FoldedLines> (*lines_of)(const ExportSource&),
                              TextSink* sink);

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

/// What a dataset is called in exports of stacks.
std::string DatasetFrame(const std::string& dataset);

}  // namespace crema
