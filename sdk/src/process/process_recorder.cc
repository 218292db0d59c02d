#include "process/process_recorder.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "chunk/thread_state.h"
#include "kernel/cgroup.h"
#include "log/process_line.h"
#include "log/sample_line.h"
#include "process/allocations.h"
#include "process/calibration.h"
#include "process/environment.h"
#include "process/exit_and_fork.h"
#include "process/exit_summary.h"
#include "process/gpu.h"
#include "process/sampler.h"
#include "process/shared_copy.h"
#include "process/standard_error.h"
#include "storage/own_memory.h"
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
    if (is_on && !TakeRecorder(shared)) {
      SetMode(kModeOff);
      return false;
    }
    std::uint8_t undecided = kModeUndecided;
    g_mode.compare_exchange_strong(undecided, is_on ? kModeOn : kModeOff);
    if (is_on || !shared->enabled()) return is_on;
    g_mode.store(kModeUndecided);
  }
}

void SwitchThreads(Recorder* recorder, bool is_on) {
  for (ThreadState* thread = recorder->threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
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
  if (SwitchedOffByEnvironment()) {
    SetMode(kModeOff);
    return false;
  }
  if (!ProcessIsEnding()) {
    if (const SharedCopy* shared = OtherCopy({})) return DecideAs(shared);
  }
  if (g_inherited != nullptr) return EnableLocked(*g_inherited);
  const auto settings = EnvironmentNamesDirectory() ? NewSettings({}, Options()) : nullptr;
  if (settings != nullptr) return EnableLocked(*settings);
  SetMode(kModeOff);
  return false;
}

bool EnableWith(const Settings& settings) noexcept {
  const ErrnoAndCancelGuard guard;
  const std::lock_guard<std::mutex> lock(g_lifecycle);
  if (g_mode.load() == kModeOn) return true;
  if (SwitchedOffByEnvironment()) {
    SetMode(kModeOff);
    return false;
  }
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
    std::atomic<std::uint8_t>* none = nullptr;
    if (mirror.compare_exchange_strong(none, mode) || none == mode) return;
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
  char text[512] = "crema: ";
  std::size_t size = strlen(text);
  for (std::string_view part : parts) {
    part = part.substr(0, sizeof text - 1 - size);
    memcpy(text + size, part.data(), part.size());
    size += part.size();
  }
  text[size++] = '\n';
  PrintOnStandardError(text, size, 0);
}

void AddCost(std::int64_t cpu_ns) noexcept {
  Recorder* recorder = CurrentRecorder();
  if (recorder != nullptr && cpu_ns > 0) recorder->overhead_ns.fetch_add(cpu_ns, std::memory_order_relaxed);
}

void CountDropped() noexcept {
  Recorder* recorder = CurrentRecorder();
  if (recorder != nullptr) recorder->dropped.fetch_add(1, std::memory_order_relaxed);
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

std::int64_t OccupyLane(Recorder* recorder) noexcept {
  const std::int64_t lanes = recorder->lanes.fetch_add(1) + 1;
  for (ThreadState* thread = recorder->threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
    thread->RaiseLanesPeak(lanes);
  }
  return lanes;
}

void FreeLane(Recorder* recorder) noexcept { recorder->lanes.fetch_sub(1); }

void FreeLane(Recorder* recorder, const OpenWork& frame) noexcept {
  if (frame.holds_lane) FreeLane(recorder);
}

void ForgetParent() noexcept {
  Recorder* parent = g_recorder.load();
  new (&g_lifecycle) std::mutex();  // another thread of the parent may have held it
  if (g_followed != nullptr && g_mode.load() == kModeOff) g_mode.store(kModeUndecided);  // it forgets who follows
  if (parent == nullptr) return;
  if (g_shared == nullptr) {
    parent->log.Close(&parent->descriptors);
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
  if (was_off) recorder->log.LeaveRemoved();
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
  internal::WriteSample(recorder);
  internal::WriteAllocations(recorder, false);
  internal::WriteGpu(recorder, false);
  recorder->sums.WriteWhenDue(recorder, internal::MonotonicNanoseconds());
  if (internal::TaskTable* const tasks = recorder->tasks.load()) tasks->Write(recorder, false);
  recorder->stacks.Write(recorder);
  recorder->log.Sync();
}

}  // namespace crema
