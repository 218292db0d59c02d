// The normal distribution, and how it is measured: all in its standard deviations.
#pragma once

namespace crema {

inline constexpr double kSigmasTo95 = 1.6448536269514722;   ///< 5 % are above: half the width of a 90 % range
inline constexpr double kSigmasTo975 = 1.9599639845400542;  ///< 2.5 % are above: half the width of a 95 % range
inline constexpr double kMadToSigma = 1.4826;               ///< from the median distance to the median

}  // namespace crema
