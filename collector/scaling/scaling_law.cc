#include "collector/scaling/scaling_law.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "collector/appearance/human_numbers.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kTail = 0.05;      // on each side of an interval
constexpr double kMostKappa = 1;    // two cores would be slower than half of one
constexpr double kMostCores = 1e9;  // where the search for a number of cores ends
constexpr int kSteps = 200;         // over the interval of sigma
constexpr int kHalvings = 60;       // of an interval: beyond a double's digits
constexpr double kGolden = 0.6180339887498949;

/// The points as (throughput of a core, cores), and the best lambda in closed form: with g the throughput of a core
/// times what the law divides by, a point's relative error is 1 - g / lambda.
class Errors {
 public:
  explicit Errors(std::vector<LawPoint> points) : points_(std::move(points)) {}

  double Factor(const LawPoint& point, double sigma, double kappa) const {
    const double n = point.cores;
    return point.throughput / n * (1 + sigma * (n - 1) + kappa * n * (n - 1));
  }

  /// 1 / lambda.
  double BestInverse(double sigma, double kappa) const {
    double sum = 0, squares = 0;
    for (const LawPoint& point : points_) {
      const double factor = Factor(point, sigma, kappa);
      sum += factor;
      squares += factor * factor;
    }
    return sum / squares;
  }

  double Sum(double sigma, double kappa) const {
    const double inverse = BestInverse(sigma, kappa);
    double sum = 0;
    for (const LawPoint& point : points_) sum += std::pow(1 - inverse * Factor(point, sigma, kappa), 2);
    return sum;
  }

  /// By how much 1 / lambda may differ from the best before the sum exceeds `cut`.
  double HalfWidthOfInverse(double sigma, double kappa, double cut) const {
    double squares = 0;
    for (const LawPoint& point : points_) squares += std::pow(Factor(point, sigma, kappa), 2);
    return std::sqrt(std::max(0.0, cut - Sum(sigma, kappa)) / squares);
  }

  /// With this sigma: least squares of 1 = x u + y v, where u and v are what belongs to 1 / lambda and kappa / lambda.
  double BestKappa(double sigma) const {
    double uu = 0, uv = 0, vv = 0, u1 = 0, v1 = 0;
    for (const LawPoint& point : points_) {
      const double u = Factor(point, sigma, 0);
      const double v = Factor(point, sigma, 1) - u;
      uu += u * u, uv += u * v, vv += v * v, u1 += u, v1 += v;
    }
    const double x = u1 * vv - v1 * uv, y = v1 * uu - u1 * uv;
    if (!(y > 0)) return 0;
    return x > 0 ? std::min(kMostKappa, y / x) : kMostKappa;
  }

 private:
  std::vector<LawPoint> points_;
};

/// Where `is_inside` ends on the way from `inside` to `outside`; `outside` where it does not end.
double Edge(double inside, double outside, const std::function<bool(double)>& is_inside) {
  if (is_inside(outside)) return outside;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (inside + outside) / 2;
    (is_inside(middle) ? inside : outside) = middle;
  }
  return inside;
}

/// Of a function that falls, then rises.
double Lowest(double low, double high, const std::function<double(double)>& function) {
  const double from = low, to = high;
  for (int i = 0; i < 2 * kHalvings; ++i) {
    const double width = kGolden * (high - low);
    if (function(high - width) <= function(low + width)) {
      high = low + width;
    } else {
      low = high - width;
    }
  }
  double best = (low + high) / 2;
  for (const double end : {from, to}) {
    if (function(end) <= function(best)) best = end;
  }
  return best;
}

double Relative(double cores, double sigma, double kappa) {
  return cores / (1 + sigma * (cores - 1) + kappa * cores * (cores - 1));
}

double Fastest(double sigma, double kappa) {
  if (kappa <= 0) return kInfinity;
  const double peak = std::max(1.0, std::sqrt(std::max(0.0, 1 - sigma) / kappa));
  if (peak >= kMostCores) return kInfinity;
  const double below = std::floor(peak);
  return Relative(below, sigma, kappa) >= Relative(below + 1, sigma, kappa) ? below : below + 1;
}

double Worthwhile(double sigma, double kappa) {
  const auto is_worth_it = [&](double cores) {
    return Relative(cores, sigma, kappa) - Relative(cores - 1, sigma, kappa) >= 0.5;
  };
  double inside = 1, outside = 2;
  while (is_worth_it(outside)) {
    inside = outside;
    outside *= 2;
    if (outside > kMostCores) return kInfinity;
  }
  while (outside - inside > 1) {
    const double middle = std::floor((inside + outside) / 2);
    (is_worth_it(middle) ? inside : outside) = middle;
  }
  return inside;
}

std::optional<double> Finite(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

class Range {
 public:
  void Add(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  FittedNumber Around(double value) const { return {Finite(value), low_, Finite(high_)}; }

 private:
  double low_ = kInfinity, high_ = -kInfinity;
};

}  // namespace

double ScalingLaw::ThroughputOf(double cores) const {
  return lambda.value.value_or(0) * Relative(cores, sigma.value.value_or(0), kappa.value.value_or(0));
}

absl::StatusOr<ScalingLaw> FitLaw(LawKind kind, const std::vector<LawPoint>& points) {
  std::set<double> counts;
  for (const LawPoint& point : points) counts.insert(point.cores);
  if (counts.size() < kCoreCountsOfLaw) {
    return absl::FailedPreconditionError(fmt::format("a law needs {} different numbers of cores; there {} {}",
                                                     kCoreCountsOfLaw, counts.size() == 1 ? "is" : "are",
                                                     counts.size()));
  }
  const bool is_usl = kind == LawKind::kUsl;
  const Errors errors(points);
  const auto best_kappa = [&](double sigma) { return is_usl ? errors.BestKappa(sigma) : 0.0; };
  const auto profile = [&](double sigma) { return errors.Sum(sigma, best_kappa(sigma)); };
  const double sigma = Lowest(0, 1, profile), kappa = best_kappa(sigma);
  const double least = errors.Sum(sigma, kappa);
  const double freedom = static_cast<double>(points.size()) - (is_usl ? 3 : 2);
  const double t = boost::math::quantile(boost::math::students_t(freedom), 1 - kTail);
  const double cut = least * (1 + t * t / freedom);

  Range sigmas, kappas, lambdas, fastest, worthwhile;
  const auto add = [&](double s, double k) {
    const double inverse = errors.BestInverse(s, k), half = errors.HalfWidthOfInverse(s, k, cut);
    sigmas.Add(s);
    kappas.Add(k);
    lambdas.Add(1 / (inverse + half));
    lambdas.Add(inverse > half ? 1 / (inverse - half) : kInfinity);
    fastest.Add(Fastest(s, k));
    worthwhile.Add(Worthwhile(s, k));
  };
  add(sigma, kappa);
  const auto is_inside = [&](double s) { return profile(s) <= cut; };
  const double low = Edge(sigma, 0, is_inside), high = Edge(sigma, 1, is_inside);
  for (int i = 0; i <= kSteps; ++i) {
    const double s = low + (high - low) * i / kSteps, middle = best_kappa(s);
    add(s, middle);
    if (!is_usl) continue;
    const auto is_inside_too = [&](double k) { return errors.Sum(s, k) <= cut; };
    if (!is_inside_too(middle)) continue;
    add(s, Edge(middle, 0, is_inside_too));
    add(s, Edge(middle, kMostKappa, is_inside_too));
  }
  ScalingLaw law;
  law.name = is_usl ? "usl" : "amdahl";
  law.lambda = lambdas.Around(1 / errors.BestInverse(sigma, kappa));
  law.sigma = sigmas.Around(sigma);
  law.kappa = kappas.Around(kappa);
  if (law.kappa.high >= kMostKappa) law.kappa.high.reset();
  law.error = std::sqrt(least / freedom);
  law.fastest = fastest.Around(Fastest(sigma, kappa));
  law.worthwhile = worthwhile.Around(Worthwhile(sigma, kappa));
  return law;
}

}  // namespace crema
