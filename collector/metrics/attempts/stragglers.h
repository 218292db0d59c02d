// Chunks that took far longer than their size explains or are far larger than their like, and times in which all took
// longer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "collector/measurement/thresholds.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/parallel.h"
#include "collector/metrics/storage/row_memory.h"

namespace crema {

/// A straight line through chunks that outliers do not bend: duration = fixed + slope x events.
struct ChunkPoint {
  double events;
  double seconds;
};

struct RobustFit {
  double fixed_seconds = 0;
  double seconds_per_event = 0;
  /// False where fewer than two different numbers of events were seen: then the slope is 0 and `fixed_seconds` is the
  /// median duration, which predicts chunks of that size and says nothing of others.
  bool slope_known = false;
  int64_t points = 0;
  /// Half the width of the 95 % intervals of the two, from the scale of the residuals (1.4826 of their median distance
  /// from their median), which outliers do not widen; 0 where the slope is not known.
  double fixed_error = 0;
  double slope_error = 0;

  /// The line, what residuals are measured from; through noisy points it may run below 0.
  double At(double events) const { return fixed_seconds + seconds_per_event * events; }
  /// No chunk takes less than nothing.
  double Predict(double events) const { return std::max(0.0, At(events)); }
};

/// Theil-Sen line (Sen, JASA 63, 1968): the median of the slopes between pairs of points, then the median of what is
/// left. The pairs are those of at most 256 groups of equal or neighbouring events, each at its median duration; a pair
/// weighs the product of their sizes. So up to 256 points of different events it is exact; it costs O(n log n), and
/// does not depend on the points' order. No points: all zero. Afterwards the points are in order of events.
RobustFit FitDuration(absl::Span<ChunkPoint> points);

/// Where most of a straggler's excess over the prediction went, against the dataset's median shares.
enum class StragglerReason : uint8_t { kCpu, kCpuWait, kBlocked, kJoined, kUnknown };

/// `cpu`, `cpu_wait`, `blocked`, `joined` (waiting for its own helpers) or `unknown` (CPU or run delay not measured).
std::string_view ToString(StragglerReason reason);

struct Straggler {
  size_t attempt = 0;  ///< index into the attempts
  double predicted_seconds = 0;
  StragglerReason reason = StragglerReason::kUnknown;
};

/// What is known of one dataset's chunks, in one pass.
struct DatasetFit {
  uint32_t dataset = 0;    ///< as `dataset_of_input` numbers them
  RobustFit fit;           ///< over its `ok` attempts
  bool by_events = false;  ///< attempts whose events are unknown were left out; false: all are unknown
  double events_min = 0;   ///< of the attempts in the fit, as the next two
  double events_p50 = 0;
  double events_max = 0;
  int64_t stragglers = 0;
  int64_t oversized = 0;
};

/// A dataset whose chunks can be judged.
struct FittedDataset {
  size_t ok = 0;             ///< attempts
  size_t with_events = 0;    ///< of them; the others are judged only where there is none of these
  size_t sized_results = 0;  ///< of those with events
  DatasetFit fit;
  std::optional<double> most_events;  ///< results with more are oversized; nullopt: no result's events are known

  bool is_judged() const { return judged() >= kLeastFittedAttempts; }
  size_t judged() const { return with_events > 0 ? with_events : ok; }
  bool Judges(const AttemptRow& attempt) const { return with_events == 0 || attempt.events != AttemptRow::kUnknown; }
};

struct StragglerFindings {
  std::vector<Straggler> stragglers;  ///< largest excess (duration - prediction) first
  std::vector<DatasetFit> datasets;   ///< by dataset index; those with an `ok` attempt
  /// docs/metrics.md, `straggler_chunks`; nullopt where no dataset has 8 `ok` attempts.
  std::optional<int64_t> straggler_chunks;
  /// docs/metrics.md, `oversized_chunks`, over results; nullopt where no result's events are known.
  std::optional<int64_t> oversized_chunks;
};

/// Where most of a straggler's excess may have gone: shares of a duration, in the order of `StragglerReason`.
using DurationParts = std::array<double, 4>;

/// Finds stragglers in steps, of which some may go on at once. `dataset_of_input[attempt.input]` is the attempt's
/// dataset in its pass. A dataset whose chunks' events are all unknown has its median duration for a line; where only
/// some are, the others are left out.
class StragglerSearch {
 public:
  /// The arguments outlive it.
  StragglerSearch(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers,
                  const std::vector<uint32_t>& dataset_of_input)
      : attempts_(attempts), helpers_(helpers), dataset_of_input_(dataset_of_input) {}

  /// First, on all threads.
  void Gather(const WorkLimits& limits);
  void FindUsualShares();
  /// All of the fits but for their errors.
  void Fit();
  /// After `Fit`.
  void FindErrors();
  /// After `Fit` and `FindUsualShares`.
  void Judge();

  /// The fits of those with an `ok` attempt, by dataset index.
  std::vector<DatasetFit> fits() const;
  /// After all of it.
  StragglerFindings Take() &&;

 private:
  template <class Visit>
  void ForEachOk(const AttemptRows::Range& range, const Visit& visit) const;
  template <class Visit>
  void ForEachOk(const Visit& visit) const {
    ForEachOk({0, attempts_.size()}, visit);
  }
  absl::Span<ChunkPoint> PointsOf(size_t dataset) {
    return absl::MakeSpan(points_).subspan(first_[dataset], datasets_[dataset].judged());
  }
  std::optional<double> FenceOf(size_t dataset);
  StragglerReason ReasonOf(const Straggler& straggler) const;

  const AttemptRows& attempts_;
  const std::vector<HelperTimes>& helpers_;
  const std::vector<uint32_t>& dataset_of_input_;
  std::vector<FittedDataset> datasets_;      // by index
  LargeList<ChunkPoint> points_;             // of those that are judged, by dataset; once there is a fit, by events
  std::vector<size_t> first_;                // by dataset: where its points begin
  std::vector<DurationParts> usual_shares_;  // median shares, by dataset
  StragglerFindings findings_;
};

/// All steps of `StragglerSearch`.
StragglerFindings FindStragglers(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers,
                                 const std::vector<uint32_t>& dataset_of_input);

/// Calls `visit(index, attempt, predicted_ns)` for each `ok` attempt of a dataset that has enough of them to be judged
/// (`kLeastFittedAttempts`); those whose events are not known are left out where others' are. In an `order` of
/// `OrderByStart`.
template <class Visit>
void ForEachJudged(const AttemptRows& attempts, const std::vector<uint32_t>& dataset_of_input,
                   const std::vector<DatasetFit>& fits, const Visit& visit, const StartOrder& order = {}) {
  std::vector<const DatasetFit*> fit_of_dataset;
  for (const DatasetFit& fit : fits) {
    if (fit.fit.points < kLeastFittedAttempts) continue;
    GrownAt(&fit_of_dataset, fit.dataset) = &fit;
  }
  attempts.ForEachInOrder(order, [&](size_t i, const AttemptRow& attempt) {
    if (attempt.status != AttemptState::kOk || attempt.duration_ns < 0) return;
    const uint32_t dataset = dataset_of_input[attempt.input];
    const DatasetFit* fit = dataset < fit_of_dataset.size() ? fit_of_dataset[dataset] : nullptr;
    const bool has_events = attempt.events != AttemptRow::kUnknown;
    if (fit == nullptr || (fit->by_events && !has_events)) return;
    const double predicted = fit->fit.Predict(has_events ? static_cast<double>(attempt.events) : 0);
    visit(i, attempt, static_cast<int64_t>(predicted * 1e9));
  });
}

/// What the attempts of a worker or a file took, against what chunks of their dataset and size take.
/// Sums over the `ok` attempts that their dataset's fit judges (at least `kLeastFittedAttempts` in the dataset).
struct ExpectedTime {
  uint32_t group = 0;  ///< what they were grouped by: a process or a file
  int64_t attempts = 0;
  double duration_seconds = 0;
  double predicted_seconds = 0;  ///< what the fits give for their events

  double excess_seconds() const { return duration_seconds - predicted_seconds; }
};

/// Each of those with attempts; the largest excess first, then by group.
struct ExpectedTimes {
  std::vector<ExpectedTime> by_process;
  std::vector<ExpectedTime> by_file;
};

/// `file_of_input[attempt.input]` is the attempt's file.
ExpectedTimes FindExpectedTimes(const AttemptRows& attempts, const std::vector<uint32_t>& dataset_of_input,
                                const std::vector<uint32_t>& file_of_input, const std::vector<DatasetFit>& fits);

// Slowness that lasted only a while: of a worker, a host, a file, a dataset, or of everything.

/// From the narrowest to all.
enum class PeriodOf : uint8_t { kFile, kWorker, kHost, kDataset, kRun };

std::string_view ToString(PeriodOf of);

struct SlowPeriod {
  PeriodOf of = PeriodOf::kRun;
  uint32_t group = 0;    ///< index of the file, process, host or dataset; 0 of the run
  int64_t start_ns = 0;  ///< Unix time: the first begin and the last stop of its chunks
  int64_t stop_ns = 0;
  int64_t attempts = 0;
  double duration_seconds = 0;
  double predicted_seconds = 0;                        ///< what the fits give for their events
  StragglerReason reason = StragglerReason::kUnknown;  ///< where most of the excess went

  double excess_seconds() const { return duration_seconds - predicted_seconds; }
};

/// Where attempts belong. Hosts are those of the processes. Without names, files and datasets are not groups.
struct PeriodGroups {
  const std::vector<uint32_t>& dataset_of_input;  ///< in its pass
  const std::vector<uint32_t>& file_of_input;
  const std::vector<uint32_t>& host_of_process;
  bool has_files = true;
  bool has_datasets = true;
};

/// Largest excess first; of slow periods that overlap in time only the one with most of it, and of those that have
/// nearly as much, the narrowest. A period has 5 `ok` attempts or more that the fits judge, of which 7 in 10 are slow
/// by themselves, and no single one has half of the excess; it holds at most 8 tenths of what its group should take,
/// and outside it the group is not slow. `order`: that of the attempts.
std::vector<SlowPeriod> FindSlowPeriods(const AttemptRows& attempts, const StartOrder& order,
                                        const PeriodGroups& groups, const std::vector<DatasetFit>& fits);

/// The attempt's file, process, host or dataset; 0 of the run. `Attempt`: what has `input` and `process`.
template <class Attempt>
uint32_t GroupOf(PeriodOf of, const Attempt& attempt, const PeriodGroups& groups) {
  switch (of) {
    case PeriodOf::kFile:
      return groups.file_of_input[attempt.input];
    case PeriodOf::kWorker:
      return attempt.process;
    case PeriodOf::kHost:
      return groups.host_of_process[attempt.process];
    case PeriodOf::kDataset:
      return groups.dataset_of_input[attempt.input];
    case PeriodOf::kRun:
      break;
  }
  return 0;
}

/// Whether the attempt belongs to the period's group, and began and ended in the period.
inline bool IsInPeriod(const AttemptRow& attempt, const SlowPeriod& period, const PeriodGroups& groups) {
  return attempt.start_ns >= period.start_ns && attempt.stop_ns() <= period.stop_ns &&
         GroupOf(period.of, attempt, groups) == period.group;
}

/// Slow periods that are shown, and that get a reason: the others cost less.
inline constexpr size_t kMostSlowPeriods = 100;

/// Sets the reason of the first periods: computing, waiting for a CPU, blocked or waiting for helpers, by what their
/// chunks took of it beyond what chunks of their datasets take elsewhere. Unknown where their CPU time is. Removes
/// those of a host, dataset or run in which only one of several processes was slow.
void ExplainPeriods(const AttemptRows& attempts, const std::vector<HelperTimes>& helpers, const PeriodGroups& groups,
                    const std::vector<DatasetFit>& fits, std::vector<SlowPeriod>* periods);

/// Chunks of a sample on each side: enough for a share, and few enough to be found again in the logs.
inline constexpr size_t kMostSampledChunks = 1000;

struct SampledAttempt {
  size_t attempt = 0;  ///< index into the attempts
  uint32_t dataset = 0;
  int64_t predicted_ns = 0;  ///< by its dataset's fit
};

struct PeriodSample {
  std::vector<SampledAttempt> inside;
  std::vector<SampledAttempt> elsewhere;  ///< of the same datasets
};

/// Evenly spread over the attempts that fits judge.
PeriodSample SamplePeriod(const AttemptRows& attempts, const SlowPeriod& period, const PeriodGroups& groups,
                          const std::vector<DatasetFit>& fits);

}  // namespace crema
