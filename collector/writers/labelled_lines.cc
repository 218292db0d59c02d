#include "collector/writers/labelled_lines.h"

#include <algorithm>

#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"

namespace crema {
namespace {

constexpr int kGap = 2, kLeastValue = 20;

/// For terminals that are too narrow for labels and values side by side.
std::string ValuesUnderLabels(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                              const TerminalStyle& style) {
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string text;
  for (const auto& [label, value] : lines) {
    text += margin + Painted({Cut(label, std::max(1, style.width - indent), style), Paint::kDim}, style) + "\n";
    for (const std::string& piece : Wrap(value, std::max(1, style.width - indent - kGap), style)) {
      text += margin + std::string(kGap, ' ') + piece + "\n";
    }
  }
  return text;
}

}  // namespace

std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style) {
  int label_columns = 0;
  for (const auto& [label, value] : lines) {
    label_columns = std::max(label_columns, ColumnsOf(DisplayText(label, style)));
  }
  if (style.width - indent - label_columns - kGap < kLeastValue) return ValuesUnderLabels(lines, indent, style);
  const int value_columns = style.width - indent - label_columns - kGap;
  std::string text;
  for (const auto& [label, value] : lines) {
    std::vector<std::string> pieces = Wrap(value, value_columns, style);
    if (pieces.empty()) pieces.emplace_back();
    for (size_t at = 0; at < pieces.size(); ++at) {
      const std::string name = Pad(at == 0 ? label : "", label_columns, Align::kLeft, style);
      text += std::string(static_cast<size_t>(indent), ' ') + Painted({name, Paint::kDim}, style);
      text += std::string(kGap, ' ') + pieces[at] + "\n";
    }
  }
  return text;
}

}  // namespace crema
