// Templates of charts: Vega-Lite specifications in JSON, `templates/*.vl.json`, with places for what a run fills in.
#ifndef CREMA_COLLECTOR_CHARTS_CHART_TEMPLATE_H_
#define CREMA_COLLECTOR_CHARTS_CHART_TEMPLATE_H_

#include <string_view>

#include "nlohmann/json_fwd.hpp"

namespace crema {

/// The template of that name with its places filled. A template is Vega-Lite, and besides
///
///   "data": {"name": "x"}   the rows `x` of `values`
///   "$x"                    the value `x`, or the piece `x`: of the template's own `pieces`, or of shared.json
///   {"$like": "x", ...}     the same, with further members or others instead of its own
///   {"$each": "x", ...}     once for each item of the list `x`, whose members are values inside it
///   {"$if": "x", ...}       only where there is a value `x`
///
/// What has no value, and a view without rows, is left out. Values are data: nothing in them is looked up.
nlohmann::ordered_json FilledTemplate(std::string_view name, const nlohmann::ordered_json& values);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_CHART_TEMPLATE_H_
