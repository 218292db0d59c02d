#include "collector/insight/between_runs.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "collector/insight/thresholds.h"

namespace crema {

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StudentBeyond(double t, size_t freedom) {
  return 2 * cdf(complement(boost::math::students_t(static_cast<double>(freedom)), std::fabs(t)));
}

double StudentQuantile(double tail, size_t freedom) {
  return quantile(complement(boost::math::students_t(static_cast<double>(freedom)), tail));
}

namespace {

double SquaresAbout(double mean, const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
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

}  // namespace

MeasuredChange BetweenSides(const std::vector<double>& before, const std::vector<double>& after, double* deviation) {
  Scatter scatter = WithinSides(before, after);
  if (before.size() == after.size()) {
    std::vector<double> differences;
    for (size_t i = 0; i < before.size(); ++i) differences.push_back(after[i] - before[i]);
    const Scatter of_pairs = WithinPairs(differences);
    if (PairsAreAlike(scatter, of_pairs)) scatter = of_pairs;
  }
  *deviation = std::sqrt(scatter.variance);
  const double shares = 1 / static_cast<double>(before.size()) + 1 / static_cast<double>(after.size());
  const double error = std::sqrt(scatter.variance * shares), change = MeanOf(after) - MeanOf(before);
  const double half = StudentQuantile(kRangeTail, scatter.freedom) * error;
  const double none = error > 0 ? StudentBeyond(change / error, scatter.freedom) : (change == 0 ? 1.0 : 0.0);
  return {change, half, half, none};
}

}  // namespace crema
