// What verdicts are judged from: the core-second budget as the document holds it, whether a run left enough behind,
// growing memory, and lost workers.
#pragma once

#include "absl/algorithm/container.h"
#include "collector/measurement/column.h"
#include "collector/measurement/measurement.h"
#include "collector/measurement/thresholds.h"
#include "fmt/format.h"

namespace crema {

struct BudgetPart {
  std::string part;
  std::string group;  ///< as shown to people
  double core_seconds = 0;
  double share = 0;  ///< of the sum of all parts, 0 to 1

  /// As people are shown it.
  std::string name() const;
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

/// Threads without guards computed for chunks. How long they waited for a CPU is not known, so the cores may not have
/// been free while chunks waited for them.
bool HasUnannouncedThreads(const Measurement& measurement);

/// "process server (4711), which has no chunk in these records, computed for 5.9 s in this run", where threads that
/// waited for so many seconds may have waited for it: the one with most CPU time that `crema run` saw. Empty: there is
/// none.
std::string ProcessWithoutGuards(const Measurement& measurement, double waited);

/// A time in which no worker lived, in seconds of the run.
struct WorkerGap {
  double from = 0;
  double until = 0;
  double seconds() const { return until - from; }
};

/// The gaps after `from`, in seconds of the run; one that began before counts from there.
std::vector<WorkerGap> GapsOfWorkers(const Measurement& measurement, double from);

/// `; other processes of the run computed for 4 m 31 s and waited for a CPU for 12.0 s (cc1plus, rootcling)`: those
/// that are not workers, and lived between `from` and `until` (seconds), if they ran, or were ready to, for most of
/// `gap` seconds; else empty. Cores that no chunk used were not free then.
std::string OthersBusy(const Measurement& measurement, double from, double until, double gap);
/// Whether they may have been, as far as their sums show: when they were busy is not known of each.
bool OthersMayBeBusy(const Measurement& measurement, double from, double until, double gap);

/// The rows as far as something measured them: a part of 0 is null where it may be in what was not measured. No row
/// where they hold no core-seconds at all.
std::vector<BudgetRow> KnownBudget(const Measurement& measurement);

/// Reads the known rows; nullopt where there are none or where they hold no core-seconds at all.
std::optional<BudgetRows> ReadBudget(const Measurement& measurement);

/// Of the core-seconds in which chunks were ready to compute, those in which they did not: others had the cores.
double ShareWithoutCpu(const Measurement& measurement);

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

// Memory that grows over time: how fast, and when its limit is reached. A measurement has the slope over events, too
// (`rss_slope`); this one is also known of a running job, and of memory that has nothing to do with events.
inline constexpr int64_t kMemorySpanNs = 120'000'000'000;  ///< of samples: older ones say little of the next minutes
inline constexpr int64_t kMemoryStepNs = 1'000'000'000;    ///< between samples that are read off a timeline
inline constexpr size_t kPartsOfMemory = 3;  ///< of the samples: the last part shows whether it still grows

/// Resident memory at a moment.
struct MemoryPoint {
  int64_t time_ns = 0;
  int64_t rss_bytes = 0;
};

/// Bytes a second. nullopt where memory does not grow, where too little is known, and where it is at its limit.
std::optional<double> GrowthOf(const std::vector<MemoryPoint>& memory, int64_t limit_bytes);

/// The same, in seconds until the limit is reached, counted from the last sample.
std::optional<double> SecondsToLimit(const std::vector<MemoryPoint>& memory, int64_t limit_bytes);

/// A worker's memory, what it allocated where that is known, in the last `kMemorySpanNs` of its life, read off at equal
/// steps: timelines have changes only.
std::vector<MemoryPoint> LastMemoryOf(const Measurement& measurement, std::string_view worker);

// Workers that vanished, and what hangs on them.

struct LostWorkers {
  double workers = 0;                  ///< of the run
  std::vector<std::string> names;      ///< of those that are lost, in the order in which they vanished
  std::map<std::string, int> reasons;  ///< how many left for what, of those whose reason was reported
  bool has_engine = false;             ///< it reported the reasons
  double absent_seconds = 0;           ///< worker-seconds until the last worker stopped, less those of replacements
  double whole_seconds = 0;            ///< what the most workers that there were at once would have given until then
  /// Chunks, and their events, whose result was made in a lost process that no engine looked after: whether it was
  /// used is not known. With an engine, what is lost is computed again.
  double uncertain_chunks = 0;
  double uncertain_events = 0;

  bool any() const { return !names.empty(); }
  /// `node1:411, node1:412 and 2 more`: at most two names.
  std::string Names() const;
  /// `the engine says FAILURE`; `..., and nothing of 2`; without an engine the reasons alone; without any: what may
  /// have been.
  std::string Why() const;
};

/// `156 M to 206 M events`: how many the results are of, whichever of the uncertain chunks were used; `events`: all
/// that ended. Empty where nothing is uncertain.
std::string RangeOfResults(const LostWorkers& lost, double events);

/// None of a run that was killed as a whole: then all of its workers ended with it.
LostWorkers FindLostWorkers(const Measurement& measurement);

/// Its key, unit and meaning.
template <class Row>
const Column& ColumnOfMember(Number Row::*member) {
  Row row;
  row.*member = 1;  // all other numbers are null
  const absl::Span<const Column> columns = Row::Columns();
  return *absl::c_find_if(columns, [&row](const Column& column) {
    return column.cell != nullptr && std::holds_alternative<Number>(column.cell(&row));
  });
}

}  // namespace crema
