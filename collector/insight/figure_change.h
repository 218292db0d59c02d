// How a figure of a run differs from that of another, its baseline, and whether that is more than chance makes of it.
#pragma once

#include <optional>
#include <string_view>

#include "collector/measurement/measurement.h"

namespace crema {

/// Less than this is no change that anybody need look at: of the baseline's value, of a share 5 points.
inline constexpr double kNotableChange = 0.05;

/// For a mean over chunks (`chunk_duration_mean`): half the width of its 95 % interval, from the chunks' own spread.
/// nullopt: `metric` is no mean, or there are fewer than two chunks.
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
