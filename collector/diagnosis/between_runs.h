// How much two runs of the same differ.
#pragma once

#include "collector/measurement/measurement.h"

namespace crema {

// Student's t distribution, for a whole number of degrees of freedom.

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

// How a figure of a run differs from that of another, its baseline, and whether that is more than chance makes of it.

/// For a mean over chunks (`chunk_duration_mean`): half the width of its 95 % interval, from the chunks' own spread.
/// nullopt: `metric` is not a mean, or there are fewer than two chunks.
std::optional<double> HalfIntervalOfMean(const Measurement& measurement, std::string_view metric);

/// How a figure is compared.
enum class ChangeOf {
  kRate,     ///< times and rates, which vary as the chunks' durations do: relative
  kShare,    ///< in points; varies as they do
  kMemory,   ///< relative; how it varies is not known
  kFailures  ///< a count of rare events
};

struct ChangedFigure {
  std::string_view key;  ///< of the metric
  ChangeOf kind;
  bool more_is_better;
  double scale = 1;  ///< from the metric to a share
};

struct FigureChange {
  double before = 0;
  /// (value - before) / before; of a share value - before; of failures their difference. nullopt: before is 0.
  std::optional<double> change;
  /// As `change`: what two runs that are the same would differ by, with 95 %. nullopt: not known.
  std::optional<double> noise;
  /// Set where the change is beyond 5 % and beyond the noise.
  std::optional<bool> is_better;
};

/// nullopt where the figure was not measured in one of them.
std::optional<FigureChange> ChangeSince(const Measurement& baseline, const Measurement& measurement,
                                        const ChangedFigure& figure);

/// Whether both processed the same number of events: else their times are those of different work.
bool HaveSameEvents(const Measurement& baseline, const Measurement& measurement);

}  // namespace crema
