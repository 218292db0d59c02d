#include "collector/writers/terminal_bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "collector/writers/display_text.h"

namespace crema {
namespace {

constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

}  // namespace

std::string Bar(double share, int columns, const TerminalStyle& style) {
  if (!(share > 0) || columns <= 0) return "";
  const double filled = std::min(share, 1.0) * columns;
  if (style.ascii) return Repeated("#", std::max(1, static_cast<int>(std::lround(filled))));
  const int eighths = std::max(1, static_cast<int>(std::lround(filled * 8)));
  return Repeated("█", eighths / 8) + std::string(kEighths[static_cast<size_t>(eighths % 8)]);
}

std::string BarOnTrack(double share, int columns, const TerminalStyle& style) {
  const std::string bar = Bar(share, columns, style);
  return bar + Repeated(style.ascii ? "." : "░", columns - ColumnsOf(bar));
}

std::string SparkLine(const std::vector<std::optional<double>>& values, double top, const TerminalStyle& style) {
  std::string line;
  for (const std::optional<double>& value : values) {
    if (!value.has_value() || !std::isfinite(*value)) {
      line += ' ';
      continue;
    }
    const double share = top > 0 ? std::clamp(*value / top, 0.0, 1.0) : 0;
    if (style.ascii) {
      line += static_cast<char>('0' + std::lround(share * 9));
    } else {
      line += kLevels[static_cast<size_t>(std::lround(share * 7))];
    }
  }
  return line;
}

}  // namespace crema
