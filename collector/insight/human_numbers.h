// Figures as people read them: three significant digits (all where the value is whole), a unit, one space between. Pure
// text, locale-free. A value that is not finite is "?": it should have been null before it came here.
#ifndef CREMA_COLLECTOR_INSIGHT_HUMAN_NUMBERS_H_
#define CREMA_COLLECTOR_INSIGHT_HUMAN_NUMBERS_H_

#include <string>
#include <string_view>

namespace crema {

/// `45 µs`, `120 ms`, `5.97 s`, `6 m 17 s`, `3 h 20 m 56 s`, `2 d 03 h 20 m`.
std::string HumanDuration(double seconds);

/// Exact below 100,000 (`2 255`), else scaled (`553 k`, `20.8 M`); fractions keep three digits (`2.74`).
std::string HumanCount(double count);

/// Exact whatever its size: `1 234 567`.
std::string ExactCount(double count);

/// A count with its noun: `1 chunk`, `2 255 chunks`.
std::string Counted(double count, std::string_view singular, std::string_view plural);

/// Per second: `553 k/s`, `17.3 k/s`, `0.52/s`.
std::string HumanRate(double per_second);

/// Memory, in powers of 1024: `512 B`, `3.61 GiB`.
std::string HumanMemory(double bytes);

/// Data read or moved, in powers of 1000: `512 B`, `283 GB`.
std::string HumanData(double bytes);

/// `6.03 Gbit/s`, from Gbit/s.
std::string HumanBitRate(double gigabits_per_second);

/// A share (0 to 1) as `65 %`; below 10 % with one decimal (`4.2 %`), below 0.1 % with two,
/// and `< 0.01 %` where those are 0.
std::string HumanPercent(double share);

/// A share with a fixed number of decimals, for columns: `65.3 %`.
std::string HumanPercent(double share, int decimals);

/// Any other number: at most four significant digits, integers exact.
std::string HumanNumber(double number);

}  // namespace crema

#endif  // CREMA_COLLECTOR_INSIGHT_HUMAN_NUMBERS_H_
