// The value of a metric in words, by the unit its definition names.
#ifndef CREMA_COLLECTOR_WRITERS_METRIC_TEXT_H_
#define CREMA_COLLECTOR_WRITERS_METRIC_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/cells.h"
#include "collector/measurement/metric_set.h"

namespace crema {

/// All digits the document holds; lists with spaces between.
std::string ExactText(const Cell& value);
std::string ExactText(const std::vector<std::string>& words);
std::string ExactText(const MetricValue& value);

/// For people: `6 m 17 s` of a value in `s`, `3.61 GiB` of memory and `284 GB` of data in `B`; an unknown unit is
/// written behind the number. `–` for null.
std::string MetricText(std::string_view key, const MetricValue& value, std::string_view unit);

/// The keys that it has, in docs/metrics.md's order, an alias after its key.
std::vector<std::string_view> KeysOf(const MetricSet& metrics);

}  // namespace crema

#endif  // CREMA_COLLECTOR_WRITERS_METRIC_TEXT_H_
