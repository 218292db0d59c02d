#include "collector/detail/sampled_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace crema {
namespace {

bool IsEarlier(const TimelinePoint& a, const TimelinePoint& b) { return a.seconds < b.seconds; }

/// Whether a value is of the time since the sample before; those of `crema run` begin where they hold.
bool IsSinceTheSampleBefore(std::string_view key) {
  constexpr std::string_view kWorker = "worker_", kRate = "_bps";
  if (key == "worker_cpu" || key == "worker_gil_contention") return true;
  return key.substr(0, kWorker.size()) == kWorker && key.size() > kRate.size() &&
         key.substr(key.size() - kRate.size()) == kRate;
}

}  // namespace

SampledSteps::SampledSteps(const Measurement& measurement, std::string_view key) {
  const auto* workers = measurement.timelines.Find("worker_last_seen");
  if (workers == nullptr || !IsSinceTheSampleBefore(key)) return;
  for (const auto& [name, samples] : *workers) {
    if (std::is_sorted(samples.begin(), samples.end(), IsEarlier)) samples_.emplace(name, &samples);
  }
}

Timeline SampledSteps::Of(const std::string& worker, const Timeline& points) const {
  Timeline steps;
  for (const TimelinePoint& step : points) {
    if (std::isfinite(step.seconds) && std::isfinite(step.value)) steps.push_back(step);
  }
  if (!std::is_sorted(steps.begin(), steps.end(), IsEarlier)) std::stable_sort(steps.begin(), steps.end(), IsEarlier);
  const auto found = samples_.find(worker);
  if (found == samples_.end()) return steps;
  for (TimelinePoint& step : steps) {
    const auto at = std::lower_bound(found->second->begin(), found->second->end(), step, IsEarlier);
    if (at != found->second->begin()) step.seconds = std::prev(at)->seconds;
  }
  return steps;
}

}  // namespace crema
