// FakedKernel: fakes answers of the C library for which no test can wait, such as a full disk or a clock that jumps.
#pragma once

#include <atomic>
#include <cstdint>

namespace crema {
namespace testing {

/// A program that is linked with it has its own write(2), writev(2), open(2), readlink(2) and clock_gettime(2). They
/// behave like the kernel's, except for the faults that are set here. Faults of writing affect only lines of record
/// logs.
struct FakedKernel {
  std::atomic<int> write_error{0};            ///< writes of records fail with this errno; 0: they do not
  std::atomic<int> short_writes_of{0};        ///< every n-th write of a record takes half of it; 0: none
  std::atomic<int> unended_writes_of{0};      ///< every n-th write of a record takes all but its newline; 0: none
  std::atomic<int> interrupted_writes_of{0};  ///< every n-th write of a record is interrupted (EINTR) first; 0: none
  std::atomic<int> slow_writes_us{0};         ///< how long each write of a record takes at least
  std::atomic<std::int64_t> realtime_step_ns{0};  ///< how far CLOCK_REALTIME was set forward
  std::atomic<bool> refuses_thread_cpu{false};    ///< CLOCK_THREAD_CPUTIME_ID
  std::atomic<const char*> missing{nullptr};      ///< paths that contain this text do not exist
};

FakedKernel& Kernel();

}  // namespace testing
}  // namespace crema
