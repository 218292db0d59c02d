#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include <algorithm>

#include "crema/internal/platform.h"
#include "kernel/clock.h"
#include "kernel/kernel_readings.h"
#include "stacks/native_stacks.h"

namespace crema::internal {
namespace {

/// The calling thread's clocks that count in ticks, as the kernel makes ids of clocks (include/linux/posix-timers.h,
/// MAKE_THREAD_CPUCLOCK): all its CPU time, and that in user mode.
constexpr clockid_t kTicksClock = static_cast<clockid_t>(~0u << 3 | 4 | 0);
constexpr clockid_t kUserTicksClock = static_cast<clockid_t>(~0u << 3 | 4 | 1);
constexpr std::int64_t kNanoseconds = 1'000'000'000;

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
  if (const auto id = fd >= 0 ? PerfEventId(fd) : std::nullopt; id.has_value()) {
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
    if (int expected = fd; !descriptor_.compare_exchange_strong(expected, kNotOpen)) return false;
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
  if (const int fd = descriptor_.load(std::memory_order_relaxed); fd >= 0 && IsOurs(fd)) ioctl(fd, request, 0);
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
  const std::int64_t user_ns = ClockNanoseconds(kUserTicksClock);
  const std::int64_t all_ns = ClockNanoseconds(kTicksClock);
  const bool were_in_kernel = user_ns == user_ns_ && all_ns != all_ns_;
  user_ns_ = user_ns;
  all_ns_ = all_ns;
  return were_in_kernel;
}

void ChunkPositions::Begin(std::int64_t cpu_ns) noexcept {
  begin_ns_ = cpu_ns;
  seen_count_ = 0;
}

void ChunkPositions::Note(std::int64_t cpu_ns, std::int64_t after_ns, std::uint64_t samples, bool is_in_tick) noexcept {
  if (is_in_tick && seen_count_ < kMostSeen) seen_[seen_count_] = {cpu_ns - begin_ns_, samples};
  if (is_in_tick) ++seen_count_;
  begin_ns_ += after_ns - cpu_ns;
  Add(&all_squares_, samples * samples);
}

void ChunkPositions::End(std::int64_t cpu_ns) noexcept {
  const std::int64_t length_ns = cpu_ns - begin_ns_;
  if (seen_count_ > kMostSeen || length_ns < kLeastNanoseconds) return;
  for (int i = 0; i < seen_count_; ++i) {
    const std::int64_t part = std::clamp<std::int64_t>(seen_[i].at_ns * kParts / length_ns, 0, kParts - 1);
    Add(&samples_[part], seen_[i].samples);
    Add(&squares_, seen_[i].samples * seen_[i].samples);
  }
}

double ChunkPositions::Inflation() const noexcept {
  // Pearson's chi squared of the parts, of which all have the same chance. By chance it is kParts - 1 in the mean, and
  // above kByChance in one of 20 cases. A share f is off by at most sqrt(f (1 - f) chi^2 / n) (Cauchy and Schwarz); so
  // where the error is 1.96 sqrt(f (1 - f) / n), n is to be smaller by chi^2 / 1.96^2.
  constexpr double kByChance = 14.07;
  constexpr double kQuantileSquared = 1.96 * 1.96;
  constexpr double kTwoWritings = 2;  // at the same places: their errors add up, and their sightings say they do not
  const auto squares = static_cast<double>(squares_.load(std::memory_order_relaxed));
  const auto all_squares = static_cast<double>(all_squares_.load(std::memory_order_relaxed));
  double samples = 0;
  double parts_squared = 0;
  for (const Sum& sum : samples_) {
    const auto part = static_cast<double>(sum.load(std::memory_order_relaxed));
    samples += part;
    parts_squared += part * part;
  }
  if (samples == 0) return 1;
  const double chi_squared = (kParts * parts_squared - samples * samples) / squares;
  if (chi_squared <= kByChance) return 1;
  return 1 + squares / all_squares * kTwoWritings * (chi_squared - (kParts - 1)) / kQuantileSquared;
}

}  // namespace crema::internal
