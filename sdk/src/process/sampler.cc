#include "process/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string_view>

#include "crema/internal/section_node.h"
#include "kernel/proc_file.h"
#include "log/sample_line.h"
#include "process/allocations.h"
#include "process/gpu.h"
#include "process/process_recorder.h"
#include "storage/sdk_allocation_scope.h"
#include "tasks/task_table.h"

namespace crema {
namespace internal {
namespace {

constexpr double kShortestIntervalSeconds = 0.01;
constexpr double kLongestIntervalSeconds = 1e9;  ///< which the clock's numbers can hold
constexpr int kLongestWaitAtExitSeconds = 1;
constexpr double kCheckSeconds = 0.25;  ///< so much later a process ends at most whose threads have all ended

/// Plain POSIX objects: a thread that outlives static destruction may still hold them.
struct SamplerState {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake;
  pthread_t thread;
  pid_t pid = 0;  ///< where the thread runs: a forked child has none
  bool running = false;
  bool stop = false;
  double interval_seconds = 1;  ///< 0: no samples
};
SamplerState g_sampler;

timespec After(timespec time, double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  time.tv_sec += whole;
  time.tv_nsec += static_cast<long>((seconds - static_cast<double>(whole)) * 1e9);
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

bool IsBefore(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

/// When the sample after that of `time` is due. Those that were missed (the process was stopped, or found no CPU) are
/// not made up for: they would all be written at once.
timespec Following(timespec time, double interval_seconds) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const timespec next = After(time, interval_seconds);
  return IsBefore(now, next) ? next : After(now, interval_seconds);
}

/// On a log that is stopped samples come as seldom as sums.
void SampleOrSum(Recorder* recorder) {
  const std::int64_t now_ns = MonotonicNanoseconds();
  const bool is_due = recorder->sums.IsDue(now_ns);
  if (is_due || !recorder->log.limits().is_stopped()) WriteSample(recorder);
  recorder->sums.WriteWhenDue(recorder, now_ns);
  if (TaskTable* const tasks = recorder->tasks.load()) tasks->WriteWhenDue(recorder, now_ns);
  recorder->stacks.WriteWhenDue(recorder, now_ns);
  WriteAllocationsWhenDue(recorder, now_ns);
  WriteGpuWhenDue(recorder, now_ns);
}

void LookAtWaits(Recorder* recorder) {
  const MaybeInteger begin_ns = ThreadCpu();
  recorder->waits.Look(recorder);
  const std::int64_t cpu_ns = Difference(ThreadCpu(), begin_ns).value_or(0);
  recorder->waits.AddCost(cpu_ns);
  recorder->overhead_ns.fetch_add(cpu_ns, std::memory_order_relaxed);
}

/// Whether all other threads have ended: the first one by pthread_exit(3) or exit(2), which leaves it as a zombie as
/// long as the process has another. This thread must not keep the process from ending then.
bool IsAlone(std::int64_t pid) {
  char path[64];
  char text[512];
  snprintf(path, sizeof path, "/proc/self/task/%lld/stat", static_cast<long long>(pid));
  const long size = ReadWholeFile(path, text, sizeof text);
  const std::string_view stat(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || stat.substr(name_end + 1, 2) != " Z") return false;
  return IntegerAfter(FileText("/proc/self/status", 4096).view(), "Threads:") == 2;
}

void* Sample(void* recorder_pointer) {
  const SdkAllocationScope scope;
  auto* recorder = static_cast<Recorder*>(recorder_pointer);
  recorder->unannounced.SetOwnThread(static_cast<std::int64_t>(syscall(SYS_gettid)));
  constexpr timespec kNever = {std::numeric_limits<time_t>::max(), 0};
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double interval_seconds = g_sampler.interval_seconds;
  timespec sample = interval_seconds > 0 ? After(now, interval_seconds) : kNever;
  timespec look = recorder->waits.hertz() > 0 ? After(now, recorder->waits.NextDistance()) : kNever;
  if (interval_seconds > 0) WriteSample(recorder);  // at once, so that memory is known from the start
  timespec check = After(now, kCheckSeconds);
  pthread_mutex_lock(&g_sampler.mutex);
  while (!g_sampler.stop) {
    timespec* next = &check;
    if (IsBefore(sample, *next)) next = &sample;
    if (IsBefore(look, *next)) next = &look;
    while (!g_sampler.stop && pthread_cond_timedwait(&g_sampler.wake, &g_sampler.mutex, next) == 0) {
    }
    if (g_sampler.stop) break;
    pthread_mutex_unlock(&g_sampler.mutex);
    const bool is_on = g_mode.load() == kModeOn;
    if (next == &check && IsAlone(recorder->pid)) return nullptr;
    if (is_on && next == &look) LookAtWaits(recorder);
    if (is_on && next == &sample) SampleOrSum(recorder);
    const double distance = next == &look ? recorder->waits.NextDistance() : interval_seconds;
    *next = Following(*next, next == &check ? kCheckSeconds : distance);
    pthread_mutex_lock(&g_sampler.mutex);
  }
  pthread_mutex_unlock(&g_sampler.mutex);
  return nullptr;
}

}  // namespace

void StartSampler(Recorder* recorder) noexcept {
  const double interval = recorder->settings.interval_seconds;
  recorder->waits.Start(recorder->settings.waits_hertz, recorder->settings.waits_are_asked);
  if (interval <= 0 && recorder->waits.hertz() <= 0) return;
  g_sampler = SamplerState();
  g_sampler.interval_seconds =
      interval <= 0 ? 0 : std::clamp(interval, kShortestIntervalSeconds, kLongestIntervalSeconds);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&g_sampler.wake, &attributes);
  pthread_condattr_destroy(&attributes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGSYS);  // the kernel kills a thread that blocks it, where a filter of seccomp(2) traps a call
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits the mask
  g_sampler.running = pthread_create(&g_sampler.thread, nullptr, Sample, recorder) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  g_sampler.pid = getpid();
  if (g_sampler.running) pthread_setname_np(g_sampler.thread, "crema");
}

void StopSampler() noexcept {
  if (!g_sampler.running || g_sampler.pid != getpid()) return;
  pthread_mutex_lock(&g_sampler.mutex);
  g_sampler.stop = true;
  pthread_cond_signal(&g_sampler.wake);
  pthread_mutex_unlock(&g_sampler.mutex);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_timedjoin_np(g_sampler.thread, nullptr, &(until = After(until, kLongestWaitAtExitSeconds)));
  g_sampler.running = false;
}

}  // namespace internal
}  // namespace crema
