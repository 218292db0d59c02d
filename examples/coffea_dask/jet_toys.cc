#include "examples/coffea_dask/jet_toys.h"

#include <algorithm>
#include <cmath>

namespace jet_toys {
namespace {

constexpr double kTwoPi = 6.283185307179586;

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers on every machine, unlike <random>'s distributions.
class UniformNumbers {
 public:
  explicit UniformNumbers(std::uint64_t seed) : state_(seed) {}

  /// In (0, 1].
  double Next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    bits ^= bits >> 31;
    return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

/// Two independent normal numbers (Box and Muller, 1958).
Vector2 NormalNumbers(UniformNumbers& uniform) {
  const double radius = std::sqrt(-2 * std::log(uniform.Next()));
  const double angle = kTwoPi * uniform.Next();
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <typename FactorOf>
Observables MeasureWith(const Event& event, FactorOf factor_of) {
  Observables observables;
  Vector2 missing = event.missing;
  for (std::size_t i = 0; i < event.jets.size(); ++i) {
    const Jet& jet = event.jets[i];
    const double pt = jet.pt * factor_of(i);
    observables.ht += pt;
    missing.x -= (pt - jet.pt) * jet.cos_phi;
    missing.y -= (pt - jet.pt) * jet.sin_phi;
  }
  observables.missing = std::hypot(missing.x, missing.y);
  const double lepton_pt = std::hypot(event.lepton.x, event.lepton.y);
  const double product = event.lepton.x * missing.x + event.lepton.y * missing.y;
  observables.mt = std::sqrt(std::max(0.0, 2 * (lepton_pt * observables.missing - product)));
  return observables;
}

}  // namespace

double Resolution(double pt) {
  constexpr double kNoise = 3;       // GeV
  constexpr double kSampling = 0.9;  // GeV^0.5
  constexpr double kConstant = 0.03;
  return std::sqrt(kNoise * kNoise / (pt * pt) + kSampling * kSampling / pt + kConstant * kConstant);
}

void DrawFactors(const Event& event, std::size_t toys, std::vector<double>* factors) {
  const std::size_t jets = event.jets.size();
  factors->resize(toys * jets);
  UniformNumbers uniform(event.number);
  Vector2 normal;
  bool has_second = false;
  for (std::size_t i = 0; i < factors->size(); ++i) {
    if (!has_second) normal = NormalNumbers(uniform);
    const double number = has_second ? normal.y : normal.x;
    has_second = !has_second;
    (*factors)[i] = std::max(0.0, 1 + Resolution(event.jets[i % jets].pt) * number);
  }
}

Observables Measure(const Event& event, const double* factors) {
  return MeasureWith(event, [factors](std::size_t i) { return factors[i]; });
}

Observables Measure(const Event& event) {
  return MeasureWith(event, [](std::size_t) { return 1.0; });
}

}  // namespace jet_toys
