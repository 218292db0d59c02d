// The value of a metric in words, by the unit its definition names.
#ifndef CREMA_COLLECTOR_WRITERS_METRIC_TEXT_H_
#define CREMA_COLLECTOR_WRITERS_METRIC_TEXT_H_

#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace crema {

/// All digits the document holds; lists with spaces between.
std::string ExactText(const nlohmann::ordered_json& value);

/// For people: `6 m 17 s` of a value in `s`, `3.61 GiB` of memory and `284 GB` of data in `B`; an unknown unit is
/// written behind the number. `–` for null.
std::string MetricText(std::string_view key, const nlohmann::ordered_json& value, std::string_view unit);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_METRIC_TEXT_H_
