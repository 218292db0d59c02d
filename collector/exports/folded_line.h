// Lines of folded stacks, `frame;frame;frame NUMBER`, the outermost first.
#ifndef CREMA_COLLECTOR_EXPORTS_FOLDED_LINE_H_
#define CREMA_COLLECTOR_EXPORTS_FOLDED_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/exports/export_format.h"
#include "collector/exports/text_sink.h"

namespace crema {

/// Frames are told apart by `;`, the number by the last space, stacks by line ends.
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

}  // namespace crema

#endif  // CREMA_COLLECTOR_EXPORTS_FOLDED_LINE_H_
