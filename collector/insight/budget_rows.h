// "The core-second budget" of docs/metrics.md as the document holds it, ready to be judged and drawn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/insight/thresholds.h"
#include "collector/measurement/measurement.h"

namespace crema {

struct BudgetPart {
  std::string part;
  std::string group;  ///< as shown to people
  double core_seconds = 0;
  double share = 0;  ///< of the sum of all parts, 0 to 1
};

struct BudgetGroup {
  std::string group;
  std::optional<double> core_seconds;  ///< nullopt: none of its parts was measured
  double share = 0;
};

/// `56.9 core-seconds`, `2 h 58 m of core time`.
std::string CoreTime(double core_seconds);

struct BudgetRows {
  double core_seconds = 0;  ///< sum of the parts
  std::vector<BudgetPart> parts;
  std::vector<BudgetGroup> groups;  ///< in the order of the rows

  /// Share of one part; 0 where it was not measured.
  double Share(std::string_view part) const;
};

/// A section outside chunks, and its wall time in workers, in seconds, without the sections inside it.
struct OutsideSection {
  std::string path;
  double self = 0;
};

/// What is known of the part `process_cpu`: the workers' sections outside chunks, longest first, at most three.
std::vector<OutsideSection> LongestOutsideChunks(const Measurement& measurement);

/// `, where section merge took 1.50 s`: the one of them that could fill most of these core-seconds; empty: none could.
std::string SectionThatFills(const Measurement& measurement, double core_seconds);

/// `; other processes of the run computed for 4 m 31 s and waited for a CPU for 12.0 s (cc1plus, rootcling)`: those
/// that are no workers, and lived between `from` and `until` (seconds), if they ran, or were ready to, for most of
/// `gap` seconds; else empty. Cores that no chunk used were not free then.
std::string OthersBusy(const Measurement& measurement, double from, double until, double gap);

/// Reads the rows; nullopt where there are none or where they hold no core-seconds at all.
std::optional<BudgetRows> ReadBudget(const Measurement& measurement);

// Whether a run left enough behind to be judged, asked once and answered the same by headline and verdicts.

enum class RunState { kFinished, kRunning, kKilled };

struct RunEvidence {
  RunState state = RunState::kFinished;
  double attempts = 0;  ///< begun
  double ended = 0;     ///< ok and failed ones; what is left was lost or is still open
  double lost = 0;
  std::optional<BudgetRows> budget;  ///< nullopt: no core-seconds were measured

  /// Chunks ended whose records have no CPU time, so that core-seconds are not divided up.
  bool LacksCpuTime(const Measurement& measurement) const;
  /// True where shares of the core-seconds mean something.
  bool IsEnough() const { return ended > 0 && budget.has_value() && kEnoughCoreSeconds.Holds(budget->core_seconds); }
};

RunEvidence ReadRunEvidence(const Measurement& measurement);

}  // namespace crema
