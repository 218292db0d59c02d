// Pieces of Vega-Lite specifications that several charts have in common.
#ifndef CREMA_COLLECTOR_CHARTS_ENCODINGS_H_
#define CREMA_COLLECTOR_CHARTS_ENCODINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/value.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `values` as the data of a view.
nlohmann::ordered_json InlineData(nlohmann::ordered_json values);

/// An encoding of a number: `field` on an axis whose title has the unit.
nlohmann::ordered_json Quantity(std::string_view field, std::string_view title);

/// An encoding of names, in the order in which they come.
nlohmann::ordered_json Names(std::string_view field, std::string_view title);

/// The time since the run's start, from 0 to `seconds`, with ticks at seconds, minutes or hours as people count them.
nlohmann::ordered_json TimeAxis(std::string_view field, double seconds, int most_ticks = 8);

/// Lets an axis or a legend write numbers up to `largest` as HumanCount does: `553 k`.
void LabelNumbers(double largest, nlohmann::ordered_json* axis);

/// A colour of the table by its name, as a specification writes it: both themes give it a value.
nlohmann::ordered_json ColourNamed(std::string_view name);

/// The colour of names: `names` in order, each with a colour of the table (collector/appearance/colours.h).
nlohmann::ordered_json NamedColours(std::string_view field, const std::vector<std::string>& names,
                                    const std::vector<std::string_view>& colours);

/// One line of a tooltip.
struct Told {
  std::string_view field;
  std::string_view title;      ///< with the unit
  std::string_view type = "";  ///< empty: a number; else `nominal`
};
nlohmann::ordered_json Tooltip(const std::vector<Told>& lines);

/// With a decimal point, also a count; null where it is not measured.
nlohmann::ordered_json RealOf(const Number& number);

/// Six significant digits: what a picture can show, in a third of the bytes.
double Rounded(double value);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_ENCODINGS_H_
