#include "collector/output/held_signals.h"

namespace crema {
namespace {

constexpr int kHeld[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : kHeld) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool HeldSignals::pending() const {
  sigset_t pending;
  sigpending(&pending);  // those that are ignored never wait
  for (const int signal : kHeld) {
    if (sigismember(&pending, signal) == 1) return true;
  }
  return false;
}

}  // namespace crema
