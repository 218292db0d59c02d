#include "collector/insight/figure_change.h"

#include <cmath>
#include <string>

namespace crema {
namespace {

constexpr double kNormal95 = 1.96;  // standard deviations to either side that hold 95 % of a normal distribution

/// By how much the mean duration of a chunk, and so what is made from it, varies from run to run: a share of itself.
std::optional<double> RelativeNoise(const Measurement& measurement) {
  const std::optional<double> half = HalfIntervalOfMean(measurement, "chunk_duration_mean");
  const std::optional<double> mean = measurement.Metric("chunk_duration_mean");
  if (!half.has_value() || !mean.has_value() || !(*mean > 0)) return std::nullopt;
  return *half / *mean;
}

std::optional<double> RelativeNoise(const Measurement& baseline, const Measurement& measurement) {
  const std::optional<double> before = RelativeNoise(baseline), now = RelativeNoise(measurement);
  if (!before.has_value() || !now.has_value()) return std::nullopt;
  return std::sqrt(*before * *before + *now * *now);  // std::hypot would ask for glibc 2.35
}

}  // namespace

std::optional<double> HalfIntervalOfMean(const Measurement& measurement, std::string_view metric) {
  constexpr std::string_view kMean = "_mean";
  if (metric.size() <= kMean.size() || metric.substr(metric.size() - kMean.size()) != kMean) return std::nullopt;
  const std::string quantity(metric.substr(0, metric.size() - kMean.size()));
  const auto deviation = measurement.Metric(quantity + "_std"), attempts = measurement.Metric("num_attempts");
  if (!deviation.has_value() || !attempts.has_value()) return std::nullopt;
  double ok = *attempts - measurement.Metric("num_failed_attempts").value_or(0) -
              measurement.Metric("num_lost_attempts").value_or(0);
  for (const NamedCount& missing : measurement.quality.missing_values) {
    if (missing.name == quantity) ok -= static_cast<double>(missing.count);
  }
  return ok > 1 ? std::optional<double>(kNormal95 * *deviation / std::sqrt(ok)) : std::nullopt;
}

std::optional<FigureChange> ChangeSince(const Measurement& baseline, const Measurement& measurement,
                                        const ChangedFigure& figure) {
  const std::optional<double> before = baseline.Metric(figure.key), now = measurement.Metric(figure.key);
  if (!before.has_value() || !now.has_value()) return std::nullopt;
  FigureChange changed;
  changed.before = *before * figure.scale;
  const double value = *now * figure.scale;
  double notable = kNotableChange;
  switch (figure.kind) {
    case ChangeOf::kShare:
      changed.change = value - changed.before;
      changed.noise = RelativeNoise(baseline, measurement);
      if (changed.noise.has_value()) *changed.noise *= changed.before;
      break;
    case ChangeOf::kFailures:
      changed.change = value - changed.before;
      changed.noise = kNormal95 * std::sqrt(value + changed.before);
      notable = kNotableChange * changed.before;
      break;
    case ChangeOf::kRate:
    case ChangeOf::kMemory:
      if (changed.before != 0) changed.change = (value - changed.before) / std::fabs(changed.before);
      if (figure.kind == ChangeOf::kRate) changed.noise = RelativeNoise(baseline, measurement);
      break;
  }
  if (!changed.change.has_value()) return changed;
  const double size = std::fabs(*changed.change);
  if (size > notable && size > changed.noise.value_or(0)) {
    changed.is_better = (*changed.change > 0) == figure.more_is_better;
  }
  return changed;
}

bool HaveSameEvents(const Measurement& baseline, const Measurement& measurement) {
  const std::optional<double> before = baseline.Metric("total_events"), now = measurement.Metric("total_events");
  return before.has_value() && before == now;
}

}  // namespace crema
