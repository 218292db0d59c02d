// `crema export --to stacks`.
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "collector/exports/folded_line.h"
#include "collector/exports/formats.h"
#include "collector/exports/sampled_stacks.h"

namespace crema {
namespace {

absl::StatusOr<FoldedLines> LinesOf(const ExportSource& source, int64_t (*number_of)(const StackWeight&)) {
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  if (!stacks.ok()) return stacks.status();
  FoldedLines lines;
  for (const auto& [place, by_stack] : stacks->places) {
    const std::string root = FoldedStack("chunks;" + FoldedFrame(DatasetFrame(place.dataset)), place.section);
    for (const auto& [functions, weight] : by_stack) {
      std::string line = root;
      for (const size_t function : functions) line += ";" + FoldedFrame(stacks->functions[function].name);
      lines.Add(line, number_of(weight));
    }
  }
  return lines;
}

absl::StatusOr<FoldedLines> InSamples(const ExportSource& source) {
  return LinesOf(source, [](const StackWeight& weight) { return weight.samples; });
}

/// Two runs may have been sampled at different rates.
absl::StatusOr<FoldedLines> InMicroseconds(const ExportSource& source) {
  return LinesOf(source, [](const StackWeight& weight) -> int64_t { return std::llround(weight.cpu_seconds * 1e6); });
}

}  // namespace

absl::Status WriteFoldedStacks(const ExportSource& source, const std::string&, TextSink* sink) {
  return WriteFoldedLines(source, source.baseline == nullptr ? &InSamples : &InMicroseconds, sink);
}

}  // namespace crema
