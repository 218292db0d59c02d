// LimitHeap: a heap that refuses memory from a given byte on.
#pragma once

#include <cstdint>

namespace crema {
namespace testing {

/// From now on the program gets `bytes` more from malloc(3) and its relatives, and from `new`; it may use again what it
/// frees. RLIMIT_AS counts pages, and cannot say which allocation is the first one that fails: this can. A program that
/// is linked with it has its own malloc(3).
void LimitHeap(std::int64_t bytes);

}  // namespace testing
}  // namespace crema
