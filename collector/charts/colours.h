// The colours of charts, each with what it stands for: the one table that charts, page and terminal pictures share.
#ifndef CREMA_COLLECTOR_CHARTS_COLOURS_H_
#define CREMA_COLLECTOR_CHARTS_COLOURS_H_

#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace crema {

/// The same colour stands for the same thing in every chart.
struct Colour {
  std::string_view name;   ///< of the parameter and the mark style that carry it: `cpu`, `limit` ...
  std::string_view light;  ///< `#rrggbb`, on a light card
  std::string_view dark;   ///< on a dark card
  std::string_view meaning;
};

/// Text has a contrast of at least 4.5 with what it stands on (WCAG 2.1, 1.4.3). The budget's groups differ by 20 from
/// one another and the first five datasets by 13 (CIE76), to eyes with protanopia, deuteranopia and tritanopia too.
const std::vector<Colour>& Colours();

/// Of datasets, most work first; from the sixth on they are paler, and the last is that of `other`.
const std::vector<Colour>& DatasetColours();

/// A colour of the table by its name, as a specification writes it: both themes give it a value.
nlohmann::ordered_json ColourNamed(std::string_view name);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_COLOURS_H_
