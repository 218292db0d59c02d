// Bars and spark lines, in eighths of a character or in ASCII.
#ifndef CREMA_COLLECTOR_WRITERS_TERMINAL_BARS_H_
#define CREMA_COLLECTOR_WRITERS_TERMINAL_BARS_H_

#include <optional>
#include <string>
#include <vector>

#include "collector/writers/terminal_style.h"

namespace crema {

/// A bar of `share` (clamped to 0..1) of `columns`, not padded. A share above 0 is never invisible.
std::string Bar(double share, int columns, const TerminalStyle& style);

/// As `Bar`, with the rest of the columns shaded: the scale is seen.
std::string BarOnTrack(double share, int columns, const TerminalStyle& style);

/// One sign a value, from 0 to `top`; a value that is not there is a blank.
std::string SparkLine(const std::vector<std::optional<double>>& values, double top, const TerminalStyle& style);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_TERMINAL_BARS_H_
