#include "stacks/native_stacks.h"

#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "kernel/proc_file.h"
#include "process/environment.h"
#include "process/process_recorder.h"
#include "storage/arena.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

// NOLINTBEGIN(readability-identifier-naming): the sanitizer's names
extern "C" void __tsan_acquire(void*) __attribute__((weak));
extern "C" void __tsan_release(void*) __attribute__((weak));
// NOLINTEND(readability-identifier-naming)

namespace crema::internal {
namespace {

constexpr double kLeastHertz = 1;
constexpr double kMostHertz = 1000;
constexpr std::int64_t kWriteNanoseconds = 10'000'000'000;
constexpr std::int64_t kNanoseconds = 1'000'000'000;
/// The kernel delivers it without a real need; its default action is to be ignored, so a program that resets it is not
/// harmed; debuggers pass it on. Go's runtime takes it for the same reasons.
constexpr int kSignal = SIGURG;
/// What the handler needs of its own stack, several times over.
constexpr std::size_t kHandlerBytes = 65536;
/// A stack for handlers that the program brings must have room for the kernel's frame twice, as a handler of the
/// program may be running there, and for so much more.
constexpr std::size_t kRoomBesideFrames = 16384;
/// The largest stack for handlers that we bring. Handlers of the program may run there, too.
constexpr std::size_t kMostOwnStackBytes = std::size_t{8} << 20;
/// Longer than a tick of any kernel (10 ms). A sample that is this late was held back: the thread was in a system call,
/// had no core in the ticks, or blocked the signal.
constexpr std::int64_t kLatestNanoseconds = 20'000'000;
/// The clock is set to this at least: a call that stays in the kernel is interrupted as often, for some 5 us.
constexpr std::int64_t kLeastPeriodNanoseconds = 400'000;
/// The clock's signal is this late at most: see `ClockSlack`.
constexpr std::int64_t kMostSlackNanoseconds = 800'000;
/// A moment that fell between two chunks is made up for in so much time.
constexpr std::int64_t kMissedNanoseconds = 1'000'000;
/// After so many silences in turn there are timers only: the thread is in the kernel nearly always, or the clock's
/// signals do not come.
constexpr int kMostSilences = 50;
/// A thread that is in the kernel for a part p of its time is not found there in so many ticks with a chance of
/// (1 - p)^50. Its samples then count for the place at hand, which is an error of at most p (1 - p)^50 < 0.8 points.
constexpr int kMostKernelTicks = 50;
/// A stack without a limit is taken to be so large: what lies further down may be something else.
constexpr std::uintptr_t kMostMainStackBytes = std::uintptr_t{64} << 20;
/// So often somebody who writes tries to get a thread's table: its handler may have lost the CPU.
constexpr int kMostTries = 1000;

std::atomic<bool> g_is_left_to_interpreter{false};

/// What the log says, by `NoStacks`.
constexpr const char* kReasons[] = {
    "it needs glibc 2.35 or newer, and x86-64 or aarch64",
    "the program handles or ignores SIGURG (ROOT does: gSystem->ResetSignal(kSigUrgent, true) gives it back)",
    "the program has set another action for SIGURG, so sampling ended there",
    "a thread blocks SIGURG: it has no stacks",
    "a thread blocked SIGURG inside a chunk: it has no stacks of that time",
    "the system refuses the memory for a thread's stacks",
    "a thread's stack for signal handlers (sigaltstack) is too small to share it: it has no stacks",
    "the kernel refuses a thread's timer (timer_create, timer_settime)",
    "the kernel refuses a thread's CPU clock",
    "recording was switched off inside a chunk",
    "the process ended while stacks were written",
    "the log has no room for more stacks: its limit is reached, or the disk is full",
};

/// Where pthread_sigmask(3) begins.
std::uintptr_t g_sigmask_begin = 0;

std::uintptr_t BeginOf(std::uintptr_t address) {
  LoadedFile file;
  FunctionEntry function;
  return FindFile(address, &file) && FindFunction(file, address, &function) ? function.begin : 0;
}

/// False where somebody else has the thread's table. What waits for `is_taken` sees what was done under it.
/// ThreadSanitizer does not see the atomics of a library that was built without it, only its calls of memcpy(3).
bool TakeTable(ThreadStacks* stacks) {
  if (stacks->is_taken.exchange(true, std::memory_order_acquire)) return false;
  if (__tsan_acquire != nullptr) __tsan_acquire(stacks);
  return true;
}
void LeaveTable(ThreadStacks* stacks) {
  if (__tsan_release != nullptr) __tsan_release(stacks);
  stacks->is_taken.store(false, std::memory_order_release);
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
  // A frame pointer may be anything. What it leads to may look like code of a file that another thread is unloading.
  bool is_sure = true;
  std::size_t depth = 0;
  while (depth < StackTable::kMostFrames - 1) {
    LoadedFile file;
    FunctionEntry function;
    const bool has_file = FindFile(registers.inside(), &file);
    if (has_file && !is_sure && !IsPermanent(file)) break;
    const bool has_rules = has_file && FindFunction(file, registers.inside(), &function);
    // One address for all of a function: a stack is then counted as one, wherever in its functions it was struck.
    frames[depth++] = has_file ? table->FrameOf(file, has_rules ? function.begin : registers.inside()) : kGeneratedCode;
    if (!is_known_stack) break;
    is_sure = is_sure && has_rules;
    const Step step = has_rules ? StepOut(file, function, bounds, &registers) : StepByFramePointer(bounds, &registers);
    if (step == Step::kOutermost) return depth;
    if (step == Step::kUnknown) break;
  }
  frames[depth++] = kOuterFrames;
  return depth;
}

struct Sighting {
  const ThreadState* thread;
  const ChunkState* chunk;
  const void* context;
  std::uint64_t samples;
};

CREMA_NEVER_INLINE void CountStack(void* argument) {
  const auto& [thread, chunk, context, samples] = *static_cast<const Sighting*>(argument);
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  StackTable* const table = stacks->table;
  const std::uint16_t place = PlaceOf(*thread, *chunk, table);
  StackFrame* const frames = table->NextFrames();
  const std::size_t depth = frames == nullptr ? 0 : Walk(stacks->bounds, RegistersOf(context), table, frames);
  table->Count(place, depth, {samples, samples * samples});
}

constexpr std::int64_t kNever = 0;  // which stops a timer (timer_settime(2))

bool SetTimer(const ThreadStacks& stacks, std::int64_t until_ns) {
  itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(until_ns / kNanoseconds);
  when.it_value.tv_nsec = static_cast<long>(until_ns % kNanoseconds);
  return timer_settime(stacks.timer, 0, &when, nullptr) == 0;
}

/// The clock's signal comes so late at most: 5 us on most machines, 70 us on a virtual one that is busy. And while a
/// thread changes places with others, its CPU clock goes on and this one does not. If the thread was in the kernel at
/// first, the signal comes after the whole time once more.
std::int64_t ClockSlack(const ThreadStacks& stacks) {
  return std::min(stacks.clock_period_ns / 2, kMostSlackNanoseconds);
}

/// The clock is to send its signal `until_ns` after `cpu_ns`, which is now.
void SetClock(Recorder* recorder, ThreadStacks* stacks, std::int64_t cpu_ns, std::int64_t until_ns) {
  const std::int64_t period_ns = std::max(until_ns, kLeastPeriodNanoseconds);
  if (!stacks->clock.Set(period_ns, &recorder->descriptors)) return;
  stacks->clock_period_ns = period_ns;
  stacks->clock_due_ns = cpu_ns + period_ns;
  stacks->clock_ahead_ns = 0;
}

/// The thread's last chunk has ended at `cpu_ns`. The clock went on until now, so it is ahead of the schedule.
void StopClock(ThreadStacks* stacks, std::int64_t cpu_ns) {
  stacks->clock.Stop();
  if (!stacks->clock.is_set()) return;
  const std::int64_t now_ns = ThreadCpuNanoseconds();
  stacks->is_clock_missed = stacks->clock_due_ns >= cpu_ns && stacks->clock_due_ns <= now_ns;
  stacks->clock_ahead_ns += now_ns - cpu_ns;
  stacks->clock_due_ns -= now_ns - cpu_ns;
}

/// CPU time in chunks has gone on at `cpu_ns`.
void ResumeClock(ThreadStacks* stacks, std::int64_t cpu_ns) {
  const bool is_missed = std::exchange(stacks->is_clock_missed, false);
  if (stacks->clock.is_set() && !is_missed) return stacks->clock.GoOn();
  // A moment between two chunks says nothing of either. The next one is random, too: as the last digits of the time.
  const std::int64_t random_ns = is_missed ? kLeastPeriodNanoseconds + cpu_ns % kMissedNanoseconds : 0;
  SetClock(stacks->recorder.load(std::memory_order_relaxed), stacks, cpu_ns,
           std::max(stacks->schedule.UntilDue(cpu_ns), random_ns));
}

/// The timer strikes when the next sample is due; if there is a clock, only when that was silent. `cpu_ns` is now.
bool ArmTimer(const ThreadStacks& stacks, std::int64_t cpu_ns) {
  std::int64_t until_ns = stacks.schedule.UntilDue(cpu_ns);
  if (stacks.clock.is_set()) until_ns = stacks.clock_due_ns + ClockSlack(stacks) - cpu_ns;
  if (stacks.kernel_samples != 0) until_ns = SampleSchedule::kNextTick;
  return SetTimer(stacks, std::max(until_ns, SampleSchedule::kNextTick));
}

/// How many samples to count where the thread is now. `cpu_ns` is now; the timer's signals come in ticks, all others
/// from the clock.
std::uint64_t TakeSamples(Recorder* recorder, ThreadStacks* stacks, std::int64_t cpu_ns, bool is_tick) {
  SampleSchedule& schedule = stacks->schedule;
  if (!stacks->clock.is_open()) return schedule.Take(cpu_ns) + std::exchange(stacks->kernel_samples, 0);
  const bool is_in_kernel = stacks->ticks.WereInKernel() && is_tick;
  const std::int64_t late_ns = cpu_ns - stacks->clock_due_ns;
  const std::int64_t slack_ns = ClockSlack(*stacks);
  if (is_tick && !stacks->clock.is_set()) return 0;
  if (!is_tick && late_ns < slack_ns) {
    stacks->silences = 0;
    return schedule.Take(cpu_ns + stacks->clock_ahead_ns);
  }
  // The timer has struck in a tick, and its signal comes when the thread leaves the kernel. So this was a long call.
  if (is_tick && late_ns > slack_ns + stacks->clock.tick_ns() + slack_ns) {
    return schedule.Take(cpu_ns) + std::exchange(stacks->kernel_samples, 0);
  }
  if (stacks->kernel_samples == 0) stacks->kernel_ticks = 0;
  if (late_ns >= slack_ns) {
    stacks->kernel_samples += schedule.Take(stacks->clock_due_ns + stacks->clock_ahead_ns);
    if (++stacks->silences > kMostSilences) stacks->clock.GiveUp(&recorder->descriptors);
  }
  if (!is_tick) return 0;
  if (!is_in_kernel && ++stacks->kernel_ticks < kMostKernelTicks) return 0;
  return std::exchange(stacks->kernel_samples, 0);
}

/// Whether the thread is in pthread_sigmask(3), which sigprocmask(2) calls, too.
bool IsUnblocking(const void* context) {
  return g_sigmask_begin != 0 && BeginOf(RegistersOf(context).pc) == g_sigmask_begin;
}

/// Goes over to a stack that is known to have room. Nothing of the present one is used meanwhile.
CREMA_NEVER_INLINE void CallOnStack(char* top, void (*function)(void*), void* argument) {
#if defined(__x86_64__)
  asm volatile("movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcallq *%[function]\n\tmovq %%rbx, %%rsp"
               : [top] "+r"(top), [function] "+r"(function), "+D"(argument)
               :
               : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                 "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
                 "memory");
#elif defined(__aarch64__)
  register void* first asm("x0") = argument;
  asm volatile("mov x19, sp\n\tmov sp, %[top]\n\tblr %[function]\n\tmov sp, x19"
               : [top] "+r"(top), [function] "+r"(function), "+r"(first)
               :
               : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
                 "x17", "x19", "x30", "cc", "memory");
#else
  (void)top;
  function(argument);
#endif
}

/// Uses nothing but memory: whatever the thread was doing, it may be in the middle of it. It may run on a small stack
/// of the program's. Its calls do: if one is trapped, the kernel sees that a handler of SIGSYS must not begin there.
void Sample(ThreadState* thread, const void* context, bool is_tick) {
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  Recorder* const recorder = stacks->recorder.load(std::memory_order_relaxed);
  const std::int64_t begin_ns = ThreadCpuNanoseconds();
  if (begin_ns == kUnknownCpu) return;
  const OpenWork* const work = thread->work;
  // Between two trees, or while somebody writes, what is due waits for the next tick.
  const bool is_free =
      work != nullptr && !stacks->schedule.is_paused() && (thread->switches() & 1) == 0 && TakeTable(stacks);
  std::uint64_t counted = 0;
  if (is_free) {
    const bool is_late = stacks->schedule.LateNanoseconds(begin_ns) > kLatestNanoseconds;
    std::uint64_t samples = 0;
    if (CREMA_UNLIKELY(is_late && IsUnblocking(context))) {  // the thread was elsewhere when they were due
      recorder->stacks.CountLost(stacks->schedule.Take(begin_ns));
      stacks->was_blocked.store(true, std::memory_order_relaxed);
    } else {
      samples = TakeSamples(recorder, stacks, begin_ns, is_tick);
    }
    // In a helper's scope the thread works for another thread's chunk.
    if (samples != 0 && !work->is_helper) {
      Sighting sighting = {thread, static_cast<const ChunkState*>(work), context, samples};
      const char* const here = reinterpret_cast<const char*>(&sighting);
      char* const end = stacks->handler_stack + stacks->handler_stack_bytes;
      if (here >= stacks->handler_stack && here < end) {
        CountStack(&sighting);
      } else {
        CallOnStack(end, CountStack, &sighting);
      }
      counted = samples;
    }
    if (stacks->table->is_half_full()) recorder->stacks.NoteHalfFull();
    LeaveTable(stacks);
  }
  const std::int64_t end_ns = ThreadCpuNanoseconds();
  if (counted != 0) stacks->positions.Note(begin_ns, end_ns, counted, !stacks->clock.is_open());
  // A tick before the clock is due, or just then, leaves the clock alone.
  const bool is_silent = begin_ns - stacks->clock_due_ns >= ClockSlack(*stacks);
  if (!stacks->schedule.is_paused() && (is_silent || !stacks->clock.is_set())) {
    SetClock(recorder, stacks, end_ns, stacks->schedule.UntilDue(end_ns));
  }
  if (!(is_free ? ArmTimer(*stacks, end_ns) : SetTimer(*stacks, SampleSchedule::kNextTick))) {
    stacks->has_failed.store(true, std::memory_order_relaxed);
    stacks->is_armed.store(false, std::memory_order_relaxed);
  }
  recorder->overhead_ns.fetch_add(end_ns - begin_ns, std::memory_order_relaxed);
}

void OnSignal(int, siginfo_t* info, void* context) {
  const KeptErrno kept_errno;
  auto* const thread = static_cast<ThreadState*>(t_context);
  ThreadStacks* const stacks = thread == nullptr ? nullptr : thread->stacks.load(std::memory_order_relaxed);
  const bool is_tick = info->si_code == SI_TIMER && stacks != nullptr && info->si_value.sival_ptr == stacks;
  const bool is_ours = is_tick || (stacks != nullptr && stacks->clock.HasSent(*info));
  if (is_ours) stacks->is_in_handler.store(true);
  if (is_ours && stacks->is_armed.load(std::memory_order_relaxed) && g_mode.load() == kModeOn) {
    Sample(thread, context, is_tick);
  }
  if (is_ours) stacks->is_in_handler.store(false);
}

bool IsBlocked() {
  sigset_t blocked;
  return pthread_sigmask(SIG_SETMASK, nullptr, &blocked) == 0 && sigismember(&blocked, kSignal) == 1;
}

bool IsOf(const struct sigaction& action, NativeStacks::Handler handler) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == handler;
}

/// Whether the handler is set: nobody else had set an action, or the parent of a fork had set this one.
bool TakeSignal(NativeStacks::Handler handler) {
  struct sigaction action = {};
  if (sigaction(kSignal, nullptr, &action) != 0) return false;
  if (IsOf(action, handler)) return true;
  if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) return false;
  action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  // While it runs no other does: they may share a stack. All bits: sigfillset(3) leaves out those of the C library.
  // But SIGSYS: where a filter of seccomp(2) traps our calls, the kernel kills a thread that blocks it.
  std::memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
  sigdelset(&action.sa_mask, SIGSYS);
  return sigaction(kSignal, &action, nullptr) == 0;
}

/// For the first thread, whose stack grows.
StackBounds MainStackBounds() {
  constexpr int kStartOfStack = 28;
  const auto high = static_cast<std::uintptr_t>(FieldOfStat(kStartOfStack).value_or(0));
  rlimit limit{};
  std::uintptr_t bytes = kMostMainStackBytes;
  if (getrlimit(RLIMIT_STACK, &limit) == 0) bytes = std::min<std::uintptr_t>(limit.rlim_cur, bytes);
  return {high - std::min(bytes, high), high};
}

StackBounds BoundsOfThread(std::int64_t tid, std::int64_t pid) {
  StackBounds bounds;
  if (tid == pid) {
    bounds = MainStackBounds();
    const auto here = reinterpret_cast<std::uintptr_t>(&bounds);
    if (here >= bounds.low && here < bounds.high) return bounds;
    // The process was forked by a thread, whose stack is the first thread's now; or this is a coroutine's stack.
  }
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return bounds;
  void* low = nullptr;
  if (std::size_t bytes = 0; pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    bounds.low = reinterpret_cast<std::uintptr_t>(low);
    bounds.high = bounds.low + bytes;
  }
  pthread_attr_destroy(&attributes);
  return bounds;
}

bool MapHandlerStack(ThreadStacks* stacks, std::size_t wanted) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (wanted + page - 1) / page * page;
  if (stacks->handler_stack_bytes >= bytes) return true;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
  void* const block = mmap(nullptr, page + bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (block == MAP_FAILED) return false;
  mprotect(block, page, PROT_NONE);
  munlock(block, page + bytes);  // after mlockall(2): of the pages only those that are used are to take memory
  madvise(block, page + bytes, MADV_DONTNEED);
  if (stacks->handler_stack != nullptr) munmap(stacks->handler_stack - page, page + stacks->handler_stack_bytes);
  stacks->handler_stack = static_cast<char*>(block) + page;
  stacks->handler_stack_bytes = bytes;
  return true;
}

/// Whether a handler of the program asks for a stack for handlers.
bool ProgramUsesHandlerStack() {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    struct sigaction action = {};
    const bool is_handled =
        sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (is_handled && signal != kSignal && (action.sa_flags & SA_ONSTACK) != 0) return true;
  }
  return false;
}

/// Whether memory counts that nobody touches: against a limit of the process, or of the machine
/// (/proc/sys/vm/overcommit_memory is 2).
bool CountsUntouchedMemory() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return true;
  }
  char mode[8] = "";
  return ReadWholeFile("/proc/sys/vm/overcommit_memory", mode, sizeof mode) > 0 && mode[0] == '2';
}

/// As large as the thread's own stack, if it can be: a handler that the program sets later may ask for a stack for
/// handlers, and would have run on the thread's own.
std::size_t OwnStackBytes(const StackBounds& bounds, std::size_t least) {
  if (CountsUntouchedMemory()) return least;
  return std::max(least, std::min<std::size_t>(bounds.high - bounds.low, kMostOwnStackBytes));
}

/// Has the kernel put the signal's frame where there is room for it: on the stack for handlers (sigaltstack(2)) that
/// the program brings, else on one of ours. If handlers of the program ask for such a stack and there is none, there
/// will be none: they may rely on running on the thread's own. False where that cannot be; the log says why.
bool GiveHandlerStack(Recorder* recorder, ThreadStacks* stacks, bool is_first) {
  constexpr std::size_t kLeastFrame = 2048;  // where the kernel does not say
  const std::size_t frame = std::max(static_cast<std::size_t>(getauxval(AT_MINSIGSTKSZ)), kLeastFrame);
  stack_t now = {};
  const bool is_given = sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0;
  if (is_given && now.ss_sp == stacks->handler_stack) return true;
  if (is_given && now.ss_size < 2 * frame + kRoomBesideFrames) {
    recorder->stacks.Refuse(recorder, NoStacks::kNoHandlerStack);
    return false;
  }
  if (is_first) stacks->brings_stack = !is_given && !ProgramUsesHandlerStack();
  const std::size_t least = frame + kHandlerBytes;
  const bool brings = stacks->brings_stack && !is_given;
  bool is_done = MapHandlerStack(stacks, brings ? OwnStackBytes(stacks->bounds, least) : least);
  if (is_done && brings) {
    stack_t ours = {};
    ours.ss_sp = stacks->handler_stack;
    ours.ss_size = stacks->handler_stack_bytes;
    is_done = sigaltstack(&ours, nullptr) == 0;
  }
  if (!is_done) recorder->stacks.Refuse(recorder, NoStacks::kNoMemory);
  return is_done;
}

void TakeHandlerStackBack(const ThreadStacks& stacks) {
  stack_t now = {};
  if (sigaltstack(nullptr, &now) != 0 || now.ss_sp != stacks.handler_stack || (now.ss_flags & SS_DISABLE) != 0) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

/// Takes the signal away if it is pending: the thread blocks it, and may wait for signals itself.
void DrainSignal(ThreadStacks* stacks) {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, kSignal);
  const timespec at_once = {};
  siginfo_t info = {};
  siginfo_t other = {};
  // One of the timer may be pending beside another one, which is the clock's or somebody else's.
  for (int i = 0; i < 2 && sigtimedwait(&ours, &info, &at_once) == kSignal; ++i) {
    if (info.si_code != SI_TIMER && !stacks->clock.HasSent(info)) other = info;
  }
  if (other.si_signo == 0) return;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), kSignal, &other);  // back to its place
}

void StartSchedule(const Recorder& recorder, const ThreadState& thread, ThreadStacks* stacks) {
  const auto period_ns = static_cast<std::int64_t>(static_cast<double>(kNanoseconds) / recorder.stacks.hertz());
  stacks->schedule.Start(period_ns, static_cast<std::uint64_t>(thread.tid) ^ CounterTicks());
}

/// What the thread needs once; false, and the log says why, where that cannot be had.
bool Prepare(Recorder* recorder, ThreadState* thread) {
  if (thread->stacks.load() == nullptr) {
    OwnPointer<ThreadStacks> made(MakeOwn<ThreadStacks>());
    if (made != nullptr) made->table = StackTable::Make(StackTable::kOfThread);
    if (made == nullptr || made->table == nullptr) {
      recorder->stacks.Refuse(recorder, NoStacks::kNoMemory);
      return false;
    }
    StartSchedule(*recorder, *thread, made.get());  // a thread that has this state later goes on with what is due
    thread->stacks.store(made.release(), std::memory_order_release);
  }
  ThreadStacks* const stacks = thread->stacks.load();
  stacks->bounds = BoundsOfThread(thread->tid, recorder->pid);
  if (!GiveHandlerStack(recorder, stacks, true)) return false;
  stacks->recorder.store(recorder);
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = stacks;
#ifdef sigev_notify_thread_id
  event.sigev_notify_thread_id = static_cast<pid_t>(thread->tid);
#else
  event._sigev_un._tid = static_cast<pid_t>(thread->tid);  // glibc 2.36 has no name for it
#endif
  const std::int64_t cpu_ns = ThreadCpuNanoseconds();
  if (cpu_ns == kUnknownCpu || timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &stacks->timer) != 0) {
    recorder->stacks.Refuse(recorder, cpu_ns == kUnknownCpu ? NoStacks::kNoClock : NoStacks::kNoTimer);
    return false;
  }
  stacks->has_timer = true;
  return true;
}

}  // namespace

void SampleSchedule::Start(std::int64_t period_ns, std::uint64_t seed) noexcept {
  period_ns_ = period_ns;
  random_ = seed;
  due_ns_ = rest_ns_ = paused_ns_ = 0;
  is_paused_ = true;
  Advance();
}

void SampleSchedule::Resume(std::int64_t cpu_ns) noexcept {
  due_ns_ += cpu_ns - paused_ns_;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  is_paused_ = false;
}

void SampleSchedule::Pause(std::int64_t cpu_ns) noexcept {
  is_paused_ = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  paused_ns_ = cpu_ns;
}

void SampleSchedule::Advance() noexcept {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
  const auto moment_ns = static_cast<std::int64_t>((random_ >> 32) * static_cast<std::uint64_t>(period_ns_) >> 32);
  due_ns_ += rest_ns_ + moment_ns;
  rest_ns_ = period_ns_ - moment_ns;
}

std::uint64_t SampleSchedule::Take(std::int64_t cpu_ns) noexcept {
  const std::int64_t whole_periods = (cpu_ns - due_ns_) / period_ns_ - 2;
  std::uint64_t samples = 0;
  if (whole_periods > 0) {
    due_ns_ += whole_periods * period_ns_;
    samples = static_cast<std::uint64_t>(whole_periods);
  }
  for (; due_ns_ <= cpu_ns; ++samples) Advance();
  return samples;
}

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
  if (has_signal_.load(std::memory_order_acquire)) return true;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_signal_.load() || !is_on()) return is_on();
  g_sigmask_begin = BeginOf(reinterpret_cast<std::uintptr_t>(&pthread_sigmask));
  has_signal_.store(can_find_files_ && TakeSignal(handler_));
  if (has_signal_.load()) had_signal_.store(true);
  if (has_signal_.load()) return true;
  is_on_.store(false);
  Refuse(recorder, can_find_files_ ? NoStacks::kSignalInUse : NoStacks::kNotSupported);
  return false;
}

bool NativeStacks::CanSignal(Recorder* recorder) noexcept {
  GiveUpTakenSignal(recorder);
  if (!is_on()) return false;
  if (!IsBlocked()) return true;
  Refuse(recorder, NoStacks::kSignalBlocked);
  return false;
}

void NativeStacks::GiveUpTakenSignal(Recorder* recorder) noexcept {
  struct sigaction action = {};
  if (!has_signal_.load() || (sigaction(kSignal, nullptr, &action) == 0 && IsOf(action, handler_))) return;
  Stop(recorder);
  Refuse(recorder, NoStacks::kSignalTaken);
}

void NativeStacks::StopTimers(Recorder* recorder) noexcept {
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    ThreadStacks* const stacks = thread->stacks.load(std::memory_order_acquire);
    if (stacks == nullptr || !stacks->has_timer) continue;
    stacks->is_armed.store(false);
    SetTimer(*stacks, kNever);
    stacks->clock.Stop();
    // A handler that has begun makes system calls of its own; ours here may be the one that was interrupted.
    for (int i = 0; i < kMostTries && thread != t_context && stacks->is_in_handler.load(); ++i) sched_yield();
    stacks->clock.Close(&recorder->descriptors);
  }
}

void NativeStacks::GiveSignalBack() noexcept {
  struct sigaction action = {};
  if (!has_signal_.load() || sigaction(kSignal, nullptr, &action) != 0 || !IsOf(action, handler_)) return;
  has_signal_.store(false);
  action = {};
  action.sa_handler = SIG_DFL;
  sigaction(kSignal, &action, nullptr);
}

void NativeStacks::Stop(Recorder* recorder) noexcept {
  if (is_on_.exchange(false)) StopTimers(recorder);
}

void NativeStacks::Refuse(Recorder* recorder, NoStacks reason) noexcept {
  const std::uint32_t bit = 1u << static_cast<unsigned>(reason);
  if ((refused_.load(std::memory_order_relaxed) & bit) != 0 || (refused_.fetch_or(bit) & bit) != 0) return;
  WriteStacksRefused(recorder, kReasons[static_cast<unsigned>(reason)]);
}

void NativeStacks::LeaveToInterpreter() noexcept {
  g_is_left_to_interpreter.store(true);
  is_on_.store(false);
}

void NativeStacks::WriteWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept {
  if (!is_on() || !has_signal_.load(std::memory_order_relaxed)) return;  // before the first chunk nothing is to write
  const bool is_due = now_ns >= next_write_ns_.load(std::memory_order_relaxed);
  if (!is_due && !is_half_full_.load(std::memory_order_relaxed)) return;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  next_write_ns_.store(now_ns + kWriteNanoseconds, std::memory_order_relaxed);
  WriteLocked(recorder);
}

void NativeStacks::Write(Recorder* recorder) noexcept {
  if (!had_signal_.load()) return;
  // exit(3) in a handler that interrupted the writing
  if (writer_.load(std::memory_order_relaxed) == pthread_self()) return Refuse(recorder, NoStacks::kInterrupted);
  const std::lock_guard<std::mutex> lock(mutex_);
  WriteLocked(recorder);
}

void NativeStacks::WriteLocked(Recorder* recorder) noexcept {
  writer_.store(pthread_self(), std::memory_order_relaxed);
  const std::int64_t begin_ns = ThreadCpuNanoseconds();
  GiveUpTakenSignal(recorder);
  is_half_full_.store(false, std::memory_order_relaxed);
  if (all_ == nullptr) all_ = StackTable::Make(StackTable::kOfProcess);
  // What is counted stays where it is, until there is memory.
  if (all_ == nullptr) return writer_.store({}, std::memory_order_relaxed);
  for (ThreadState* thread = recorder->first_thread(); thread != nullptr; thread = thread->next) {
    ThreadStacks* const stacks = thread->stacks.load(std::memory_order_acquire);
    if (stacks == nullptr) continue;
    int tries = 0;
    while (!TakeTable(stacks) && ++tries < kMostTries) sched_yield();
    if (tries == kMostTries) continue;  // the next time
    if (!stacks->table->is_empty()) {
      all_->Merge(*stacks->table, stacks->positions.Inflation());
      stacks->table->Clear();
    }
    LeaveTable(stacks);
    if (all_->is_half_full()) WriteMerged(recorder);  // so the next thread's have room
  }
  if (!all_->is_empty()) WriteMerged(recorder);
  writer_.store({}, std::memory_order_relaxed);
  if (const std::int64_t end_ns = ThreadCpuNanoseconds(); begin_ns != kUnknownCpu && end_ns > begin_ns) {
    recorder->overhead_ns.fetch_add(end_ns - begin_ns, std::memory_order_relaxed);
  }
}

void NativeStacks::WriteMerged(Recorder* recorder) noexcept {
  WriteCountedStacks(recorder, *all_);
  all_->Clear();
}

void ArmStacks(Recorder* recorder, ThreadState* thread) noexcept {
  if (!recorder->stacks.is_on()) return;
  ThreadStacks* stacks = thread->stacks.load(std::memory_order_relaxed);
  const bool is_prepared = stacks != nullptr && stacks->has_timer;
  if (is_prepared && stacks->is_armed.load(std::memory_order_relaxed)) return;
  NativeStacks& all = recorder->stacks;
  if (!all.EnsureSignal(recorder) || !all.CanSignal(recorder)) return;
  // The program may have changed what was prepared.
  if (is_prepared ? !GiveHandlerStack(recorder, stacks, false) : !Prepare(recorder, thread)) return;
  stacks = thread->stacks.load(std::memory_order_relaxed);
  if (!stacks->schedule.is_paused()) StartSchedule(*recorder, *thread, stacks);  // recording was switched off meanwhile
  stacks->clock.Open(kSignal, thread->tid, &recorder->descriptors);
  stacks->is_armed.store(true, std::memory_order_release);
  if (ArmTimer(*stacks, stacks->schedule.paused_ns())) return;
  stacks->is_armed.store(false, std::memory_order_relaxed);
  all.Refuse(recorder, NoStacks::kNoTimer);
}

void ResumeStacks(ThreadState* thread, MaybeInteger cpu_ns) noexcept {
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  if (stacks == nullptr || !stacks->is_armed.load(std::memory_order_relaxed) || !stacks->schedule.is_paused()) return;
  if (!cpu_ns.has_value()) return;
  stacks->positions.Begin(*cpu_ns);
  stacks->clock_due_ns += *cpu_ns - stacks->schedule.paused_ns();
  stacks->schedule.Resume(*cpu_ns);
  ResumeClock(stacks, *cpu_ns);
  if (stacks->clock.is_open()) stacks->ticks.WereInKernel();  // those between two chunks say nothing of either
}

void PauseStacks(ThreadState* thread, MaybeInteger cpu_ns) noexcept {
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  if (stacks == nullptr || (!stacks->is_armed.load(std::memory_order_relaxed) && stacks->schedule.is_paused())) return;
  for (const OpenWork* work = thread->work; work != nullptr; work = work->outer) {
    if (!work->is_helper) return;
  }
  const bool was_armed = stacks->is_armed.exchange(false, std::memory_order_relaxed);
  if (was_armed) SetTimer(*stacks, kNever);
  Recorder* const recorder = stacks->recorder.load(std::memory_order_relaxed);
  NativeStacks& all = recorder->stacks;
  if (stacks->was_blocked.exchange(false, std::memory_order_relaxed)) all.Refuse(recorder, NoStacks::kBlockedInChunk);
  if (stacks->schedule.is_paused() || !cpu_ns.has_value()) return stacks->clock.Stop();
  StopClock(stacks, *cpu_ns);
  stacks->schedule.Pause(*cpu_ns);
  stacks->positions.End(*cpu_ns);
  const bool is_late = stacks->schedule.LateNanoseconds(*cpu_ns) >= 0;
  if (!is_late && stacks->kernel_samples == 0 && !stacks->clock.is_open()) return;
  const bool is_blocked = IsBlocked();
  if (is_blocked) DrainSignal(stacks);
  if (!is_late) return;
  if (was_armed && !is_blocked) return;  // what is due is left to the next chunk
  all.CountLost(stacks->schedule.Take(*cpu_ns));
  if (is_blocked) return all.Refuse(recorder, NoStacks::kBlockedInChunk);
  if (stacks->has_failed.exchange(false, std::memory_order_relaxed)) return all.Refuse(recorder, NoStacks::kNoTimer);
  if (all.is_on()) all.Refuse(recorder, NoStacks::kSwitchedOff);  // else the log says why sampling ended
}

void EndStacks(ThreadState* thread) noexcept {
  ThreadStacks* const stacks = thread->stacks.load(std::memory_order_relaxed);
  if (stacks == nullptr || !stacks->has_timer) return;
  stacks->is_armed.store(false, std::memory_order_relaxed);
  stacks->clock.Stop();
  stacks->clock.Close(&stacks->recorder.load(std::memory_order_relaxed)->descriptors);
  timer_delete(stacks->timer);
  stacks->has_timer = false;
  TakeHandlerStackBack(*stacks);
}

}  // namespace crema::internal
