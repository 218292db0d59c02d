// Figures as people read them: three significant digits (all where the value is whole), a unit, one space between. Pure
// text, locale-free. A value that is not finite is "?": it should have been null before it came here. The pages'
// scripts do the same (human_numbers.js); number_cases.json holds both to it.
#pragma once

#include <string>
#include <string_view>

namespace crema {

/// Counts below this are exact (`20 000`), others scaled (`553 k`); axes do the same.
inline constexpr double kExactBelow = 100'000;

/// `45.0 µs`, `120 ms`, `5.97 s`, `6 m 17 s`, `3 h 20 m 56 s`, `2 d 03 h 20 m`.
std::string HumanDuration(double seconds);
/// `4.00 s to 6.00 s`
std::string HumanDurationRange(double low, double high);

/// A time as a clock shows it, to the second: `0:37`, `6:17`, `3:20:56`.
std::string HumanClock(double seconds);

/// The seconds between ticks of an axis of time, as people count them (5, 15, 60 ...): `span_seconds` has at most
/// `most` such steps.
double RoundTimeStep(double span_seconds, double most);

/// Exact below 100,000 (`2 255`), else scaled (`553 k`, `20.8 M`); fractions keep three digits (`2.74`).
std::string HumanCount(double count);

/// Exact whatever its size: `1 234 567`.
std::string ExactCount(double count);

/// With all digits that it has: `1 234 567`, `0.123456789`.
std::string ExactNumber(double number);

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

/// A share (0 to 1) as `65 %`; below 10 % with one decimal (`4.2 %`), below 0.1 % with two. What is not all or nothing
/// never reads as if it were: `99.97 %`, `> 99.99 %`, `< 0.01 %`.
std::string HumanPercent(double share);

/// A share with a fixed number of decimals, for columns: `65.3 %`. Decimals are added where it would read as all or
/// nothing and is not.
std::string HumanPercent(double share, int decimals);

/// A relative change with its sign: `+12.3 %`, `-0.4 %`.
std::string HumanChange(double change);

/// A difference of times with its sign: `+3.2 s`.
std::string HumanTimeChange(double seconds);

/// How many times as much: `2.3`, `17`.
std::string HumanFactor(double factor);

/// Any other number: at most four significant digits, whole ones exact below a milliard.
std::string HumanNumber(double number);

/// The value of a metric in the unit that its definition names: `6 m 17 s` of `s`, `18.6 kHz/core` of `Hz/core`. Bytes
/// are memory or data, as `key` says. An unknown unit is written behind the number.
std::string HumanQuantity(std::string_view key, double value, std::string_view unit);

/// A sentence whose numbers do not part from their units where a page ends a line: with no-break spaces (U+00A0).
std::string Unbroken(std::string_view text);

}  // namespace crema
