#include "unseen_allocators.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "next_allocator.h"
#include "process/loaded_objects.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace crema {
namespace allocations {
namespace {

using internal::Contains;
using internal::CountLoads;
using internal::Definition;
using internal::ForEachObject;
using internal::LoadCounts;
using internal::LoadedObject;

/// malloc, and the operators by the names of the Itanium C++ ABI ("Mangling"; `m` is std::size_t on 64 bits). They take
/// the size, then the alignment or a std::nothrow_t that nobody reads.
constexpr const char* kFunctions[] = {"malloc",
                                      "_Znwm",
                                      "_Znam",
                                      "_ZnwmRKSt9nothrow_t",
                                      "_ZnamRKSt9nothrow_t",
                                      "_ZnwmSt11align_val_t",
                                      "_ZnamSt11align_val_t",
                                      "_ZnwmSt11align_val_tRKSt9nothrow_t",
                                      "_ZnamSt11align_val_tRKSt9nothrow_t"};
constexpr int kMalloc = 0;
constexpr int kFunctionCount = sizeof kFunctions / sizeof *kFunctions;
constexpr std::size_t kAlignment = 64;
using Function = void* (*)(std::size_t, std::size_t, const void*);

constexpr int kMostObjects = 64;
struct OwnFunctions {
  Function functions[kFunctionCount + 1];  ///< null: it has none; the last is that of the caller
  char name[128];                          ///< the end of it
};
struct Found {
  OwnFunctions objects[kMostObjects];
  int count = 0;
  void* of_caller = nullptr;
};
Found g_found;  // guarded by g_is_busy, like the two below
LoadCounts g_examined;
char g_sentence[256];
std::atomic_flag g_is_busy = ATOMIC_FLAG_INIT;
std::atomic<bool> g_is_unseen{false};

/// This library, the C library, and the C++ runtimes, whose operators call malloc.
bool IsKnown(const LoadedObject& object) {
  static constexpr const char* kNames[] = {"/libstdc++.so", "/libc++", "/libc.so.", "/ld-"};
  bool is_known = Contains(object, kNames);
  for (const char* name : kNames) is_known |= std::strstr(object.name, name) != nullptr;
  return is_known;
}

bool Collect(void* data, const LoadedObject& object) {
  auto* const found = static_cast<Found*>(data);
  if (found->count == kMostObjects || IsKnown(object)) return false;
  OwnFunctions& own = found->objects[found->count];
  const bool is_callers = Contains(object, found->of_caller);
  own.functions[kFunctionCount] = is_callers ? reinterpret_cast<Function>(found->of_caller) : nullptr;
  bool has_any = own.functions[kFunctionCount] != nullptr;
  for (int i = 0; i < kFunctionCount; ++i) {
    void* const function = Definition(object, kFunctions[i]);
    const bool is_asked = function == reinterpret_cast<void*>(FindNextAllocator()->malloc);  // by this library
    own.functions[i] = is_asked ? nullptr : reinterpret_cast<Function>(function);
    has_any |= own.functions[i] != nullptr;
  }
  const char* slash = std::strrchr(object.name, '/');
  const char* name = *object.name == '\0' ? "the program" : slash == nullptr ? object.name : slash + 1;
  std::strncpy(own.name, name, sizeof own.name - 1);
  if (has_any) ++found->count;
  return false;
}

/// A child hangs if another thread of the program held a lock of the allocator when it was made.
constexpr int kMostTries = 3;
constexpr int kFailed = -1;
constexpr int kAllSeen = kFunctionCount + 1;
constexpr int kNotTried = kAllSeen + 1;  ///< the kernel is older than Linux 5.9

/// Gives the index of the first one that is not seen. Calls them in a child that shares no memory: what a program's own
/// operator counts, or takes from a pool, stays as it was. The kernel sends no signal when such a child ends, no
/// handler of fork(2) runs, and wait(2) does not see it.
int TryInChild(const OwnFunctions& own, std::uint64_t (*blocks_seen)()) {
  constexpr int kMostNaps = 200;
  constexpr long kNapNanoseconds = 1000000;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const long child = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    prctl(PR_SET_DUMPABLE, 0);  // if it ends badly, it leaves no file
    if (syscall(SYS_close_range, 0, ~0u, 0) != 0) syscall(SYS_exit_group, kNotTried);  // it may print
    int index = 0;
    for (; index < kAllSeen; ++index) {
      const std::uint64_t seen = blocks_seen();
      if (own.functions[index] == nullptr) continue;
      own.functions[index](1, kAlignment, nullptr);
      if (blocks_seen() == seen) break;
    }
    syscall(SYS_exit_group, index);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return kFailed;
  int status = -1;
  long ended = 0;
  for (int naps = 0; ended == 0 && naps < kMostNaps; ++naps) {
    const timespec nap = {0, kNapNanoseconds};
    syscall(SYS_nanosleep, &nap, nullptr);  // by syscall(2): no point where a thread may be cancelled
    ended = syscall(SYS_wait4, child, &status, __WCLONE | WNOHANG, nullptr);
  }
  if (ended == 0) {
    kill(static_cast<pid_t>(child), SIGKILL);
    syscall(SYS_wait4, child, nullptr, __WCLONE, nullptr);
  }
  const bool was_tried = ended == child && WIFEXITED(status) && WEXITSTATUS(status) != kNotTried;
  return was_tried ? WEXITSTATUS(status) : kFailed;
}

}  // namespace

const char* FindUnseenAllocator(internal::OperatorNew* of_caller, std::uint64_t (*blocks_seen)()) noexcept {
  if (g_is_unseen.load(std::memory_order_acquire)) return g_sentence;
  if (of_caller == nullptr) return nullptr;
  if (g_is_busy.test_and_set(std::memory_order_acquire)) return nullptr;  // its caller says it
  const int host_errno = errno;
  const LoadCounts loads = CountLoads();
  const bool is_same_caller = reinterpret_cast<void*>(of_caller) == g_found.of_caller;
  // What was loaded later stands behind.
  const int known = is_same_caller && loads.unloaded == g_examined.unloaded ? g_found.count : 0;
  if (known == 0 || loads.loaded != g_examined.loaded) {
    g_examined = loads;
    g_found.of_caller = reinterpret_cast<void*>(of_caller);
    g_found.count = 0;
    ForEachObject(Collect, &g_found);
  }
  if (g_found.count == kMostObjects && !g_is_unseen.load(std::memory_order_relaxed)) {
    std::strcpy(g_sentence, "too many libraries have an operator new of their own to try each");
    g_is_unseen.store(true, std::memory_order_release);
  }
  for (int i = known; i < g_found.count && !g_is_unseen.load(std::memory_order_relaxed); ++i) {
    int unseen = kFailed;
    for (int tries = 0; tries < kMostTries && unseen == kFailed; ++tries) {
      unseen = TryInChild(g_found.objects[i], blocks_seen);
    }
    if (unseen == kAllSeen) continue;
    std::strcpy(g_sentence, unseen == kMalloc ? "the allocator inside " : "operator new of ");
    std::strcat(g_sentence, g_found.objects[i].name);
    std::strcat(g_sentence, unseen == kMalloc   ? " is not seen"
                            : unseen == kFailed ? " may not call malloc"
                                                : " does not call malloc");
    g_is_unseen.store(true, std::memory_order_release);
  }
  errno = host_errno;
  g_is_busy.clear(std::memory_order_release);
  return g_is_unseen.load(std::memory_order_acquire) ? g_sentence : nullptr;
}

}  // namespace allocations
}  // namespace crema
