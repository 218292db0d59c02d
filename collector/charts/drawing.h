// What a family of charts hands back: the marks and what they show, before title, theme and schema are put to it.
#ifndef CREMA_COLLECTOR_CHARTS_DRAWING_H_
#define CREMA_COLLECTOR_CHARTS_DRAWING_H_

#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace crema {

struct Drawing {
  nlohmann::ordered_json body;  ///< data, marks, encodings; null where there is nothing to draw
  std::string finding;          ///< the figures that answer the chart's question, one sentence without its full stop
  std::string reason;           ///< why there is nothing to draw
};

inline Drawing NotDrawn(std::string reason) { return {nullptr, "", std::move(reason)}; }

/// Marks of a chart on the page; a grid or map may have as many.
inline constexpr size_t kMostMarks = 10'000;

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_DRAWING_H_
