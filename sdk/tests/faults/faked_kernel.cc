// The library's checked forms of these functions are inline, and would be defined twice.
#undef _FORTIFY_SOURCE

#include "sdk/tests/faults/faked_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

namespace crema {
namespace testing {
namespace {

bool IsRecord(const void* bytes, std::size_t size) { return size > 8 && memcmp(bytes, "{\"type\":", 8) == 0; }

bool IsMissing(const char* path) {
  const char* missing = Kernel().missing.load();
  return missing != nullptr && strstr(path, missing) != nullptr;
}

std::atomic<int> g_writes{0};

/// How many of `size` bytes of a record are taken; -1 with errno set.
ssize_t Taken(std::size_t size) {
  const FakedKernel& kernel = Kernel();
  if (kernel.slow_writes_us != 0) usleep(static_cast<useconds_t>(kernel.slow_writes_us));
  if (kernel.write_error != 0) {
    errno = kernel.write_error;
    return -1;
  }
  const int number = ++g_writes;
  if (kernel.interrupted_writes_of != 0 && number % kernel.interrupted_writes_of == 0) {
    errno = EINTR;
    return -1;
  }
  if (kernel.unended_writes_of != 0 && number % kernel.unended_writes_of == 0) return static_cast<ssize_t>(size - 1);
  const bool is_short = kernel.short_writes_of != 0 && number % kernel.short_writes_of == 0;
  return static_cast<ssize_t>(is_short ? size / 2 : size);
}

}  // namespace

FakedKernel& Kernel() {
  static FakedKernel kernel;
  return kernel;
}

}  // namespace testing
}  // namespace crema

// The dynamic linker finds these before the C library's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (crema::testing::IsRecord(bytes, size)) {
    const ssize_t taken = crema::testing::Taken(size);
    if (taken < 0) return taken;
    size = static_cast<size_t>(taken);
  }
  return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  iovec cut[2] = {};
  if (count == 2 && crema::testing::IsRecord(parts[1].iov_base, parts[1].iov_len)) {
    const ssize_t taken = crema::testing::Taken(parts[1].iov_len);
    if (taken < 0) return taken;
    cut[0] = parts[0];
    cut[1] = {parts[1].iov_base, static_cast<size_t>(taken)};
    parts = cut;
  }
  return syscall(SYS_writev, descriptor, parts, count);
}

int open(const char* path, int flags, ...) {
  if (crema::testing::IsMissing(path)) {
    errno = ENOENT;
    return -1;
  }
  va_list arguments;
  va_start(arguments, flags);
  const int mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, int) : 0;
  va_end(arguments);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int access(const char* path, int mode) noexcept {
  if (crema::testing::IsMissing(path)) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

ssize_t readlink(const char* __restrict path, char* __restrict target, size_t size) noexcept {
  if (crema::testing::IsMissing(path)) {
    errno = ENOENT;
    return -1;
  }
  return syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock == CLOCK_THREAD_CPUTIME_ID && crema::testing::Kernel().refuses_thread_cpu) {
    errno = EPERM;
    return -1;
  }
  const int result = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (result == 0 && clock == CLOCK_REALTIME) {
    const std::int64_t ns = crema::testing::Kernel().realtime_step_ns.load() + time->tv_nsec;
    time->tv_sec += ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
  }
  return result;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
