// From marks to a complete specification: schema, title, where the figures come from, theme.
#ifndef CREMA_COLLECTOR_CHARTS_SPECIFICATION_H_
#define CREMA_COLLECTOR_CHARTS_SPECIFICATION_H_

#include <string>

#include "collector/charts/chart.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// `chart`: its name, title and subtitle. `source_line`: which runs, measured by what. `body`: data and marks.
nlohmann::ordered_json SpecificationOf(const Chart& chart, const std::string& finding, const std::string& source_line,
                                       const nlohmann::ordered_json& body);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_SPECIFICATION_H_
