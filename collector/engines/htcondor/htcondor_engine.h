// The events of HTCondor's job event log, in its classic text form: a line with the number of the event, the job and
// the time, lines that say more, and `...` (HTCondor's manual, "Job Event Log Codes").
#pragma once

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
  /// What the time is as well, where clocks are set back; nullopt: it is unique.
  std::optional<int64_t> later_ns;
  std::string text;                ///< after the time: `Job executing on host: <...>`
  std::vector<std::string> lines;  ///< those below, without blanks around them

  /// What is behind `name` and a colon or an equals sign in one of the lines: `SlotName: slot1@node`. Empty: none.
  std::string_view Field(std::string_view name) const;
};

/// The years of dates without one (`11/25 03:20:00`): days of a log never go back, so a day that does is of the next
/// year. Dates are passed twice, in the order of the log, with `EndAt` in between.
class CondorYears {
 public:
  int YearOf(int month, int day);
  /// The last date is the last such day until `latest_ns`.
  void EndAt(int64_t latest_ns);
  /// The year of the last date that was passed; 0: none was.
  int last() const { return last_day_ == 0 ? 0 : first_year_ + turns_; }

 private:
  static constexpr int kAnyLeapYear = 2000;
  int first_year_ = kAnyLeapYear;
  int turns_ = 0;
  int last_month_ = 0;
  int last_day_ = 0;
  std::vector<int> leaps_;  // turns before each 29 February
};

/// The first line of an event. Times without a zone are this machine's local time. Events of a cluster or of the log
/// itself have a negative `process`. nullopt: it is none.
std::optional<CondorEvent> ParseCondorEvent(std::string_view line, CondorYears* years);

}  // namespace crema
