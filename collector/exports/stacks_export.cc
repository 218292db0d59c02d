// `crema export --to stacks`.
#include <string>

#include "absl/status/status.h"
#include "collector/exports/folded_line.h"
#include "collector/exports/formats.h"
#include "collector/exports/sampled_stacks.h"

namespace crema {
namespace {

absl::StatusOr<FoldedLines> LinesOf(const ExportSource& source) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  FoldedLines lines;
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string root = FoldedStack("chunks;" + FoldedFrame(DatasetFrame(place.dataset)), place.section);
    for (const auto& [functions, weight] : by_stack) {
      std::string line = root;
      for (const size_t function : functions) line += ";" + FoldedFrame(stacks->functions[function].name);
      lines.Add(line, weight.samples);
    }
  }
  return lines;
}

}  // namespace

absl::Status WriteFoldedStacks(const ExportSource& source, const std::string&, TextSink* sink) {
  return WriteFoldedLines(source, &LinesOf, sink);
}

}  // namespace crema
