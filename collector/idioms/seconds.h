// Records have times in nanoseconds; people read seconds.
#pragma once

#include <cstdint>

namespace crema {

inline constexpr int64_t kSecondNs = 1'000'000'000;

constexpr double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace crema
