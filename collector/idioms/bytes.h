// Units of memory in bytes.
#pragma once

#include <cstdint>

namespace crema {

inline constexpr int64_t kKibibyte = 1024;
inline constexpr int64_t kMebibyte = 1024 * kKibibyte;
inline constexpr int64_t kGibibyte = 1024 * kMebibyte;

}  // namespace crema
