// The colours, each with what it stands for: the one table of charts, pages and terminals. Pages have it as variables
// of their style sheets, which the build writes (print_colours.cc); tools/colours.py refuses a colour that is written
// elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace crema {

/// The same colour stands for the same thing everywhere.
struct Colour {
  std::string_view name;   ///< of a chart's parameter and mark style, of a variable of pages: `cpu`, `limit` ...
  std::string_view light;  ///< `#rrggbb`, on a light card
  std::string_view dark;   ///< on a dark card
  std::string_view meaning;
  std::string_view terminal = "";  ///< SGR parameters (ECMA-48): which of its own colours a terminal takes
};

/// Colours of charts and pages. Text has a contrast of at least 4.5 with what it is on (WCAG 2.1, 1.4.3). The
/// budget's groups differ by 20 from one another and the first five datasets by 13 (CIE76), to eyes with protanopia,
/// deuteranopia and tritanopia too.
const std::vector<Colour>& Colours();

/// What pages have beyond charts: ground, words, marks of good and bad.
const std::vector<Colour>& PageColours();

/// Colours of datasets, most work first; the last is that of `other`.
const std::vector<Colour>& DatasetColours();

/// The SGR parameters of a colour; empty where the terminal's own is meant.
std::string_view TerminalColour(std::string_view name);

/// All tables as variables of a style sheet, `--on-cpu` for `onCpu`: on `:root` the light ones, the dark ones where its
/// `data-theme` is `dark`.
std::string ColourVariables();

}  // namespace crema
