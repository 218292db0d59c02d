// What a family of charts hands back, before title, theme and schema are put to it, and what its pieces are made from.
#ifndef CREMA_COLLECTOR_CHARTS_DRAWING_H_
#define CREMA_COLLECTOR_CHARTS_DRAWING_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/charts/chart.h"
#include "collector/measurement/value.h"
#include "nlohmann/json.hpp"

namespace crema {

struct Drawing {
  nlohmann::ordered_json body;  ///< data, marks, encodings; null where there is nothing to draw
  std::string finding;          ///< the figures that answer the chart's question, one sentence without its full stop
  std::string reason;           ///< why there is nothing to draw
};

inline Drawing NotDrawn(std::string reason) { return {nullptr, "", std::move(reason)}; }

/// Why single chunks cannot be drawn: they are not known, or `otherwise`.
std::string WhyNoChunks(const ChartInput& input, const std::string& otherwise);

/// The complete specification: schema, title, where the figures come from, theme. `chart`: its name, title and
/// subtitle. `source_line`: which runs, measured by what. `body`: data and marks.
nlohmann::ordered_json SpecificationOf(const Chart& chart, const std::string& finding, const std::string& source_line,
                                       const nlohmann::ordered_json& body);

/// Marks of a chart on the page; a grid or map may have as many.
inline constexpr size_t kMostMarks = 10'000;

/// The encoding, without its field, of the time since the run's start, from 0 to `seconds`, with ticks at seconds,
/// minutes or hours as people count them.
nlohmann::ordered_json TimeAxis(double seconds, int most_ticks = 8);

/// Lets an axis or a legend write numbers up to `largest` as HumanCount does: `553 k`.
nlohmann::ordered_json NumberLabels(double largest);

/// A scale: `names` in order, each with a colour of the table (collector/appearance/colours.h). Both themes give the
/// colours their values.
nlohmann::ordered_json ColourScale(const std::vector<std::string>& names, const std::vector<std::string_view>& colours);

/// With a decimal point, also a count; null where it is not measured.
nlohmann::ordered_json RealOf(const Number& number);

/// Six significant digits: what a picture can show, in a third of the bytes.
double Rounded(double value);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_DRAWING_H_
