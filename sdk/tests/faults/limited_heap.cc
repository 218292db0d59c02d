#include "sdk/tests/faults/limited_heap.h"

#include <errno.h>
#include <malloc.h>

#include <atomic>
#include <cstddef>

extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT: glibc's own names
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* memory, std::size_t size);            // NOLINT
void __libc_free(void* memory);                                  // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT
}

namespace {

constexpr std::int64_t kUnlimited = INT64_MAX / 2;

std::atomic<std::int64_t> g_left{kUnlimited};

/// Takes `size` from what is left; false, with errno set, if less is left.
bool Take(std::size_t size) {
  if (size <= static_cast<std::size_t>(kUnlimited)) {
    const auto wanted = static_cast<std::int64_t>(size);
    if (g_left.fetch_sub(wanted) >= wanted) return true;
    g_left.fetch_add(wanted);
  }
  errno = ENOMEM;
  return false;
}

/// A block may be larger than requested: the difference is taken from what is left, too. If a request failed, its size
/// is left again.
void* Given(void* memory, std::size_t asked) {
  g_left.fetch_add(static_cast<std::int64_t>(asked) - static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

}  // namespace

namespace crema {
namespace testing {

void LimitHeap(std::int64_t bytes) { g_left = bytes; }

}  // namespace testing
}  // namespace crema

// The dynamic linker finds these before the C library's.
extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the C library's names

void* malloc(std::size_t size) { return Take(size) ? Given(__libc_malloc(size), size) : nullptr; }

void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || !Take(bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Given(__libc_calloc(count, size), bytes);
}

void* realloc(void* memory, std::size_t size) {
  const std::size_t before = malloc_usable_size(memory);
  const std::size_t more = size > before ? size - before : 0;
  if (!Take(more)) return nullptr;
  void* const moved = __libc_realloc(memory, size);
  if (moved == nullptr) return Given(nullptr, more);
  return Given(moved, before + more);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return Take(size) ? Given(__libc_memalign(alignment, size), size) : nullptr;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  const int before = errno;
  void* const got = memalign(alignment, size);
  errno = before;
  if (got == nullptr) return ENOMEM;
  *memory = got;
  return 0;
}

void free(void* memory) {
  if (memory == nullptr) return;
  g_left.fetch_add(static_cast<std::int64_t>(malloc_usable_size(memory)));
  __libc_free(memory);
}

// NOLINTEND(readability-identifier-naming)

}  // extern "C"
