#include "stacks/task_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <string_view>

#include "kernel/kernel_readings.h"
#include "kernel/perf_counters.h"

namespace crema {
namespace internal {
namespace {

/// The calling thread's clocks that count in ticks, as the kernel makes ids of clocks (include/linux/posix-timers.h,
/// MAKE_THREAD_CPUCLOCK): all its CPU time, and that in user mode.
constexpr clockid_t kTicksClock = static_cast<clockid_t>(~0u << 3 | 4 | 0);
constexpr clockid_t kUserTicksClock = static_cast<clockid_t>(~0u << 3 | 4 | 1);
constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::int64_t Read(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * kNanoseconds + now.tv_nsec;
}

bool IsRealTime() {
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE) return true;
  utsname kernel = {};
  const std::string_view version = uname(&kernel) == 0 ? kernel.version : "";
  return version.find("PREEMPT_RT") != version.npos || version.find("PREEMPT RT") != version.npos;
}

/// -1 where the kernel refuses it.
int OpenClock(int signal, std::int64_t tid) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = static_cast<std::uint64_t>(kNanoseconds);
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const int fd = OpenPerfEvent(&attributes);
  if (fd < 0) return fd;
  const f_owner_ex owner = {F_OWNER_TID, static_cast<pid_t>(tid)};
  const int flags = fcntl(fd, F_GETFL);
  // The signal comes first: without it the kernel sends SIGIO.
  if (flags >= 0 && fcntl(fd, F_SETSIG, signal) == 0 && fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
      fcntl(fd, F_SETFL, flags | O_ASYNC) == 0) {
    return fd;
  }
  if (PerfEventId(fd).has_value()) close(fd);
  return -1;
}

}  // namespace

void TaskClock::Open(int signal, std::int64_t tid, DescriptorBudget* budget) noexcept {
  if (descriptor_.load(std::memory_order_relaxed) != kNotOpen || !MayOpen() || !budget->Take()) return;
  timespec tick = {};
  const bool may_open = clock_getres(kTicksClock, &tick) == 0 && !IsRealTime() && SeccompFilters() == 0;
  const int fd = may_open ? OpenClock(signal, tid) : -1;
  const auto id = fd >= 0 ? PerfEventId(fd) : std::nullopt;
  if (id.has_value()) {
    id_ = *id;
    tick_ns_ = tick.tv_nsec;
    is_set_ = false;
    descriptor_.store(fd);
    return;
  }
  descriptor_.store(kRefused);
  budget->GiveBack();
}

bool TaskClock::IsOurs(int descriptor) const noexcept { return PerfEventId(descriptor) == id_; }

bool TaskClock::Set(std::int64_t cpu_ns, DescriptorBudget* budget) noexcept {
  const int fd = descriptor_.load(std::memory_order_relaxed);
  if (fd < 0) return false;
  if (!IsOurs(fd)) {  // the program closed it: not ours to change, nor to close
    int expected = fd;
    if (!descriptor_.compare_exchange_strong(expected, kNotOpen)) return false;
    NoteLostDescriptor();
    budget->GiveBack();
    return false;
  }
  std::uint64_t period = static_cast<std::uint64_t>(cpu_ns);
  ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
  ioctl(fd, is_set_ ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_REFRESH, is_set_ ? 0 : 1);
  is_set_ = true;
  return true;
}

void TaskClock::Control(unsigned long request) const noexcept {
  const int fd = descriptor_.load(std::memory_order_relaxed);
  if (fd >= 0 && IsOurs(fd)) ioctl(fd, request, 0);
}

void TaskClock::Stop() noexcept { Control(PERF_EVENT_IOC_DISABLE); }
void TaskClock::GoOn() noexcept { Control(PERF_EVENT_IOC_ENABLE); }

void TaskClock::Close(DescriptorBudget* budget) noexcept {
  const int fd = descriptor_.exchange(kNotOpen);
  if (fd < 0) return;
  if (IsOurs(fd)) close(fd);
  budget->GiveBack();
}

void TaskClock::GiveUp(DescriptorBudget* budget) noexcept {
  Close(budget);
  descriptor_.store(kRefused);
}

bool TaskClock::HasSent(const siginfo_t& info) noexcept {
  const bool is_event = info.si_code == POLL_IN || info.si_code == POLL_HUP;
  if (!is_event || !is_open() || info.si_fd != descriptor_.load(std::memory_order_relaxed)) return false;
  is_set_ = false;
  return true;
}

bool TickModes::WereInKernel() noexcept {
  const std::int64_t user_ns = Read(kUserTicksClock);
  const std::int64_t all_ns = Read(kTicksClock);
  const bool were_in_kernel = user_ns == user_ns_ && all_ns != all_ns_;
  user_ns_ = user_ns;
  all_ns_ = all_ns;
  return were_in_kernel;
}

}  // namespace internal
}  // namespace crema
