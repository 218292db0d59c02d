// What is at the head of a run's picture, in the terminal as in the report: its name, when, on what, how it ended.
#pragma once

#include "collector/diagnosis/key_figures.h"
#include "collector/diagnosis/words.h"
#include "collector/measurement/measurement.h"

namespace crema {

// What is wrong with a run's results and records: what is before all else, in the headline as in the pill.

struct RunTrouble {
  std::vector<std::string> clauses;  ///< `2 of 40 chunks have no result`, worst first
  std::string brief;                 ///< the first of them in a few words: `2 chunks without a result`
  Mark mark = Mark::kGood;           ///< bad where results are missing, or may be
  bool results_may_lack = false;     ///< a result is missing, or may be, or the records do not say

  bool any() const { return !clauses.empty(); }
};

/// How the run ended is not part of it. While it goes on, chunks without a result are about to come.
RunTrouble FindRunTrouble(const Measurement& measurement);

/// Its name, else its id, else "unnamed run".
std::string RunName(const Measurement& measurement);

/// `8 workers × 4 cores on 2 hosts`; empty where workers were not counted.
std::string OnWhat(const Measurement& measurement);

/// How days are written: a format of absl::FormatTime, and what is between day and time.
struct DayStyle {
  const char* day;
  const char* before_time;
};

/// In UTC. `stop` is empty while the run goes on, and without the day where that is the day of the start.
struct RunTimes {
  std::string start;
  std::string stop;
  std::string start_iso;  ///< `2026-11-21T14:02:11Z`
};

/// nullopt where the start is not known.
std::optional<RunTimes> TimesOf(const RunFacts& run, const DayStyle& style);

/// The last known time of a run whose end nobody recorded, `2026-11-21 14:02 UTC`; empty: there is none, or
/// its end is known.
std::string EndNotRecorded(const RunFacts& run);

enum class RunEnding { kUnknown, kRunning, kFinished, kFailed, kKilled };

struct StateInWords {
  RunEnding ending = RunEnding::kUnknown;
  std::string text = "state unknown";  ///< `finished`, `exit status 3`, `finished, 2 workers lost`
  std::optional<Mark> mark;            ///< none where nothing is to be judged: still running, or not known
};

StateInWords StateOf(const Measurement& measurement);

/// Why its elapsed time may not be that of the whole: `it was killed`, `it failed: exit status 3`, `no end was
/// recorded`. Empty: it finished.
std::string WhyNotWhole(const Measurement& measurement);

// "Can I trust this?": what is known about the measurement itself, the same rows wherever they are shown.

struct TrustItem {
  Mark mark = Mark::kGood;
  FigureText reported;

  std::string text() const { return reported.text(); }
};

/// Figures that were not measured for one reason.
struct UnmeasuredFigures {
  std::string reason;
  std::vector<std::string> keys;
};

/// By the reasons in `quality.not_measured`, in the order in which they come first.
std::vector<UnmeasuredFigures> FindUnmeasured(const Measurement& measurement);

/// Worst first, in the order of the table among equals.
std::vector<TrustItem> TrustItems(const Measurement& measurement);

}  // namespace crema
