// What every public header needs first: the language level, inlining, and the raw tick counter.
#ifndef CREMA_INTERNAL_PLATFORM_H_
#define CREMA_INTERNAL_PLATFORM_H_

#if __cplusplus < 201703L
#error "crema needs C++17: pass -std=c++17 (with Bazel 4: build --cxxopt=-std=c++17 in your .bazelrc)"
#endif
#ifndef __linux__
#error "crema reads Linux's clocks and /proc: it builds on Linux only"
#endif

#include <time.h>

#include <cerrno>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define CREMA_ALWAYS_INLINE inline __attribute__((always_inline))
#define CREMA_NEVER_INLINE __attribute__((noinline))
#define CREMA_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CREMA_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
// One pointer per thread; the initial-exec model makes its access one instruction, also inside shared libraries.
#define CREMA_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

namespace crema::internal {

/// Leaves errno as the host program had it.
class KeptErrno {
 public:
  KeptErrno() noexcept : errno_(errno) {}
  ~KeptErrno() { errno = errno_; }
  KeptErrno(KeptErrno&&) = delete;

 private:
  const int errno_;
};

/// A clock of clock_gettime(2) in ns; 0 where the kernel refuses it.
inline std::int64_t ClockNanoseconds(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}
/// CLOCK_MONOTONIC in ns (answered in user space by the vDSO).
inline std::int64_t MonotonicNanoseconds() noexcept { return ClockNanoseconds(CLOCK_MONOTONIC); }

/// The processor's constant-rate counter, unserialised: good to some tens of ns, and a third of the cost of a clock.
CREMA_ALWAYS_INLINE std::uint64_t CounterTicks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<std::uint64_t>(MonotonicNanoseconds());
#endif
}

}  // namespace crema::internal

#endif  // CREMA_INTERNAL_PLATFORM_H_
