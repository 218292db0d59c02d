#include "native_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "environment.h"
#include "proc_file.h"
#include "recorder.h"
#include "stacks_line.h"
#include "thread_state.h"
#include "work_frame.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace crema {
namespace internal {
namespace {

constexpr double kLeastHertz = 1;
constexpr double kMostHertz = 1000;
constexpr std::int64_t kWriteNanoseconds = 10'000'000'000;
constexpr std::int64_t kNanoseconds = 1'000'000'000;
/// What the handler itself needs of its stack, several times over.
constexpr std::size_t kHandlerBytes = 32768;
/// Of a stack that is ours: other handlers of the program that ask for such a stack run there, too.
constexpr std::size_t kOwnStackBytes = 262144;
/// A stack without a limit is taken to be so large: what lies further down may be something else.
constexpr std::uintptr_t kMostMainStackBytes = std::uintptr_t{64} << 20;
/// So often somebody who writes tries to get a thread's table: its handler may have lost the CPU.
constexpr int kMostTries = 1000;

std::atomic<bool> g_is_left_to_interpreter{false};

std::int64_t PeriodNanoseconds(const Recorder& recorder) {
  return static_cast<std::int64_t>(static_cast<double>(kNanoseconds) / recorder.stacks.hertz());
}

/// The section that is open in the thread's innermost chunk, and the chunk's dataset.
std::uint16_t PlaceOf(const ThreadState& thread, const ChunkState& chunk, StackTable* table) {
  std::string_view names[kMaxDepth + 1];
  std::size_t depth = 0;
  const SectionNode* node = Kept(thread.current.load(std::memory_order_acquire));
  for (; node->parent != nullptr && depth <= kMaxDepth; node = node->parent) {
    names[depth++] = std::string_view(node->name(), node->name_length);
  }
  std::reverse(names, names + depth);
  return table->PlaceOf(chunk.identity.broken() ? std::string_view() : chunk.parts.dataset, names, depth);
}

/// The functions from the one that was struck outwards; how many.
std::size_t Walk(const StackBounds& bounds, FrameRegisters registers, StackTable* table, StackFrame* frames) {
  const bool is_known_stack = bounds.Contain(registers.stack & ~(sizeof(void*) - 1), sizeof(void*));
  std::size_t depth = 0;
  while (depth < StackTable::kMostFrames - 1) {
    LoadedFile file;
    FunctionEntry function;
    const bool has_file = FindFile(registers.inside(), &file);
    const bool has_rules = has_file && FindFunction(file, registers.inside(), &function);
    // One address for all of a function: a stack is then counted as one, wherever in its functions it was struck.
    frames[depth++] = has_file ? table->FrameOf(file, has_rules ? function.begin : registers.inside()) : kGeneratedCode;
    if (!is_known_stack) break;
    const Step step = has_rules ? StepOut(file, function, bounds, &registers) : StepByFramePointer(bounds, &registers);
    if (step == Step::kOutermost) return depth;
    if (step == Step::kUnknown) break;
  }
  frames[depth++] = kOuterFrames;
  return depth;
}

void CountStack(const ThreadState& thread, const ChunkState& chunk, const void* context, std::uint64_t samples) {
  ThreadStacks* const stacks = thread.stacks.load(std::memory_order_relaxed);
  StackTable* const table = stacks->table;
  const std::uint16_t place = PlaceOf(thread, chunk, table);
  StackFrame* const frames = table->NextFrames();
  const std::size_t depth = frames == nullptr ? 0 : Walk(stacks->bounds, RegistersOf(context), table, frames);
  table->Count(place, depth, {samples, samples * samples});
}

/// Uses nothing but memory: whatever the thread was doing, it may be in the middle of it.
void Sample(ThreadStacks* stacks, const siginfo_t& info, const void* context) {
  auto* const thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr || thread->stacks.load(std::memory_order_relaxed) != stacks) return;
  Recorder* const recorder = stacks->recorder.load(std::memory_order_relaxed);
  if (recorder == nullptr || !recorder->stacks.is_on()) return;
  const MaybeInteger begin_ns = ThreadCpu();
  const std::uint64_t samples = 1 + static_cast<std::uint64_t>(std::max(info.si_overrun, 0));
  const WorkFrame* const work = thread->work;
  // Between two trees, or while somebody writes, the sighting is left to the next sample.
  if (thread->is_between_trees() || stacks->is_taken.exchange(true, std::memory_order_acquire)) {
    stacks->carried.fetch_add(samples, std::memory_order_relaxed);
    return;
  }
  if (work != nullptr && !work->is_helper) {
    const std::uint64_t carried = stacks->carried.exchange(0, std::memory_order_relaxed);
    CountStack(*thread, *static_cast<const ChunkState*>(work), context, samples + carried);
    if (stacks->table->is_half_full()) recorder->stacks.NoteHalfFull();
  }
  stacks->is_taken.store(false, std::memory_order_release);
  recorder->overhead_ns.fetch_add(Difference(ThreadCpu(), begin_ns).value_or(0), std::memory_order_relaxed);
}

void OnSignal(int, siginfo_t* info, void* context) {
  const int host_errno = errno;
  if (info->si_code == SI_TIMER) Sample(static_cast<ThreadStacks*>(info->si_value.sival_ptr), *info, context);
  errno = host_errno;
}

bool IsBlocked(int signal) {
  sigset_t blocked;
  return pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, signal) == 1;
}

bool IsOf(const struct sigaction& action, NativeStacks::Handler handler) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handler;
}

/// Takes the highest real-time signal that is free, below the last one: programs count from the first. 0: none is.
int TakeSignal(NativeStacks::Handler handler) {
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; --signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || IsBlocked(signal)) continue;
    if (IsOf(action, handler)) return signal;  // the parent's, before a fork
    if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigfillset(&action.sa_mask);  // while it runs no other does: they may share a stack
    if (sigaction(signal, &action, nullptr) == 0) return signal;
  }
  return 0;
}

/// Of the first thread, whose stack grows: field 28 of /proc/self/stat says where it begins (proc(5)).
StackBounds MainStackBounds() {
  char text[1024];
  const long size = ReadWholeFile("/proc/self/stat", text, sizeof text);
  std::string_view rest(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  rest.remove_prefix(std::min(rest.rfind(')'), rest.size()));
  constexpr int kFieldsBetween = 26;  // `)` ends field 2
  for (int i = 0; i < kFieldsBetween; ++i) rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  StackBounds bounds;
  bounds.high = static_cast<std::uintptr_t>(LeadingInteger(rest).value_or(0));
  rlimit limit{};
  std::uintptr_t bytes = kMostMainStackBytes;
  if (getrlimit(RLIMIT_STACK, &limit) == 0) bytes = std::min<std::uintptr_t>(limit.rlim_cur, bytes);
  bounds.low = bounds.high - std::min(bytes, bounds.high);
  return bounds;
}

StackBounds BoundsOfThread(std::int64_t tid, std::int64_t pid) {
  if (tid == pid) return MainStackBounds();
  StackBounds bounds;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return bounds;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    bounds.low = reinterpret_cast<std::uintptr_t>(low);
    bounds.high = bounds.low + bytes;
  }
  pthread_attr_destroy(&attributes);
  return bounds;
}

/// The handler takes nothing of the thread's own stack, which may be nearly used up. Why it gets none; nullptr: it has
/// one.
const char* GiveHandlerStack(ThreadStacks* stacks) {
  constexpr const char* kNoMemory = "the system refuses the memory for a handler's stack";
  const auto frame = static_cast<std::size_t>(getauxval(AT_MINSIGSTKSZ));
  stack_t now = {};
  if (sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0) {
    const bool is_enough = now.ss_size >= kHandlerBytes + frame;
    return is_enough ? nullptr : "a thread's stack for handlers (sigaltstack) is too small: it has no stacks";
  }
  if (stacks->handler_stack == nullptr) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (kOwnStackBytes + frame + page - 1) / page * page;
    void* const block =
        mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (block == MAP_FAILED) return kNoMemory;
    mprotect(block, page, PROT_NONE);
    stacks->handler_stack = static_cast<char*>(block) + page;
    stacks->handler_stack_bytes = bytes;
  }
  stack_t ours = {};
  ours.ss_sp = stacks->handler_stack;
  ours.ss_size = stacks->handler_stack_bytes;
  return sigaltstack(&ours, nullptr) == 0 ? nullptr : kNoMemory;
}

void TakeHandlerStackBack(const ThreadStacks& stacks) {
  stack_t now = {};
  if (sigaltstack(nullptr, &now) != 0 || now.ss_sp != stacks.handler_stack || (now.ss_flags & SS_DISABLE) != 0) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

/// Some moment of the first period, another one for each thread: of threads that live shortly, too, each moment has
/// the same chance.
std::int64_t FirstMoment(std::int64_t tid, std::int64_t period_ns) {
  auto mixed = (static_cast<std::uint64_t>(tid) ^ CounterTicks()) * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 32;
  return 1 + static_cast<std::int64_t>(mixed % static_cast<std::uint64_t>(period_ns));
}

timespec After(std::int64_t nanoseconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(nanoseconds / kNanoseconds);
  time.tv_nsec = static_cast<long>(nanoseconds % kNanoseconds);
  return time;
}

/// What the thread needs once; false, and the log says why, where that cannot be had.
bool Prepare(Recorder* recorder, ThreadState* thread) {
  NativeStacks& all = recorder->stacks;
  if (!all.EnsureSignal(recorder)) return false;
  if (thread->stacks.load() == nullptr) {
    auto* const stacks = new (std::nothrow) ThreadStacks();
    if (stacks != nullptr) stacks->table = StackTable::Make(StackTable::kOfThread);
    if (stacks == nullptr || stacks->table == nullptr) {
      delete stacks;
      all.Refuse(recorder, "the system refuses the memory for a thread's stacks");
      return false;
    }
    thread->stacks.store(stacks, std::memory_order_release);
  }
  ThreadStacks* const stacks = thread->stacks.load();
  if (!all.HasSignal()) {
    all.GiveUp(recorder);
    return false;
  }
  if (IsBlocked(all.signal())) {
    all.Refuse(recorder, "a thread blocks the signal: it has no stacks");
    return false;
  }
  if (const char* const why_not = GiveHandlerStack(stacks)) {
    all.Refuse(recorder, why_not);
    return false;
  }
  stacks->bounds = BoundsOfThread(thread->tid, recorder->pid);
  stacks->recorder.store(recorder);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = all.signal();
  event.sigev_value.sival_ptr = stacks;
#ifdef sigev_notify_thread_id
  event.sigev_notify_thread_id = static_cast<pid_t>(thread->tid);
#else
  event._sigev_un._tid = static_cast<pid_t>(thread->tid);  // glibc 2.36 has no name for it
#endif
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &stacks->timer) != 0) {
    all.Refuse(recorder, "the kernel refuses a thread's timer (timer_create)");
    return false;
  }
  stacks->has_timer = true;
  stacks->left_ns = FirstMoment(thread->tid, PeriodNanoseconds(*recorder));
  return true;
}

}  // namespace

void NativeStacks::Start() noexcept {
  const double asked = AskedStacks();
  if (asked <= 0 || g_is_left_to_interpreter.load()) return;
  hertz_ = std::clamp(asked, kLeastHertz, kMostHertz);
  can_find_files_ = CanFindFiles();
  handler_ = OnSignal;
  next_write_ns_.store(MonotonicNanoseconds() + kWriteNanoseconds);
  is_on_.store(true);
}

bool NativeStacks::EnsureSignal(Recorder* recorder) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (signal_.load() != 0 || !is_on()) return is_on();
  if (!can_find_files_) {
    Stop();
    Refuse(recorder,
           "the C library cannot tell a handler whose code it is in (glibc 2.35 can), or the processor is "
           "neither x86-64 nor aarch64");
    return false;
  }
  signal_.store(TakeSignal(handler_));
  if (signal_.load() != 0) return true;
  Stop();
  Refuse(recorder, "the program uses, or blocks, all real-time signals");
  return false;
}

bool NativeStacks::HasSignal() const noexcept {
  struct sigaction action = {};
  return sigaction(signal(), nullptr, &action) == 0 && IsOf(action, handler_);
}

void NativeStacks::GiveUp(Recorder* recorder) noexcept {
  Stop();
  Refuse(recorder, "the program has taken the signal for itself");
  const itimerspec never = {};
  for (ThreadState* thread = recorder->threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
    const ThreadStacks* const stacks = thread->stacks.load(std::memory_order_acquire);
    if (stacks != nullptr && stacks->has_timer) timer_settime(stacks->timer, 0, &never, nullptr);
  }
}

void NativeStacks::Refuse(Recorder* recorder, const char* reason) noexcept {
  if (!is_refused_.exchange(true)) WriteStacksRefused(recorder, reason);
}

void NativeStacks::LeaveToInterpreter() noexcept {
  g_is_left_to_interpreter.store(true);
  is_on_.store(false);
}

void NativeStacks::WriteWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept {
  if (!is_on() || signal() == 0) return;  // before the first chunk there is nothing to write
  const bool is_due = now_ns >= next_write_ns_.load(std::memory_order_relaxed);
  if (!is_due && !is_half_full_.load(std::memory_order_relaxed)) return;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  next_write_ns_.store(now_ns + kWriteNanoseconds, std::memory_order_relaxed);
  WriteLocked(recorder);
}

void NativeStacks::Write(Recorder* recorder) noexcept {
  if (signal() == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  WriteLocked(recorder);
}

void NativeStacks::WriteLocked(Recorder* recorder) noexcept {
  const std::int64_t begin_ns = ThreadCpuNanoseconds();
  if (is_on() && !HasSignal()) GiveUp(recorder);
  is_half_full_.store(false, std::memory_order_relaxed);
  if (all_ == nullptr) all_ = StackTable::Make(StackTable::kOfProcess);
  if (all_ == nullptr) return;  // what is counted stays where it is, until there is memory
  for (ThreadState* thread = recorder->threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next) {
    ThreadStacks* const stacks = thread->stacks.load(std::memory_order_acquire);
    if (stacks == nullptr) continue;
    int tries = 0;
    while (stacks->is_taken.exchange(true, std::memory_order_acquire) && ++tries < kMostTries) sched_yield();
    if (tries == kMostTries) continue;  // the next time
    if (!stacks->table->is_empty()) {
      all_->Merge(*stacks->table);
      stacks->table->Clear();
    }
    stacks->is_taken.store(false, std::memory_order_release);
    if (all_->is_half_full()) WriteMerged(recorder);  // so the next thread's have room
  }
  if (!all_->is_empty()) WriteMerged(recorder);
  const std::int64_t end_ns = ThreadCpuNanoseconds();
  if (begin_ns != kUnknownCpu && end_ns > begin_ns) {
    recorder->overhead_ns.fetch_add(end_ns - begin_ns, std::memory_order_relaxed);
  }
}

void NativeStacks::WriteMerged(Recorder* recorder) noexcept {
  WriteCountedStacks(recorder, *all_);
  all_->Clear();
}

void TakeStacks(Recorder* recorder, ThreadState* thread) noexcept {
  if (!recorder->stacks.is_on()) return;
  ThreadStacks* stacks = thread->stacks.load(std::memory_order_relaxed);
  if (stacks == nullptr || !stacks->has_timer) {
    if (!Prepare(recorder, thread)) return;
    stacks = thread->stacks.load(std::memory_order_relaxed);
  }
  if (stacks->is_armed) return;
  itimerspec when = {};
  when.it_value = After(std::max<std::int64_t>(stacks->left_ns, 1));
  when.it_interval = After(PeriodNanoseconds(*recorder));
  stacks->is_armed = timer_settime(stacks->timer, 0, &when, nullptr) == 0;
}

void PauseStacks(ThreadState* thread) noexcept {
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  if (stacks == nullptr || !stacks->is_armed) return;
  for (const WorkFrame* work = thread->work; work != nullptr; work = work->outer) {
    if (!work->is_helper) return;
  }
  const itimerspec never = {};
  itimerspec before = {};
  if (timer_settime(stacks->timer, 0, &never, &before) != 0) return;
  stacks->left_ns = before.it_value.tv_sec * kNanoseconds + before.it_value.tv_nsec;
  stacks->is_armed = false;
}

void EndStacks(ThreadState* thread) noexcept {
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  if (stacks == nullptr || !stacks->has_timer) return;
  timer_delete(stacks->timer);
  stacks->has_timer = stacks->is_armed = false;
  TakeHandlerStackBack(*stacks);
}

}  // namespace internal
}  // namespace crema
