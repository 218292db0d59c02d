// How much two runs of the same differ.
#pragma once

#include <cstddef>
#include <vector>

namespace crema {

/// 90 % of equal runs on a machine that nobody else uses are within this part of their time of each other: clocks,
/// caches and where memory lies. It stands for what is not known where there is one run; several runs measure it.
inline constexpr double kBetweenRuns = 0.02;

// Student's t distribution, for a whole number of degrees of freedom.

/// A normal distribution has 5 % above as many of its standard deviations.
inline constexpr double kSigmasTo95 = 1.6448536269514722;

/// The probability of a value further from 0 than `t`, on either side.
double StudentBeyond(double t, size_t freedom);

/// The value with the probability `tail` above it, 0 < tail < 0.5.
double StudentQuantile(double tail, size_t freedom);

// How much a value differs between two sides of several runs, from how it scatters within each.

/// A change with half the width of its 90 % range to either side.
struct MeasuredChange {
  double change = 0;
  double below = 0;
  double above = 0;
  double probability_of_none = 1;  ///< of a change so far from 0, if there is none
};

double MeanOf(const std::vector<double>& values);

/// One value a run, in the order in which the runs of a side ran; three runs at least in all. With as many on both
/// sides, the first of one ran next to the first of the other, and so on: where such pairs are more alike than chance
/// makes them, what their runs share cancels. `deviation` gets the standard deviation of equal runs.
MeasuredChange BetweenSides(const std::vector<double>& before, const std::vector<double>& after, double* deviation);

}  // namespace crema
