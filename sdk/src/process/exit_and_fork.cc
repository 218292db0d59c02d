#include "process/exit_and_fork.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cstddef>
#include <iterator>

#include "chunk/thread_state.h"
#include "crema/internal/section_node.h"

namespace crema {
namespace internal {
namespace {

std::atomic<bool> g_ending{false};

void AtExit() { EndProcess(); }

/// A plug-in that is unloaded would take the code of thread and exit handlers with it: it stays. The SDK's own
/// libraries are linked to stay, so that this changes nothing of what dlerror(3) reports. Returns 0, or an error
/// number.
#ifndef __GLIBC__
int StayLoaded() { return 0; }  // musl never unloads
#else
int StayLoaded() {
  Dl_info info{};
  link_map* map = nullptr;
  const auto here = reinterpret_cast<const void*>(&AtExit);
  if (dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return 0;
  if (map->l_name == nullptr || map->l_name[0] == '\0') return 0;  // the program itself
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NODELETE) != 0) return 0;
  }
  return dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == nullptr ? ENOMEM : 0;
}
#endif

int WatchForks() { return pthread_atfork(nullptr, nullptr, ForgetParent); }

/// From the start of the program, or of the library: a thread that begins to record holds locks, and a child that
/// another one forks meanwhile would find them held for ever.
bool g_forks_are_watched = WatchForks() == 0;

// The first comes first: a forked child that did not forget its parent would write into the parent's log.
using Step = int (*)();
constexpr Step kSteps[] = {
    [] { return g_forks_are_watched ? 0 : WatchForks(); },
    WatchThreadEnds,
    [] { return atexit(AtExit); },
    [] { return at_quick_exit(AtExit); },
    StayLoaded,
};
std::size_t g_steps_done = 0;

}  // namespace

bool WatchExitAndFork() noexcept {
  while (g_steps_done < std::size(kSteps)) {
    if (kSteps[g_steps_done]() != 0) return false;
    ++g_steps_done;
  }
  return true;
}

void EndProcess() noexcept {
  const ErrnoAndCancelGuard guard;
  if (!g_ending.exchange(true)) EndRecording();
}

bool ProcessIsEnding() noexcept { return g_ending.load(); }

}  // namespace internal
}  // namespace crema
