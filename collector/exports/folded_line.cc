#include "collector/exports/folded_line.h"

#include <utility>

#include "collector/metrics/statistics/known_sum.h"
#include "collector/records/section_path.h"
#include "fmt/format.h"

namespace crema {

std::string FoldedFrame(std::string name) {
  for (char& character : name) {
    if (character == ';') character = ':';
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  return name;
}

std::string FoldedStack(const std::string& root, const std::string& path) {
  std::string stack = root;
  for (std::string& name : NamesOfPath(path)) stack += ";" + FoldedFrame(std::move(name));
  return stack;
}

void FoldedLines::Add(const std::string& stack, int64_t number) {
  const auto [place, is_new] = places_.try_emplace(stack, lines_.size());
  if (is_new) lines_.emplace_back(stack, 0);
  lines_[place->second].second = AddCounts(lines_[place->second].second, number);
}

int64_t FoldedLines::NumberOf(const std::string& stack) const {
  const auto place = places_.find(stack);
  return place == places_.end() ? 0 : lines_[place->second].second;
}

absl::Status WriteFoldedLines(const ExportSource& source, absl::StatusOr<FoldedLines> (*lines_of)(const ExportSource&),
                              TextSink* sink) {
  const absl::StatusOr<FoldedLines> lines = lines_of(source);
  if (!lines.ok()) return lines.status();
  if (source.baseline == nullptr) {
    for (const auto& [stack, number] : lines->all()) sink->Write(fmt::format("{} {}\n", stack, number));
    return absl::OkStatus();
  }
  const absl::StatusOr<FoldedLines> before = lines_of(*source.baseline);
  if (!before.ok()) return before.status();
  for (const auto& [stack, number] : before->all()) {
    sink->Write(fmt::format("{} {} {}\n", stack, number, lines->NumberOf(stack)));
  }
  for (const auto& [stack, number] : lines->all()) {
    if (!before->Has(stack)) sink->Write(fmt::format("{} 0 {}\n", stack, number));
  }
  return absl::OkStatus();
}

}  // namespace crema
