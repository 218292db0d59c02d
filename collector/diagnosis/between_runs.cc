#include "collector/diagnosis/between_runs.h"

#include <boost/math/distributions/students_t.hpp>

#include "collector/idioms/normal_distribution.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/thresholds.h"

namespace crema {

double MeanOf(const std::vector<double>& values) {
  return absl::c_accumulate(values, 0.0) / static_cast<double>(values.size());
}

double StudentBeyond(double t, size_t freedom) {
  return 2 * cdf(complement(boost::math::students_t(static_cast<double>(freedom)), std::fabs(t)));
}

double StudentQuantile(double tail, size_t freedom) {
  return quantile(complement(boost::math::students_t(static_cast<double>(freedom)), tail));
}

namespace {

double SquaresAbout(double mean, const std::vector<double>& values) {
  return SumOf<double>(values, [&](const double value) { return (value - mean) * (value - mean); });
}

/// How far one run of a side is from another.
struct Scatter {
  double variance = 0;
  size_t freedom = 0;
};

Scatter WithinSides(const std::vector<double>& before, const std::vector<double>& after) {
  const size_t freedom = before.size() + after.size() - 2;
  const double squares = SquaresAbout(MeanOf(before), before) + SquaresAbout(MeanOf(after), after);
  return {squares / static_cast<double>(freedom), freedom};
}

/// What is left once the runs of a pair share whatever was slow then.
Scatter WithinPairs(const std::vector<double>& differences) {
  const size_t freedom = differences.size() - 1;
  return {SquaresAbout(MeanOf(differences), differences) / static_cast<double>(freedom) / 2, freedom};
}

/// Whether runs next to each other are alike: the sums of the pairs then scatter more than their differences. Both have
/// as many degrees of freedom m, and (F^0.5 - F^-0.5) m^0.5 / 2 of their ratio F is distributed as Student's t.
bool PairsAreAlike(const Scatter& of_sides, const Scatter& of_pairs) {
  const double of_sums = 2 * of_sides.variance - of_pairs.variance;
  if (of_pairs.variance <= 0 || of_sums <= 0) return of_sums > of_pairs.variance;
  const double root = std::sqrt(of_sums / of_pairs.variance);
  const double t = (root - 1 / root) * std::sqrt(static_cast<double>(of_pairs.freedom)) / 2;
  return t > StudentQuantile(kPairsByChance, of_pairs.freedom);
}

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

MeasuredChange BetweenSides(const std::vector<double>& before, const std::vector<double>& after, double* deviation) {
  Scatter scatter = WithinSides(before, after);
  if (before.size() == after.size()) {
    std::vector<double> differences;
    for (size_t i = 0; i < before.size(); ++i) differences.push_back(after[i] - before[i]);
    if (const Scatter of_pairs = WithinPairs(differences); PairsAreAlike(scatter, of_pairs)) scatter = of_pairs;
  }
  *deviation = std::sqrt(scatter.variance);
  const double shares = 1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size());
  const double error = std::sqrt(scatter.variance * shares), change = MeanOf(after) - MeanOf(before);
  const double half = StudentQuantile(kRangeTail, scatter.freedom) * error;
  const double none = error > 0 ? StudentBeyond(change / error, scatter.freedom) : (change == 0 ? 1.0 : 0.0);
  return {change, half, half, none};
}

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
  return ok > 1 ? std::optional<double>(kSigmasTo975 * *deviation / std::sqrt(ok)) : std::nullopt;
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
      changed.noise = kSigmasTo975 * std::sqrt(value + changed.before);
      notable = kNotableChange * changed.before;
      break;
    case ChangeOf::kRate:
    case ChangeOf::kMemory:
      if (changed.before != 0) changed.change = (value - changed.before) / std::fabs(changed.before);
      if (figure.kind == ChangeOf::kRate) changed.noise = RelativeNoise(baseline, measurement);
      break;
  }
  if (!changed.change.has_value()) return changed;
  if (const double size = std::fabs(*changed.change); size > notable && size > changed.noise.value_or(0)) {
    changed.is_better = (*changed.change > 0) == figure.more_is_better;
  }
  return changed;
}

bool HaveSameEvents(const Measurement& baseline, const Measurement& measurement) {
  const std::optional<double> before = baseline.Metric("total_events"), now = measurement.Metric("total_events");
  return before.has_value() && before == now;
}

}  // namespace crema
