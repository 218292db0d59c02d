// roastcoffea's `tracking_data` as step functions.
#ifndef CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_TIMELINES_H_
#define CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_TIMELINES_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace crema {

/// Seconds since the first sample of all, and the value from there on; by time.
using SampledSteps = std::vector<std::pair<double, double>>;

struct RoastcoffeaTimelines {
  SampledSteps worker_counts;
  std::map<std::string, std::map<std::string, SampledSteps>> by_worker;  ///< by series, then worker
  double stop = 0;                                                       ///< time of the last sample of all
};

/// Times are naive local ones: only their differences are used. Samples that are none are left out.
RoastcoffeaTimelines ReadRoastcoffeaTimelines(const nlohmann::ordered_json& tracking_data);

/// Integral of the last value held, from the first sample to `stop`.
double StepIntegral(const SampledSteps& steps, double stop);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_ROASTCOFFEA_ROASTCOFFEA_TIMELINES_H_
