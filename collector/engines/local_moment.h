// Times that a batch system writes without a zone.
#ifndef CREMA_COLLECTOR_ENGINES_LOCAL_MOMENT_H_
#define CREMA_COLLECTOR_ENGINES_LOCAL_MOMENT_H_

#include <time.h>

#include <optional>

namespace crema {

/// Seconds since 1970 of a time in this machine's zone (TZ).
struct LocalMoment {
  time_t seconds = 0;           ///< below 0: it is none
  std::optional<time_t> later;  ///< in the hour that comes twice, when clocks are set back: the second time
};

inline LocalMoment ReadLocalMoment(const tm& moment) {
  const auto read = [&moment](int is_dst) {
    tm copy = moment;
    copy.tm_isdst = is_dst;
    const time_t seconds = mktime(&copy);
    // mktime(3) moves the clock where the zone has no such time.
    return copy.tm_hour == moment.tm_hour && copy.tm_min == moment.tm_min ? seconds : -1;
  };
  const time_t summer = read(1), winter = read(0);
  if (summer > 0 && winter > summer) return {summer, winter};
  tm copy = moment;
  copy.tm_isdst = -1;
  return {mktime(&copy), std::nullopt};
}

}  // namespace crema

#endif  // CREMA_COLLECTOR_ENGINES_LOCAL_MOMENT_H_
