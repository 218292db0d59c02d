#include "collector/writers/labelled_lines.h"

#include <algorithm>

#include "collector/writers/display_text.h"
#include "collector/writers/terminal_box.h"

namespace crema {

std::string LabelledLines(const std::vector<std::pair<std::string, std::string>>& lines, int indent,
                          const TerminalStyle& style) {
  constexpr int kGap = 2, kLeastValue = 20;
  int label_columns = 0;
  for (const auto& [label, value] : lines) {
    label_columns = std::max(label_columns, ColumnsOf(DisplayText(label, style)));
  }
  const int value_columns = std::max(kLeastValue, style.width - indent - label_columns - kGap);
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
