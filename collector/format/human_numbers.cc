#include "collector/format/human_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kNotFinite = "?";

// Beyond this a double no longer counts in ones.
constexpr double kLargestExact = 9007199254740992.0;
// Powers of ten that a double holds exactly.
constexpr int kMostDecimals = 15;

constexpr std::array<std::string_view, 6> kCounts = {"", "k", "M", "G", "T", "P"};
constexpr std::array<std::string_view, 6> kMemory = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr std::array<std::string_view, 6> kData = {"B", "kB", "MB", "GB", "TB", "PB"};
constexpr std::array<std::string_view, 5> kBitRates = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
constexpr std::array<std::string_view, 4> kFrequencies = {"Hz", "kHz", "MHz", "GHz"};

/// But for what a sum of doubles leaves behind.
bool IsWhole(double value) { return std::fabs(value - std::round(value)) <= 1e-9 * std::fabs(value); }

/// Halves away from zero, as people and the pages' scripts do.
double Rounded(double value, int decimals) {
  const double scale = std::pow(10, decimals);
  return std::round(value * scale) / scale + 0.0;  // no -0
}

std::string Fixed(double value, int decimals) { return fmt::format("{:.{}f}", Rounded(value, decimals), decimals); }

/// Three digits; of what is small, two decimals or two digits.
std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return Fixed(value, 0);
  if (size >= 9.995) return Fixed(value, 1);
  int decimals = 2;
  for (double least = 0.095; size > 0 && size < least && decimals < kMostDecimals; least /= 10) ++decimals;
  return Fixed(value, decimals);
}

template <size_t N>
std::string Scaled(double value, double base, const std::array<std::string_view, N>& units) {
  if (!std::isfinite(value)) return std::string(kNotFinite);
  size_t unit = 0;
  // 999.6 would be printed as "1000": it belongs to the next unit
  while (unit + 1 < N && std::fabs(value) >= base - 0.5) {
    value /= base;
    ++unit;
  }
  const std::string digits = IsWhole(value) ? fmt::format("{:.0f}", std::round(value)) : ThreeDigits(value);
  return units[unit].empty() ? digits : fmt::format("{} {}", digits, units[unit]);
}

std::string Grouped(int64_t count) {
  std::string digits = std::to_string(count < 0 ? -count : count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), 1, ' ');
  return count < 0 ? "-" + digits : digits;
}

/// Four significant digits, without zeros at the end.
std::string FourDigits(double value) {
  const double size = std::fabs(value);
  int decimals = 3;
  for (double limit = 10; size >= limit && decimals > 0; limit *= 10) --decimals;
  for (double least = 1; size < least && decimals < kMostDecimals; least /= 10) ++decimals;
  std::string digits = Fixed(value, decimals);
  if (digits.find('.') == std::string::npos) return digits;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

/// The unit `Hz` or `kHz`, and what it is of: `Hz/core`.
std::string Frequency(double value, std::string_view unit) {
  const bool is_kilo = unit[0] == 'k';
  const std::string_view of = unit.substr(is_kilo ? 3 : 2);
  return Scaled(is_kilo ? value * 1000 : value, 1000, kFrequencies) + std::string(of);
}

/// Memory is counted in powers of 1024, data in powers of 1000; the unit of both is `B`.
bool IsMemory(std::string_view key) {
  constexpr std::string_view kWords[] = {"rss", "pss", "swap", "peak_memory", "total_memory", "memory_per_worker"};
  return absl::c_any_of(kWords, [key](std::string_view word) { return key.find(word) != std::string_view::npos; });
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Whether a number is written with this behind it: `%`, `ms`, `k/s`, `GiB`.
bool IsUnit(std::string_view word) {
  word = word.substr(0, word.find('/'));
  constexpr std::array<std::string_view, 18> kOthers = {"%", "s", "ms",  "µs",   "us",   "ns",   "m",  "h",   "d",
                                                        "G", "B", "bit", "kbit", "Mbit", "Gbit", "Hz", "kHz", "points"};
  const auto is_in = [word](const auto& units) { return absl::c_find(units, word) != units.end(); };
  return !word.empty() && (is_in(kOthers) || is_in(kCounts) || is_in(kMemory) || is_in(kData) || is_in(kFrequencies));
}

/// The word that begins at `at`, without what ends a clause.
std::string_view WordAt(std::string_view text, size_t at) {
  const std::string_view word = text.substr(at, text.find(' ', at) - at);
  return word.substr(0, word.find_last_not_of(",;.:!?)") + 1);
}

/// Whether what is on both sides of the space at `at` is one number.
bool IsInsideNumber(std::string_view text, size_t at) {
  const size_t before = text.rfind(' ', at - 1);
  const std::string_view left = text.substr(before == std::string_view::npos ? 0 : before + 1, at - (before + 1));
  const std::string_view right = WordAt(text, at + 1);
  if (left.empty() || right.empty()) return false;
  if (IsDigit(left.back())) {
    const bool is_group =
        right.size() >= 3 && absl::c_all_of(right.substr(0, 3), IsDigit) && (right.size() == 3 || !IsDigit(right[3]));
    return is_group || IsUnit(right);
  }
  // `≤ 5`, `> 99.99`; `6 m 17 s`, where the m belongs to a number
  for (std::string_view sign : {"<", ">", "≤", "≥", "≈"}) {
    if (left.size() >= sign.size() && left.substr(left.size() - sign.size()) == sign) return IsDigit(right[0]);
  }
  const bool is_part = left == "d" || left == "h" || left == "m";
  return is_part && IsDigit(right[0]) && before != std::string_view::npos && before > 0 && IsDigit(text[before - 1]);
}

}  // namespace

std::string HumanDuration(double seconds) {
  if (!std::isfinite(seconds)) return std::string(kNotFinite);
  if (seconds < 0) return "-" + HumanDuration(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-6) return ThreeDigits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return ThreeDigits(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return ThreeDigits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return ThreeDigits(seconds) + " s";
  const double whole = std::round(seconds);
  if (whole > kLargestExact) return HumanCount(whole / 86400) + " d";
  const auto total = static_cast<int64_t>(whole);
  const int64_t days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60, rest = total % 60;
  if (days > 0) return fmt::format("{} d {:02} h {:02} m", days, hours, minutes);
  if (hours > 0) return fmt::format("{} h {:02} m {:02} s", hours, minutes, rest);
  return fmt::format("{} m {:02} s", minutes, rest);
}

std::string HumanDurationRange(double low, double high) {
  return fmt::format("{} to {}", HumanDuration(low), HumanDuration(high));
}

std::string HumanClock(double seconds) {
  if (!std::isfinite(seconds) || std::fabs(seconds) > kLargestExact) return std::string(kNotFinite);
  const auto whole = static_cast<int64_t>(std::round(std::fabs(seconds)));
  const char* sign = seconds < 0 && whole > 0 ? "-" : "";
  const int64_t hours = whole / 3600, minutes = whole / 60 % 60, rest = whole % 60;
  if (hours > 0) return fmt::format("{}{}:{:02}:{:02}", sign, hours, minutes, rest);
  return fmt::format("{}{}:{:02}", sign, minutes, rest);
}

double RoundTimeStep(double span_seconds, double most) {
  constexpr std::array<double, 36> kSteps = {1e-6,  2e-6,  5e-6,  1e-5, 2e-5, 5e-5,  1e-4,  2e-4,  5e-4,
                                             0.001, 0.002, 0.005, 0.01, 0.02, 0.05,  0.1,   0.2,   0.5,
                                             1,     2,     5,     10,   15,   30,    60,    120,   300,
                                             600,   900,   1800,  3600, 7200, 14400, 21600, 43200, 86400};
  for (const double step : kSteps) {
    if (span_seconds / step <= most) return step;
  }
  return std::ceil(span_seconds / most / 86400) * 86400;
}

std::string HumanCount(double count) {
  if (!std::isfinite(count)) return std::string(kNotFinite);
  if (std::fabs(count) >= kExactBelow - 0.5) return Scaled(count, 1000, kCounts);
  if (IsWhole(count) || std::fabs(count) >= 99.95) return Grouped(std::llround(count));
  return ThreeDigits(count);
}

std::string ExactCount(double count) {
  if (!std::isfinite(count) || std::fabs(count) > kLargestExact) return HumanCount(count);
  return Grouped(std::llround(count));
}

std::string ExactNumber(double number) {
  return number == std::floor(number) ? ExactCount(number) : fmt::format("{}", number);
}

std::string Counted(double count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", HumanCount(count), count == 1 ? singular : plural);
}

std::string HumanRate(double per_second) {
  return std::isfinite(per_second) ? Scaled(per_second, 1000, kCounts) + "/s" : std::string(kNotFinite);
}

std::string HumanMemory(double bytes) { return Scaled(bytes, 1024, kMemory); }

std::string HumanData(double bytes) { return Scaled(bytes, 1000, kData); }

std::string HumanBitRate(double gigabits_per_second) { return Scaled(gigabits_per_second * 1e9, 1000, kBitRates); }

std::string HumanPercent(double share) {
  const double percent = std::fabs(share) * 100;
  if (percent <= 1e-10 || percent >= 9.95) return HumanPercent(share, 0);
  return HumanPercent(share, percent < 0.095 ? 2 : 1);
}

std::string HumanPercent(double share, int decimals) {
  if (!std::isfinite(share)) return std::string(kNotFinite);
  const double percent = std::fabs(share) * 100;
  // what a sum of doubles leaves behind is nothing, and all
  if (percent <= 1e-10) return Fixed(0, decimals) + " %";
  const std::string_view sign = share < 0 ? "-" : "";
  const bool is_all = std::fabs(percent - 100) <= 1e-10;
  for (int digits = decimals; digits <= std::max(decimals, 2); ++digits) {
    const double shown = Rounded(percent, digits);
    if (is_all || (shown != 0 && shown != 100)) return fmt::format("{}{} %", sign, Fixed(percent, digits));
  }
  const bool is_nearly_none = percent < 1;
  const std::string_view bound = is_nearly_none ? "0.01" : percent < 100 ? "99.99" : "100";
  return fmt::format("{} {}{} %", is_nearly_none == (share > 0) ? "<" : ">", sign, bound);
}

std::string HumanChange(double change) {
  const std::string text = HumanPercent(change, 1);
  return change > 0 && IsDigit(text[0]) ? "+" + text : text;
}

std::string HumanTimeChange(double seconds) { return (seconds < 0 ? "-" : "+") + HumanDuration(std::fabs(seconds)); }

std::string HumanFactor(double factor) {
  if (!std::isfinite(factor)) return std::string(kNotFinite);
  const double size = std::fabs(factor);
  if (size < 0.95) return HumanCount(factor);
  return size < 9.95 ? Fixed(factor, 1) : HumanCount(std::round(factor));
}

std::string HumanNumber(double number) {
  if (!std::isfinite(number)) return std::string(kNotFinite);
  const double size = std::fabs(number);
  if (number == std::floor(number) && size < 1e9) return ExactCount(number);
  if (size >= 999.95) return HumanCount(number);
  return size < 1e-12 ? fmt::format("{:.2e}", number) : FourDigits(number);
}

std::string HumanQuantity(std::string_view key, double value, std::string_view unit) {
  if (unit == "s" || unit == "core s") return HumanDuration(value);
  if (unit == "B") return IsMemory(key) ? HumanMemory(value) : HumanData(value);
  if (unit == "B/1000 events") return HumanMemory(value) + " per 1 000 events";
  if (unit == "MB/s") return HumanData(value * 1e6) + "/s";
  if (unit == "Gbit/s") return HumanBitRate(value);
  if (unit == "%") return HumanPercent(value / 100, 1);
  if (unit == "count") return HumanCount(value);
  if (unit.substr(0, 2) == "Hz" || unit.substr(0, 3) == "kHz") return Frequency(value, unit);
  // a ratio may exceed 1 (a speed-up, a compression): only its name shows it, so it stays a plain number
  if (unit == "ratio" || unit.empty()) return HumanNumber(value);
  return fmt::format("{} {}", HumanNumber(value), unit);
}

std::string Unbroken(std::string_view text) {
  std::string unbroken;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_inside = text[at] == ' ' && at > 0 && IsInsideNumber(text, at);
    unbroken += is_inside ? "\u00a0" : text.substr(at, 1);
  }
  return unbroken;
}

}  // namespace crema
