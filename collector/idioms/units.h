// Nanoseconds, in which records have times, as seconds; units of memory in bytes.
#pragma once

#include <cstdint>

namespace crema {

inline constexpr int64_t kSecondNs = 1'000'000'000;

constexpr double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

inline constexpr int64_t kKibibyte = 1024;
inline constexpr int64_t kMebibyte = 1024 * kKibibyte;
inline constexpr int64_t kGibibyte = 1024 * kMebibyte;

}  // namespace crema
