// What stands at the head of a run's picture, in the terminal as in the report: its name, when, on what, how it ended.
#ifndef CREMA_COLLECTOR_INSIGHT_RUN_HEAD_H_
#define CREMA_COLLECTOR_INSIGHT_RUN_HEAD_H_

#include <optional>
#include <string>

#include "collector/insight/key_figure_bands.h"
#include "collector/measurement/measurement.h"

namespace crema {

/// Its name, else its id, else "unnamed run".
std::string RunName(const Measurement& measurement);

/// `8 workers × 4 cores on 2 hosts`; empty where workers were not counted.
std::string OnWhat(const Measurement& measurement);

/// How days are written: a format of absl::FormatTime, and what stands between day and time.
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

enum class RunEnding { kUnknown, kRunning, kFinished, kFailed, kKilled };

struct StateInWords {
  RunEnding ending = RunEnding::kUnknown;
  std::string text = "state unknown";  ///< `finished`, `exit status 3`, `finished, 2 workers lost`
  std::optional<Mark> mark;            ///< none where nothing is to be judged: still running, or not known
};

StateInWords StateOf(const Measurement& measurement);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_RUN_HEAD_H_
