// The costs of the hardware and the kernel, with which guards are compared.
#pragma once

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace crema_benchmarks {

inline std::int64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

/// The cheapest clock that there is.
inline std::uint64_t RawClock() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<std::uint64_t>(ReadClock(CLOCK_MONOTONIC));
#endif
}

/// Two raw clock reads and a store: the least that a section needs.
inline void ReadClockTwice(volatile std::uint64_t* stored) {
  const std::uint64_t start = RawClock();
  asm volatile("" ::: "memory");
  *stored = RawClock() - start;
}

/// Reads a file under /proc on a kept descriptor, without parsing it.
class KeptFile {
 public:
  explicit KeptFile(const char* path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~KeptFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  bool Read(std::size_t bytes) {
    const ssize_t got = pread(descriptor_, buffer_, bytes < sizeof buffer_ ? bytes : sizeof buffer_, 0);
    return got > 0;
  }

 private:
  int descriptor_;
  char buffer_[512];
};

}  // namespace crema_benchmarks
