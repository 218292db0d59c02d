// What a family of charts hands back, before title, theme and schema are put to it, and what its pieces are made from.
#pragma once

#include <set>

#include "collector/charts/chart.h"
#include "collector/measurement/column.h"

namespace crema {

struct Drawing {
  Json body;                ///< data, marks, encodings; null where there is nothing to draw
  std::string finding;      ///< the figures that answer the chart's question, one sentence without its full stop
  std::string reason = "";  ///< why there is nothing to draw
};

inline Drawing NotDrawn(std::string reason) { return {nullptr, "", std::move(reason)}; }
/// The reason of the table that the chart draws, if it has no rows, else this one.
Drawing NotDrawn(const ChartInput& input, std::string_view table, const std::string& otherwise);

/// Why single chunks cannot be drawn: they are not known, or `otherwise`.
std::string WhyNoChunks(const ChartInput& input, const std::string& otherwise = "no chunk ended well");
inline constexpr char kNoEvents[] = "no chunk recorded its number of events; call SetEvents in a chunk";
inline constexpr char kNoBytesRead[] = "no chunk recorded how many bytes it read; call AddBytesRead in a chunk";

/// The complete specification: schema, title, where the figures come from, theme. `chart`: its name, title and
/// subtitle. `source_line`: which runs, measured by what. `body`: data and marks.
Json SpecificationOf(const Chart& chart, const std::string& finding, const std::string& source_line, const Json& body);

/// Marks of a chart on the page; a grid or map may have as many.
inline constexpr size_t kMostMarks = 10'000;

/// The encoding, without its field, of the time since the run's start, from 0 to `seconds`, with ticks at seconds,
/// minutes or hours as people count them.
Json TimeAxis(double seconds, int most_ticks = 8);

/// Lets an axis or a legend write numbers up to `largest` as HumanCount does: `553 k`.
Json NumberLabels(double largest);

/// A scale: `names` in order, each with a colour of the table (collector/format/colours.h). Both themes give the
/// colours their values.
Json ColourScale(const std::vector<std::string>& names, const std::vector<std::string_view>& colours);

/// For `runtime_distribution`: lines at values of an axis from `first` to `last`, with words beside them.
Json MarksWithWords(const std::vector<std::pair<double, std::string>>& marks, double first, double last,
                    bool is_logarithmic);

/// With a decimal point, also a count; null where it is not measured.
Json RealOf(const Number& number);

/// Six significant digits: what a picture can show, in a third of the bytes.
double Rounded(double value);

/// The template of that name with its places filled. A template is Vega-Lite, and besides
///
///   "data": {"name": "x"}   the rows `x` of `values`
///   "$x"                    the value `x`, or the piece `x`: of the template's own `pieces`, or of shared.json
///   {"$like": "x", ...}     the same, with further members or others instead of its own
///   {"$each": "x", ...}     once for each item of the list `x`, whose members are values inside it
///   {"$if": "x", ...}       only where there is a value `x`
///
/// What has no value, and a view without rows, is left out. Values are data: nothing in them is looked up.
Json FilledTemplate(std::string_view name, const Json& values);

/// At most 60 code points of valid UTF-8, the end kept, where paths differ; control and direction signs become spaces.
/// An empty name is `(no name)`.
std::string ShownName(std::string_view name);

/// The shortest end of `path`, in whole parts of it, that none of `paths` but itself has: `part_1.root`, or
/// `ttbar/part_1.root` where other folders have a file of that name.
std::string_view ShortestUniqueEnd(std::string_view path, const std::vector<std::string_view>& paths);

/// The name to show. Two names that look alike when they are cut get a number.
class ShownNames {
 public:
  const std::string& Of(std::string_view name);

 private:
  std::map<std::string, std::string, std::less<>> shown_;
  std::set<std::string> taken_;
};

}  // namespace crema
