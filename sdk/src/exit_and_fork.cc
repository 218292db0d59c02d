#include "exit_and_fork.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include <atomic>

#include "crema/internal/section_node.h"
#include "thread_state.h"

namespace crema {
namespace internal {
namespace {

std::atomic<bool> g_watching{false};
std::atomic<bool> g_ending{false};

void AtExit() { EndProcess(); }

/// A plug-in that is unloaded would take the code of thread and exit handlers with it: it stays.
void StayLoaded() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&AtExit), &info) == 0 || info.dli_fname == nullptr) return;
  dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);  // fails for the program itself, which stays anyway
}

}  // namespace

void WatchExitAndFork() noexcept {
  if (g_watching.exchange(true)) return;  // a forked child inherits the handlers
  StayLoaded();
  pthread_atfork(nullptr, nullptr, ForgetParent);
  atexit(AtExit);
  at_quick_exit(AtExit);
}

void EndProcess() noexcept {
  const ErrnoKeeper keeper;
  if (!g_ending.exchange(true)) EndRecording();
}

bool ProcessIsEnding() noexcept { return g_ending.load(); }

}  // namespace internal
}  // namespace crema
