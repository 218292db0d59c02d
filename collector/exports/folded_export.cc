// `crema export --to folded`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/exports/folded_line.h"
#include "collector/exports/formats.h"

namespace crema {
namespace {

struct FunctionSamples {
  std::string frame;
  double samples = 0;
};

/// Of each section that was looked into, the functions that it is made of. Empty where some have no share.
std::map<std::string, std::vector<FunctionSamples>> FunctionsBySection(const Measurement& measurement) {
  std::map<std::string, std::vector<FunctionSamples>> by_section;
  for (const FunctionRow& row : measurement.functions) {
    if (!row.share.has_value()) return {};
    std::vector<FunctionSamples>& functions = by_section[row.section.str()];
    const std::string frame = FoldedFrame(row.function.str());
    const double samples = row.samples.value_or(0);
    const auto same = std::find_if(functions.begin(), functions.end(),
                                   [&frame](const FunctionSamples& other) { return other.frame == frame; });
    if (same == functions.end()) {
      functions.push_back({frame, samples});
    } else {
      same->samples += samples;
    }
  }
  return by_section;
}

/// The section's own time, divided as its samples are: the lines add up to it.
void AddFunctions(const std::string& stack, int64_t microseconds, const std::vector<FunctionSamples>& functions,
                  FoldedLines* lines) {
  double samples = 0;
  for (const FunctionSamples& function : functions) samples += function.samples;
  double until = 0;
  int64_t written = 0;
  for (const FunctionSamples& function : functions) {
    until += function.samples;
    const auto stop = static_cast<int64_t>(std::llround(static_cast<double>(microseconds) * until / samples));
    if (stop > written) lines->Add(stack + ";" + function.frame, stop - written);
    written = std::max(written, stop);
  }
}

void AddRows(const std::vector<SectionRow>& rows, const std::string& root, FoldedLines* lines,
             const std::map<std::string, std::vector<FunctionSamples>>& functions = {}) {
  for (const SectionRow& row : rows) {
    if (!row.self.has_value()) continue;
    const bool is_helper = row.helper.value_or(false);
    const auto microseconds = std::llround(*row.self * 1e6);
    if (microseconds <= 0) continue;
    // helpers run beside the owner: below its root they would make chunks longer than they were
    const std::string stack = FoldedStack(is_helper ? "helpers of " + root : root, row.path.str());
    const auto looked_into = is_helper ? functions.end() : functions.find(row.path.str());
    if (looked_into != functions.end()) {
      AddFunctions(stack, microseconds, looked_into->second, lines);
    } else {
      lines->Add(stack, microseconds);
    }
  }
}

absl::StatusOr<FoldedLines> LinesOf(const ExportSource& source) {
  FoldedLines lines;
  AddRows(source.measurement.sections, "chunks", &lines, FunctionsBySection(source.measurement));
  AddRows(source.measurement.process_sections, "outside chunks", &lines);
  return lines;
}

}  // namespace

absl::Status WriteFolded(const ExportSource& source, const std::string&, TextSink* sink) {
  if (source.measurement.sections.empty() && source.measurement.process_sections.empty()) {
    return absl::NotFoundError("there is nothing to draw: " + std::string(FindTable("sections")->empty));
  }
  return WriteFoldedLines(source, &LinesOf, sink);
}

}  // namespace crema
