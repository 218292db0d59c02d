// The events of HTCondor's job event log, in its classic text form: a line with the number of the event, the job and
// the time, lines that say more, and `...` (HTCondor's manual, "Job Event Log Codes").
#ifndef CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_EVENTS_H_
#define CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_EVENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crema {

struct CondorEvent {
  int64_t code = -1;
  int64_t cluster = 0;
  int64_t process = 0;
  int64_t time_ns = 0;
  std::string text;                ///< after the time: `Job executing on host: <...>`
  std::vector<std::string> lines;  ///< those below, without blanks around them

  /// What stands behind `name` and a colon or an equals sign in one of the lines: `SlotName: slot1@node`. Empty: none.
  std::string_view Field(std::string_view name) const;
  /// The number in front of `- what`: `2132  -  ResidentSetSize of job (KB)`.
  std::optional<int64_t> Figure(std::string_view what) const;
  /// User and system time of `Usr 0 00:01:00, Sys 0 00:00:01  -  Run Remote Usage`.
  std::optional<int64_t> UsageNs(std::string_view what) const;
  /// A row of the table of resources: `Memory (MB) : 1 1 2048`.
  struct Resource {
    std::optional<double> used;
    std::optional<double> requested;
    std::optional<double> allocated;
  };
  Resource ResourceOf(std::string_view name) const;
};

/// The first line of an event. Times without a zone are this machine's local time; those without a year (`11/25
/// 03:20:00`) are of the last such day until `latest_ns`. nullopt: it is none.
std::optional<CondorEvent> ParseCondorEvent(std::string_view line, int64_t latest_ns);

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_HTCONDOR_CONDOR_EVENTS_H_
