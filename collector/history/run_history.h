// How one figure of an analysis went from run to run, and since when it has its level: the answer of `crema history`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace crema {

/// With fewer values a change cannot be distinguished from noise.
inline constexpr size_t kLeastValues = 8;
/// A level that lasts for fewer values is taken for outliers.
inline constexpr size_t kLeastSegment = 3;

/// Values of one level: [begin, end).
struct Segment {
  size_t begin = 0, end = 0;
  /// The values in which it may have begun, as far as the noise allows (90 %); of the first segment all three are 0.
  size_t earliest = 0, latest = 0;
  double level = 0;

  size_t size() const { return end - begin; }
};

/// A difference of two levels with its 90 % range.
struct LevelChange {
  double change = 0, low = 0, high = 0;
};

struct ChangePoints {
  std::vector<Segment> segments;  ///< at least one; one: nothing changed
  double noise = 0;               ///< standard deviation around the levels
  double seen = 0;                ///< a change of this size that lasts `kSeenFor` values at the end is found in 9 of 10
};
inline constexpr size_t kSeenFor = 10;

/// The cost is the sum of squares around the levels over the variance of the noise, and 5 log n for each change. The
/// noise is taken from the differences of neighbours, by their median, so that neither changes nor outliers widen it.
/// A value further than three standard deviations from the median of the five around it counts as if it were there: a
/// run on a bad day is not a change. `values`: finite, at least `kLeastValues`, in order of time. Pure.
ChangePoints FindChangePoints(const std::vector<double>& values);

/// `after` less `before`. By Student's t with the noise of all segments, as if the places of the changes were known.
LevelChange ChangeBetween(const ChangePoints& found, const Segment& before, const Segment& after);

/// The time in chunks without the time in which their threads waited for a CPU: `busy_time` - `chunk_cpu_wait`. Other
/// programs on the machine do not change it.
inline constexpr std::string_view kWorkOfRun = "work";

/// As people see it: of a hash the first digits.
std::string ShortCommit(const std::string& commit);

/// What `measurement.json` says of one run.
struct HistoryRun {
  std::string directory;  ///< as it was found
  std::string name, id, commit, host;
  std::string why_not;  ///< not empty: it cannot be compared with others, for this reason
  int64_t start_ns = 0;
  std::optional<double> events, cores;
  std::vector<std::string> datasets;                  ///< sorted
  std::map<std::string, double, std::less<>> values;  ///< of the metrics that were asked for, where measured
  std::map<std::string, std::string, std::less<>> units;

  std::string Start() const;  ///< `2026-11-24T02:34:11.123Z`
};

/// `metrics`: keys of the document, or `kWorkOfRun`. Each directory is a measurement, or holds measurements one level
/// below; one that is reached twice counts once. Read by `jobs` threads, in order of their starts (equal ones: of their
/// directories). What is damaged has a reason. Errors: a directory cannot be listed, or holds no measurement.
absl::StatusOr<std::vector<HistoryRun>> ReadHistory(const std::vector<std::string>& directories,
                                                    const std::vector<std::string>& metrics, int jobs);

/// Without a choice: the work where all runs processed as many events and know it, else the time; where they processed
/// different numbers of events, the rate.
inline constexpr std::string_view kTimeOfRun = "wall_time", kRateOfRun = "event_rate_wall_khz";
/// More runs than these are not looked at: the latest are.
inline constexpr size_t kMostRuns = 10'000;

struct HistoryChoice {
  std::string name = {};    ///< of the runs; empty: all have one
  std::string metric = {};  ///< empty: as above
  size_t last = kMostRuns;
};

/// The runs from one change to the next. A change is relative where all values are above 0, else in the metric's unit.
struct HistoryLevel {
  Segment place;                  ///< of `RunHistory::runs`
  double value = 0;               ///< the mean; the geometric one where changes are relative
  LevelChange since_before;       ///< of the first: zeros
  std::vector<std::string> also;  ///< what else its first run had otherwise than the run before: `4 cores, then 8`
};

struct LeftOutOfHistory {
  std::string directory;
  std::string reason;
};

struct RunHistory {
  std::string name, metric, unit;
  std::optional<bool> more_is_worse;  ///< nullopt: the metric says nothing of it
  bool is_relative = true;
  std::vector<HistoryRun> runs;      ///< by time; each has the metric
  ChangePoints points;               ///< without segments: too few runs to find a change
  std::vector<HistoryLevel> levels;  ///< one for each segment
  std::vector<LeftOutOfHistory> left_out;
  std::vector<std::string> notes;

  double ValueOf(size_t run) const { return runs[run].values.find(metric)->second; }
  std::string Written(double value) const;  ///< of the metric, in words
};

/// Pure. Errors: no run is left (why, of the first); the runs have several names, of which none was chosen.
absl::StatusOr<RunHistory> StudyHistory(std::vector<HistoryRun> runs, const HistoryChoice& choice);

/// How much worse the latest runs are than the best level before them, with the whole range, where that is more than
/// `limit`: a sentence. Empty: they are not. Errors: whether more is worse is not known of this metric.
absl::StatusOr<std::string> WorseThanBefore(const RunHistory& history, double limit);

/// Why nobody can say whether the latest runs are worse. Empty: it can be said.
std::string WhyNotJudged(const RunHistory& history);

/// One sentence for each change, or one on what would have been seen.
std::vector<std::string> HistorySentences(const RunHistory& history);

/// The schema `crema.history/1`.
nlohmann::ordered_json HistoryAsJson(const RunHistory& history);

}  // namespace crema
