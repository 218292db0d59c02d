#include "collector/sources/roastcoffea/roastcoffea_timelines.h"

#include <algorithm>
#include <limits>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "collector/records/loose_json.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::optional<double> SecondsOf(const std::string& naive) {
  absl::Time time;
  std::string error;
  const absl::string_view text(naive.data(), naive.size());
  if (!absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", text, absl::UTCTimeZone(), &time, &error)) return std::nullopt;
  return absl::ToDoubleSeconds(time - absl::UnixEpoch());
}

void ShiftBy(double zero, SampledSteps* steps) {
  for (auto& [seconds, value] : *steps) seconds -= zero;
  std::sort(steps->begin(), steps->end());
}

}  // namespace

RoastcoffeaTimelines ReadRoastcoffeaTimelines(const Json& tracking_data) {
  RoastcoffeaTimelines timelines;
  double first = std::numeric_limits<double>::infinity(), last = -first;
  const auto add = [&](const Json& time, const Json& value, SampledSteps* steps) {
    if (!time.is_string() || !value.is_number()) return;
    const std::optional<double> seconds = SecondsOf(time.get<std::string>());
    if (!seconds.has_value()) return;
    steps->emplace_back(*seconds, value.get<double>());
    first = std::min(first, *seconds);
    last = std::max(last, *seconds);
  };
  for (const auto& [time, count] : Field(tracking_data, "worker_counts").items()) {
    add(time, count, &timelines.worker_counts);
  }
  for (const char* series :
       {"worker_memory", "worker_memory_limit", "worker_active_tasks", "worker_cores", "worker_nbytes",
        "worker_occupancy", "worker_executing", "worker_last_seen", "worker_cpu"}) {
    for (const auto& [worker, samples] : Field(tracking_data, series).items()) {
      if (!samples.is_array()) continue;
      SampledSteps& steps = timelines.by_worker[series][worker];
      for (const Json& sample : samples) {
        if (sample.is_array() && sample.size() == 2) add(sample[0], sample[1], &steps);
      }
    }
  }
  if (last < first) return {};
  ShiftBy(first, &timelines.worker_counts);
  for (auto& [series, workers] : timelines.by_worker) {
    for (auto& [worker, steps] : workers) ShiftBy(first, &steps);
  }
  timelines.stop = last - first;
  return timelines;
}

double StepIntegral(const SampledSteps& steps, double stop) {
  double integral = 0;
  for (size_t at = 0; at < steps.size(); ++at) {
    const double until = at + 1 < steps.size() ? steps[at + 1].first : std::max(stop, steps[at].first);
    integral += steps[at].second * (until - steps[at].first);
  }
  return integral;
}

}  // namespace crema
