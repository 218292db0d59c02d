// Student's t distribution, for a whole number of degrees of freedom.
#ifndef CREMA_COLLECTOR_INSIGHT_STUDENT_DISTRIBUTION_H_
#define CREMA_COLLECTOR_INSIGHT_STUDENT_DISTRIBUTION_H_

#include <cstddef>

namespace crema {

/// A normal distribution has 5 % above as many of its standard deviations.
inline constexpr double kSigmasTo95 = 1.6448536269514722;

/// The probability of a value further from 0 than `t`, on either side (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double StudentBeyond(double t, size_t freedom);

/// The value with the probability `tail` above it, 0 < tail < 0.5.
double StudentQuantile(double tail, size_t freedom);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_STUDENT_DISTRIBUTION_H_
