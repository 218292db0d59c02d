#include "collector/insight/student_distribution.h"

#include <algorithm>
#include <cmath>

namespace crema {

double StudentBeyond(double t, size_t freedom) {
  constexpr size_t kAsGoodAsNormal = 10'000;
  t = std::fabs(t);
  if (freedom > kAsGoodAsNormal) return std::erfc(t / std::sqrt(2.0));
  const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool is_odd = freedom % 2 == 1;
  double term = is_odd ? cosine : 1, sum = freedom > 1 ? term : 0;
  for (size_t i = is_odd ? 3 : 2; i + 1 < freedom; i += 2) {
    const auto step = static_cast<double>(i);
    term *= square * (step - 1) / step;
    sum += term;
  }
  const double inside = is_odd ? 2 / M_PI * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
  return std::max(0.0, 1 - inside);
}

double StudentQuantile(double tail, size_t freedom) {
  double low = 0, high = 1;
  while (StudentBeyond(high, freedom) > 2 * tail) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (StudentBeyond(middle, freedom) > 2 * tail ? low : high) = middle;
  }
  return high;
}

}  // namespace crema
