// How runs of one analysis on different numbers of cores compare: the answer of `crema scaling`.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/prediction/prediction.h"

namespace crema {

struct LawPoint {
  double cores = 0;
  double throughput = 0;  ///< work per second
};

/// `low` to `high` hold it with 90 % probability, if measured throughputs differ from the law by a normal relative
/// error. Without a value the law has none. Without `high` the points do not bound it.
struct FittedNumber {
  Number value, low, high;
  static absl::Span<const Column> Columns();
};

struct ScalingLaw {
  Text law;              ///< `amdahl`, or `usl`
  FittedNumber lambda;   ///< work per second of one core
  FittedNumber sigma;    ///< 0 to 1
  FittedNumber kappa;    ///< 0 or more; of Amdahl's law 0
  Number error;          ///< relative, of a point: root of the mean square, with the degrees of freedom
  FittedNumber fastest;  ///< cores with the highest throughput, whole
  /// Whole cores: the last of so many still brings at least half of what one core alone does.
  FittedNumber worthwhile;
  static absl::Span<const Column> Columns();
};

/// Fewer points draw no curve and say nothing of their own errors.
inline constexpr size_t kCoreCountsOfLaw = 4;
/// Numbers of cores with several runs each: fewer do not show by how much equal runs differ.
inline constexpr std::ptrdiff_t kRepeatedCounts = 2;

enum class LawKind { kAmdahl, kUsl };

/// Least squares of the relative errors, 0 <= s <= 1 and 0 <= k; intervals by the profile of their sum, which is cut
/// where Student's t says. Errors: fewer than `kCoreCountsOfLaw` different numbers of cores.
absl::StatusOr<ScalingLaw> FitLaw(LawKind kind, const std::vector<LawPoint>& points);

enum class ScalingKind {
  kStrong,  ///< the same work on all
  kWeak,    ///< as much work for each core
  kMixed,   ///< neither: rates are compared
};

/// A run. Times in seconds.
struct ScalingPoint {
  size_t source = 0;  ///< its place among the runs that were given
  Text name;
  Number cores;             ///< the most at once; the average where they came and went
  Number lanes;             ///< chunks at once, of a prediction
  Flag cores_vary = false;  ///< the average is below 90 % of the most: it takes no part in fits
  Flag predicted = false;
  Number wall_time, low, high;  ///< 90 % of predicted runs take between `low` and `high`
  Number work;                  ///< events; chunks where a run does not know its events
  Number throughput;            ///< work per second
  Number speedup;               ///< throughput over that of the runs with the fewest cores
  Number efficiency;            ///< speed-up over the ratio of the cores
  Number core_seconds;
  Number cost;     ///< core-seconds of a piece of work, over those of the runs with the fewest cores
  Number streams;  ///< events of task frameworks that were open, on average, as the next
  Number latency;  ///< mean, of such an event
  static absl::Span<const Column> Columns();
};

struct LeftOutRun {
  Text name, reason;
  static absl::Span<const Column> Columns();
};

struct ScalingStudy {
  bool is_predicted = false;  ///< from one run: every point but that run's
  ScalingKind kind = ScalingKind::kStrong;
  std::string_view work = "events";  ///< or `chunks`
  std::vector<ScalingPoint> points;  ///< by cores
  std::vector<ScalingLaw> laws;
  std::string why_no_law;               ///< empty where there are laws
  std::optional<double> best_measured;  ///< cores of the run with the highest throughput, if it was measured
  std::vector<std::string> notes;       ///< what makes the runs hard to compare
  std::vector<LeftOutRun> left_out;
  std::string refused;  ///< why there is no answer; empty if there is one
};

/// Takes at least two runs. `sources`: the path that each was read from; empty: they are not known. Pure.
ScalingStudy StudyScaling(const std::vector<const Measurement*>& measurements,
                          const std::vector<std::string>& sources = {});

/// For one run: what its own chunks, replayed on other numbers of cores, would take.
ScalingStudy PredictScaling(const Measurement& measurement, const ObservedRun& run);

/// One sentence, or two.
std::string ScalingSentence(const ScalingStudy& study);

/// The schema `crema.scaling/1`.
Json ScalingAsJson(const ScalingStudy& study);

}  // namespace crema
