// Whether a sanitizer runs this test: it keeps memory that was freed, so growth says nothing, and its own work is in
// every time.
#pragma once

namespace crema {
namespace testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace testing
}  // namespace crema
