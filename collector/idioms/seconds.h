// Nanoseconds, in which records have times, and seconds, in which people read them.
#pragma once

#include <cstdint>

namespace crema {

inline constexpr int64_t kSecondNs = 1'000'000'000;

constexpr double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace crema
