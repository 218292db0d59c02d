#include "process/process_recorder.h"

#include <string.h>
#include <sys/syscall.h>

#include <cstdio>

#include "chunk/thread_state.h"
#include "kernel/proc_file.h"
#include "process/allocations.h"
#include "process/environment.h"
#include "process/exit_and_fork.h"
#include "process/gpu.h"
#include "tasks/task_table.h"

namespace crema {
namespace internal {

std::atomic<std::uint8_t> g_mode{kModeUndecided};

namespace {

std::atomic<Recorder*> g_recorder{nullptr};
std::atomic<bool> g_warned{false};
std::mutex g_lifecycle;  // guards switching on and off; never held by a guard that records
/// What was said to `Enable`, for the children of a fork.
Settings* g_inherited = nullptr;
/// The copy whose recorder this one uses; nullptr: its own.
const SharedCopy* g_shared = nullptr;
/// The copy whose mode this one's follows; nullptr: none.
const SharedCopy* g_followed = nullptr;
/// Modes of copies that follow this one's.
constexpr int kMostCopies = 16;
std::atomic<std::atomic<std::uint8_t>*> g_mirrors[kMostCopies];

/// Copies that follow decide anew when this one is switched on: they may not know its recorder yet.
void SetMode(Mode mode) {
  g_mode.store(mode);
  for (const auto& mirror : g_mirrors) {
    if (std::atomic<std::uint8_t>* other = mirror.load()) other->store(mode == kModeOn ? kModeUndecided : mode);
  }
}

bool StayOff() {
  SetMode(kModeOff);
  return false;
}

/// Sets the recorder's costs per section, per request and per memory reading: what guards cost on this machine,
/// measured before the first one, so that a log says how much of it is the log's own. Takes some 25 us.
void Calibrate(Recorder* recorder) noexcept {
  constexpr int kRounds = 4;
  constexpr int kSectionsPerRound = 64;
  constexpr int kRequestsPerRound = 16;
  const OwnPointer<ThreadState> thread(MakeOwn<ThreadState>());
  const OwnPointer<ChunkData> data(MakeOwn<ChunkData>());
  if (thread == nullptr || data == nullptr) return;
  const unsigned int no_exceptions = 0;
  thread->uncaught_exceptions = &no_exceptions;
  thread->reads_counter = recorder->clock.counter_is_clock();
  thread->current.store(thread->outside.root());
  ThreadContext* const saved = t_context;
  t_context = thread.get();
  // The least of some rounds: the first fills the caches, any may be interrupted.
  recorder->section_cost_ns = recorder->request_cost_ns = recorder->reading_cost_ns = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t start_ns = MonotonicNanoseconds();
    for (int i = 0; i < kSectionsPerRound; ++i) ExitSection(EnterSection("calibration"));
    const std::int64_t middle_ns = MonotonicNanoseconds();
    for (int i = 0; i < kRequestsPerRound; ++i) {  // what TrackRequest does
      const std::int64_t begin_ns = MonotonicNanoseconds();
      const int row = data->RequestRowIndex("calibration://calibration", "calibration");
      if (row >= 0) data->AddRequest(row, 1, MonotonicNanoseconds() - begin_ns, false);
    }
    const std::int64_t requests_stop_ns = MonotonicNanoseconds();
    thread->kernel.RssBytes(&recorder->descriptors);
    thread->kernel.RssBytes(&recorder->descriptors);
    const std::int64_t stop_ns = MonotonicNanoseconds();
    recorder->section_cost_ns = std::min(recorder->section_cost_ns, (middle_ns - start_ns) / kSectionsPerRound);
    recorder->request_cost_ns = std::min(recorder->request_cost_ns, (requests_stop_ns - middle_ns) / kRequestsPerRound);
    recorder->reading_cost_ns = std::min(recorder->reading_cost_ns, stop_ns - requests_stop_ns);
  }
  t_context = saved;
  thread->kernel.Close(&recorder->descriptors);
}

void WarnOfNoMemory() {
  WarnOnce({"the system refuses the memory that recording needs; this process is not recorded"});
}

/// Null where there is no memory, with a warning if there is a directory to record into.
OwnPointer<Settings> NewSettings(const OptionTexts& texts, const Options& others) {
  OwnPointer<Settings> settings(MakeOwn<Settings>());
  if (settings != nullptr) {
    ReadSettings(texts, others, settings.get());
  } else if (!texts.directory.empty() || EnvironmentNamesDirectory()) {
    WarnOfNoMemory();
  }
  return settings;
}

// The sampler: one thread that writes a `sample` line at each interval.

constexpr double kShortestIntervalSeconds = 0.01;
constexpr double kLongestIntervalSeconds = 1e9;  ///< which the clock's numbers can hold
constexpr int kLongestWaitAtExitSeconds = 1;
constexpr std::int64_t kTasksToSpare = 32;  ///< of a control group: of fewer, none is taken from the program
constexpr double kCheckSeconds = 0.25;      ///< so much later a process ends at most whose threads have all ended

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

std::int64_t After(std::int64_t time_ns, double seconds) {
  return time_ns + static_cast<std::int64_t>(std::min(seconds, kLongestIntervalSeconds) * 1e9);
}

/// When the sample after that of `time_ns` is due. Those that were missed (the process was stopped, or found no CPU)
/// are not made up for: they would all be written at once.
std::int64_t Following(std::int64_t time_ns, double interval_seconds) {
  const std::int64_t now_ns = MonotonicNanoseconds();
  const std::int64_t next_ns = After(time_ns, interval_seconds);
  return now_ns < next_ns ? next_ns : After(now_ns, interval_seconds);
}

/// On a log that is stopped samples come as seldom as sums.
void SampleOrSum(Recorder* recorder, std::int64_t early_ns = 0) {
  const std::int64_t now_ns = MonotonicNanoseconds();
  if (WriteSumsWhenDue(recorder, now_ns, early_ns) || !recorder->log.limits().is_stopped()) WriteSample(recorder);
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
  constexpr std::int64_t kNever = INT64_MAX;
  constexpr std::int64_t kSecond = 1000000000;
  const std::int64_t now_ns = MonotonicNanoseconds();
  const double interval_seconds = g_sampler.interval_seconds;
  std::int64_t sample_ns = interval_seconds > 0 ? After(now_ns, interval_seconds) : kNever;
  std::int64_t look_ns = recorder->waits.hertz() > 0 ? After(now_ns, recorder->waits.NextDistance()) : kNever;
  if (interval_seconds > 0) WriteSample(recorder);  // at once, so that memory is known from the start
  std::int64_t check_ns = After(now_ns, kCheckSeconds);
  pthread_mutex_lock(&g_sampler.mutex);
  while (!g_sampler.stop) {
    std::int64_t* next = &check_ns;
    if (sample_ns < *next) next = &sample_ns;
    if (look_ns < *next) next = &look_ns;
    const timespec until = {static_cast<time_t>(*next / kSecond), static_cast<long>(*next % kSecond)};
    while (!g_sampler.stop && pthread_cond_timedwait(&g_sampler.wake, &g_sampler.mutex, &until) == 0) {
    }
    if (g_sampler.stop) break;
    pthread_mutex_unlock(&g_sampler.mutex);
    const bool is_on = g_mode.load() == kModeOn;
    if (next == &check_ns && IsAlone(recorder->pid)) return nullptr;
    if (is_on && next == &look_ns) LookAtWaits(recorder);
    if (is_on && next == &sample_ns) SampleOrSum(recorder);
    const double distance = next == &look_ns ? recorder->waits.NextDistance() : interval_seconds;
    *next = Following(*next, next == &check_ns ? kCheckSeconds : distance);
    pthread_mutex_lock(&g_sampler.mutex);
  }
  pthread_mutex_unlock(&g_sampler.mutex);
  return nullptr;
}

/// Starts it, if the settings ask for one. It takes no signals, and no chunk waits for it.
void StartSampler(Recorder* recorder) noexcept {
  const double interval = recorder->settings.interval_seconds;
  recorder->waits.Start(recorder->settings.waits_hertz, recorder->settings.waits_are_asked);
  if (interval <= 0 && recorder->waits.hertz() <= 0) return;
  g_sampler = SamplerState();
  if (TasksLeft().value_or(kTasksToSpare) < kTasksToSpare) return recorder->waits.Refuse(EAGAIN);
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
  const int error = pthread_create(&g_sampler.thread, nullptr, Sample, recorder);
  g_sampler.running = error == 0;
  if (error != 0) recorder->waits.Refuse(EAGAIN);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  g_sampler.pid = getpid();
  if (g_sampler.running) pthread_setname_np(g_sampler.thread, "crema");
}

/// Ends it and waits for that, but not for a disk that hangs.
void StopSampler() noexcept {
  if (!g_sampler.running || g_sampler.pid != getpid()) return;
  pthread_mutex_lock(&g_sampler.mutex);
  g_sampler.stop = true;
  pthread_cond_signal(&g_sampler.wake);
  pthread_mutex_unlock(&g_sampler.mutex);
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kLongestWaitAtExitSeconds;
  pthread_timedjoin_np(g_sampler.thread, nullptr, &until);
  g_sampler.running = false;
}

/// The recorder for these settings, its log open; nullptr, with one warning, where it cannot be.
Recorder* Start(const Settings& settings) {
  OwnPointer<Recorder> recorder(MakeOwn<Recorder>());
  if (recorder == nullptr || !WatchExitAndFork()) {
    WarnOfNoMemory();
    return nullptr;
  }
  recorder->settings = settings;
  recorder->mark.Set();
  recorder->clock.Start();
  recorder->descriptors.Start();
  recorder->pid = getpid();
  // Children of a fork have the numbers of their parent: see `OtherCopy`.
  static int number = 0;
  if (g_inherited == nullptr) number = RecordersOfOtherCopies();
  recorder->number = number;
  Calibrate(recorder.get());
  if (settings.summary) recorder->summary = MakeOwn<ExitSummary>();
  if (!OpenLog(recorder.get())) {
    WarnOnce({"cannot write record logs to ", recorder->settings.directory.view(), ": ", strerror(errno),
              "; this process is not recorded"});
    return nullptr;
  }
  if (const char* const name = SenselessVariable()) {
    WarnOnce({name, "=", getenv(name), " makes no sense, and counts as not set"});
  }
  recorder->throttled_start_ns = ThrottledNanoseconds();
  recorder->stacks.Start();
  StartAllocations(recorder.get());
  StartGpu(recorder.get());
  g_recorder.store(recorder.get(), std::memory_order_release);
  StartSampler(recorder.get());
  return recorder.release();
}

/// The copy to work with, for a process that records into `directory` (empty: wherever others do). Children of a fork
/// look for no other than their parent: another thread of it may have held the lock of the list of loaded files.
const SharedCopy* OtherCopy(std::string_view directory) {
  if (g_followed != nullptr || g_inherited != nullptr) return g_followed;
  return FindSharedCopy(directory);
}

void Follow(const SharedCopy* shared) {
  g_followed = shared;
  shared->mirror_mode(&g_mode);
}

/// Where this copy is unloaded before anything was recorded.
__attribute__((destructor)) void StopFollowing() {
  if (g_followed != nullptr) g_followed->forget_mode(&g_mode);
}

/// False where this copy cannot stay loaded, as it must while threads record.
bool TakeRecorder(const SharedCopy* shared) {
  if (!WatchExitAndFork()) {
    WarnOfNoMemory();
    return false;
  }
  if (g_shared != shared) g_shared = shared;  // other threads may be reading it
  g_recorder.store(shared->recorder(), std::memory_order_release);
  return true;
}

/// Takes the other copy's mode for this one's, which is undecided. That copy may be switched meanwhile by other
/// threads; it changes its own mode first, and then those that follow.
bool DecideAs(const SharedCopy* shared) {
  Follow(shared);
  while (true) {
    const bool is_on = shared->enabled();
    if (is_on && !TakeRecorder(shared)) return StayOff();
    std::uint8_t undecided = kModeUndecided;
    g_mode.compare_exchange_strong(undecided, is_on ? kModeOn : kModeOff);
    if (is_on || !shared->enabled()) return is_on;
    g_mode.store(kModeUndecided);
  }
}

void SwitchThreads(Recorder* recorder, bool is_on) {
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    thread->Switch(is_on, recorder->clock);
  }
}

bool EnableLocked(const Settings& settings) {
  Recorder* recorder = ProcessIsEnding() ? nullptr : g_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr && !ProcessIsEnding()) {
    if (const SharedCopy* shared = OtherCopy(settings.directory.view())) {
      Follow(shared);
      if (shared->enable(settings) && TakeRecorder(shared)) recorder = g_recorder.load();
    } else if (!settings.directory.empty()) {
      recorder = Start(settings);
    }
  } else if (recorder != nullptr && g_shared != nullptr && !g_shared->enable(settings)) {
    recorder = nullptr;
  }
  if (recorder != nullptr && g_shared == nullptr) SwitchThreads(recorder, true);
  SetMode(recorder == nullptr ? kModeOff : kModeOn);
  return recorder != nullptr;
}

}  // namespace

Recorder* CurrentRecorder() noexcept {
  Recorder* recorder = g_recorder.load(std::memory_order_acquire);
  if (CREMA_LIKELY(recorder == nullptr || !recorder->mark.IsLeft())) return recorder;
  ForgetParent();
  return nullptr;
}

bool DecideMode() noexcept {
  const ErrnoAndCancelGuard guard;
  const std::lock_guard<std::mutex> lock(g_lifecycle);
  if (g_mode.load() != kModeUndecided) return g_mode.load() == kModeOn;
  if (SwitchedOffByEnvironment()) return StayOff();
  if (!ProcessIsEnding()) {
    if (const SharedCopy* shared = OtherCopy({})) return DecideAs(shared);
  }
  if (g_inherited != nullptr) return EnableLocked(*g_inherited);
  const auto settings = EnvironmentNamesDirectory() ? NewSettings({}, Options()) : nullptr;
  return settings != nullptr ? EnableLocked(*settings) : StayOff();
}

bool EnableWith(const Settings& settings) noexcept {
  const ErrnoAndCancelGuard guard;
  const std::lock_guard<std::mutex> lock(g_lifecycle);
  if (g_mode.load() == kModeOn) return true;
  if (SwitchedOffByEnvironment()) return StayOff();
  return EnableLocked(settings);
}

bool EnableWithTexts(std::string_view directory, std::string_view run_id, std::string_view pass,
                     const Options& options) noexcept {
  const ErrnoAndCancelGuard guard;
  if (g_mode.load() == kModeOn) return true;
  const OwnPointer<Settings> settings =
      SwitchedOffByEnvironment() ? nullptr : NewSettings({directory, run_id, pass}, options);
  if (settings != nullptr) return EnableWith(*settings);
  const std::lock_guard<std::mutex> lock(g_lifecycle);
  if (g_mode.load() != kModeOn) SetMode(kModeOff);
  return g_mode.load() == kModeOn;
}

void SwitchOff() noexcept {
  const ErrnoAndCancelGuard guard;
  const std::lock_guard<std::mutex> lock(g_lifecycle);
  if (g_shared != nullptr) g_shared->disable();
  SetMode(kModeOff);
  Recorder* const recorder = CurrentRecorder();
  if (recorder == nullptr || g_shared != nullptr) return;
  recorder->stacks.StopTimers(recorder);
  recorder->stacks.GiveSignalBack();
  SwitchThreads(recorder, false);
}

void EndLog() noexcept {
  EndProcess();
  if (g_shared != nullptr) g_shared->end();
}

void MirrorMode(std::atomic<std::uint8_t>* mode) noexcept {
  for (auto& mirror : g_mirrors) {
    if (std::atomic<std::uint8_t>* none = nullptr; mirror.compare_exchange_strong(none, mode) || none == mode) return;
  }
}

void ForgetMode(std::atomic<std::uint8_t>* mode) noexcept {
  for (auto& mirror : g_mirrors) {
    std::atomic<std::uint8_t>* mirrored = mode;
    mirror.compare_exchange_strong(mirrored, nullptr);
  }
}

ThreadContext* AdoptedThreadContext() noexcept { return g_shared == nullptr ? nullptr : g_shared->thread_context(); }

bool WasForked() noexcept { return g_inherited != nullptr; }

bool UsesSharedCopy() noexcept { return g_shared != nullptr; }

bool OwnsRecorder() noexcept { return CurrentRecorder() != nullptr && g_shared == nullptr; }

void WarnOnce(std::initializer_list<std::string_view> parts) noexcept {
  if (g_warned.exchange(true)) return;
  constexpr std::size_t kMostBytes = 512;
  FixedText<kMostBytes> text("crema: ");
  for (const std::string_view part : parts) text.Append(part);
  text.CutTo(kMostBytes - 1);
  text.Append("\n");
  PrintOnStandardError(text.c_str(), text.view().size(), 0);
}

void AddCost(std::int64_t cpu_ns) noexcept {
  Recorder* recorder = CurrentRecorder();
  if (recorder != nullptr && cpu_ns > 0) recorder->overhead_ns.fetch_add(cpu_ns, std::memory_order_relaxed);
}

void CountDropped() noexcept {
  if (Recorder* recorder = CurrentRecorder()) recorder->dropped.fetch_add(1, std::memory_order_relaxed);
}

void CountOutsideChunk() noexcept {
  CountDropped();
  if (Recorder* recorder = CurrentRecorder()) recorder->outside.fetch_add(1, std::memory_order_relaxed);
}

void CountMisuse(std::string_view sentence) noexcept {
  const ErrnoAndCancelGuard guard;
  CountDropped();
  if (Recorder* recorder = CurrentRecorder()) recorder->misused.fetch_add(1, std::memory_order_relaxed);
  WarnOnce({sentence});
}

void OccupyLane(Recorder* recorder, const ThreadState& thread, OpenWork* frame) noexcept {
  frame->holds_lane = thread.work == nullptr;
  if (!frame->holds_lane) return;
  const std::int64_t lanes = recorder->lanes.fetch_add(1) + 1;
  for (ThreadState* other = recorder->first_thread(); other != nullptr; other = other->next) {
    other->RaiseLanesPeak(lanes);
  }
}

void FreeLane(Recorder* recorder, const OpenWork& frame) noexcept {
  if (frame.holds_lane) recorder->lanes.fetch_sub(1);
}

void ForgetParent() noexcept {
  Recorder* parent = g_recorder.load();
  new (&g_lifecycle) std::mutex();  // another thread of the parent may have held it
  if (g_followed != nullptr && g_mode.load() == kModeOff) g_mode.store(kModeUndecided);  // it forgets who follows
  if (parent == nullptr) return;
  if (g_shared == nullptr) {
    for (ChunkLog* log = parent; log != nullptr; log = log->next.load()) log->log.Close(&parent->descriptors);
    parent->rss.Close(&parent->descriptors);
    parent->unannounced.Close(&parent->descriptors);
    parent->waits.CloseInherited();
    for (ThreadState* thread = parent->threads.load(); thread != nullptr; thread = thread->next) {
      thread->kernel.Close(&parent->descriptors);
      thread->perf.Close(&parent->descriptors);
      if (ThreadStacks* const stacks = thread->stacks.load()) stacks->clock.Close(&parent->descriptors);
    }
  }
  for (auto& mirror : g_mirrors) mirror.store(nullptr);  // the other copies forget too, and come again
  g_inherited = &parent->settings;
  g_shared = nullptr;
  g_recorder.store(nullptr);
  t_context = nullptr;
  if (g_mode.load() == kModeOn) g_mode.store(kModeUndecided);
}

void EndRecording() noexcept {
  const bool was_off = g_mode.load() == kModeOff;
  EndCallingThread();  // where exit(3) was called, no destructor of a key does that
  Recorder* recorder = CurrentRecorder();
  SetMode(kModeOff);
  if (recorder == nullptr || g_shared != nullptr) return;
  for (ChunkLog* log = recorder; was_off && log != nullptr; log = log->next.load()) log->log.LeaveRemoved();
  StopSampler();
  recorder->stacks.Stop(recorder);
  recorder->stacks.Write(recorder);
  WriteEnd(recorder);
  if (recorder->summary != nullptr) recorder->summary->Print(*recorder);
}

}  // namespace internal

bool Enable(const Options& options) noexcept {
  return internal::EnableWithTexts(options.directory, options.run_id, options.pass, options);
}

void Disable() noexcept { internal::SwitchOff(); }

bool Enabled() noexcept { return internal::Recording(); }

void Flush() noexcept {
  const internal::ErrnoAndCancelGuard guard;
  internal::Recorder* recorder = internal::CurrentRecorder();
  if (recorder == nullptr || !internal::Recording()) return;
  internal::SampleOrSum(recorder, internal::ChunkSums::kIntervalNanoseconds);
  internal::WriteAllocations(recorder, false);
  internal::WriteGpu(recorder, false);
  if (internal::TaskTable* const tasks = recorder->tasks.load()) tasks->Write(recorder, false);
  recorder->stacks.Write(recorder);
  for (internal::ChunkLog* log = recorder; log != nullptr; log = log->next.load()) log->log.Sync();
}

}  // namespace crema
