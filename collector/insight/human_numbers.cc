#include "collector/insight/human_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kNotFinite = "?";

// Beyond this a double no longer counts in ones.
constexpr double kLargestExact = 9007199254740992.0;

/// But for what a sum of doubles leaves behind.
bool IsWhole(double value) { return std::fabs(value - std::round(value)) <= 1e-9 * std::fabs(value); }

std::string ThreeDigits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

template <size_t N>
std::string Scaled(double value, double base, const std::array<std::string_view, N>& units) {
  size_t unit = 0;
  // 999.6 would be printed as "1000": it belongs to the next unit
  while (unit + 1 < N && std::fabs(value) >= base - 0.5) {
    value /= base;
    ++unit;
  }
  const bool whole = IsWhole(value);
  const std::string digits = whole ? fmt::format("{:.0f}", value) : ThreeDigits(value);
  return units[unit].empty() ? digits : fmt::format("{} {}", digits, units[unit]);
}

std::string Grouped(int64_t count) {
  std::string digits = std::to_string(count < 0 ? -count : count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<size_t>(at), 1, ' ');
  return count < 0 ? "-" + digits : digits;
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
  if (whole > kLargestExact) return fmt::format("{:.3g} d", whole / 86400);
  const auto total = static_cast<int64_t>(whole);
  const int64_t days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60, rest = total % 60;
  if (days > 0) return fmt::format("{} d {:02} h {:02} m", days, hours, minutes);
  if (hours > 0) return fmt::format("{} h {:02} m {:02} s", hours, minutes, rest);
  return fmt::format("{} m {:02} s", minutes, rest);
}

std::string HumanCount(double count) {
  if (!std::isfinite(count)) return std::string(kNotFinite);
  if (std::fabs(count) < 99999.5) {
    if (IsWhole(count) || std::fabs(count) >= 99.95) return Grouped(std::llround(count));
    return ThreeDigits(count);
  }
  return Scaled(count, 1000, std::array<std::string_view, 6>{"", "k", "M", "G", "T", "P"});
}

std::string ExactCount(double count) {
  if (!std::isfinite(count) || std::fabs(count) > kLargestExact) return HumanCount(count);
  return Grouped(std::llround(count));
}

std::string Counted(double count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", HumanCount(count), count == 1 ? singular : plural);
}

std::string HumanRate(double per_second) {
  if (!std::isfinite(per_second)) return std::string(kNotFinite);
  return Scaled(per_second, 1000, std::array<std::string_view, 5>{"", "k", "M", "G", "T"}) + "/s";
}

std::string HumanMemory(double bytes) {
  if (!std::isfinite(bytes)) return std::string(kNotFinite);
  return Scaled(bytes, 1024, std::array<std::string_view, 6>{"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string HumanData(double bytes) {
  if (!std::isfinite(bytes)) return std::string(kNotFinite);
  return Scaled(bytes, 1000, std::array<std::string_view, 6>{"B", "kB", "MB", "GB", "TB", "PB"});
}

std::string HumanBitRate(double gigabits_per_second) {
  if (!std::isfinite(gigabits_per_second)) return std::string(kNotFinite);
  return Scaled(gigabits_per_second * 1e9, 1000,
                std::array<std::string_view, 5>{"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"});
}

std::string HumanPercent(double share) {
  const double percent = std::fabs(share) * 100;
  if (percent == 0 || percent >= 9.95) return HumanPercent(share, 0);
  if (percent < 0.005) return "< 0.01 %";
  return HumanPercent(share, percent < 0.095 ? 2 : 1);
}

std::string HumanPercent(double share, int decimals) {
  if (!std::isfinite(share)) return std::string(kNotFinite);
  return fmt::format("{:.{}f} %", share * 100, decimals);
}

std::string HumanNumber(double number) {
  if (!std::isfinite(number)) return std::string(kNotFinite);
  if (number == std::floor(number) && std::fabs(number) < 1e9) return fmt::format("{:.0f}", number);
  return fmt::format("{:.4g}", number);
}

}  // namespace crema
