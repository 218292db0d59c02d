// How runs of one analysis on different numbers of cores compare: the answer of `crema scaling`.
#ifndef CREMA_COLLECTOR_SCALING_SCALING_STUDY_H_
#define CREMA_COLLECTOR_SCALING_SCALING_STUDY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/measurement/measurement.h"
#include "collector/prediction/prediction.h"
#include "collector/scaling/scaling_law.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

enum class ScalingKind {
  kStrong,  ///< the same work on all
  kWeak,    ///< as much work for each core
  kMixed,   ///< neither: rates are compared
};

std::string_view ToString(ScalingKind kind);

/// A run. Times in seconds.
struct ScalingPoint {
  std::string name;
  double cores = 0;         ///< the most at once; the average where they came and went
  bool cores_vary = false;  ///< the average is below 90 % of the most: it takes no part in fits
  double wall_time = 0;
  double core_seconds = 0;
  double work = 0;                  ///< events; chunks where a run does not know its events
  double throughput = 0;            ///< work per second
  double speedup = 1;               ///< throughput over that of the runs with the fewest cores
  double efficiency = 1;            ///< speed-up over the ratio of the cores
  double cost = 1;                  ///< core-seconds of a piece of work, over those of the runs with the fewest cores
  std::optional<double> low, high;  ///< of a predicted run: 90 % of such runs take between these
};

struct LeftOutRun {
  std::string name;
  std::string reason;
};

struct ScalingStudy {
  bool is_predicted = false;  ///< from one run: every point but that run's
  ScalingKind kind = ScalingKind::kStrong;
  std::string_view work = "events";  ///< or `chunks`
  std::vector<ScalingPoint> points;  ///< by cores
  std::vector<ScalingLaw> laws;
  std::string why_no_law;               ///< empty where there are laws
  std::optional<double> best_measured;  ///< cores of the run with the highest throughput, if that is no prediction
  std::vector<std::string> notes;       ///< what makes the runs hard to compare
  std::vector<LeftOutRun> left_out;
  std::string refused;  ///< not empty: there is nothing to tell, for this reason
};

/// Of at least two runs. Pure.
ScalingStudy StudyScaling(const std::vector<const Measurement*>& measurements);

/// Of one run: what its own chunks, replayed on other numbers of cores, would take.
ScalingStudy PredictScaling(const Measurement& measurement, const ObservedRun& run);

/// One sentence, or two.
std::string ScalingSentence(const ScalingStudy& study);

/// The schema `crema.scaling/1`.
nlohmann::ordered_json ScalingAsJson(const ScalingStudy& study);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SCALING_SCALING_STUDY_H_
