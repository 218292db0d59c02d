#include "process/standard_error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "process/own_descriptor.h"

namespace crema {
namespace internal {
namespace {

bool g_was_open = false;
FileIdentity g_at_load;

__attribute__((constructor)) void AtLoad() { NoteStandardError(); }

/// pipe(2) gives the lowest numbers that are free, the reading end first. So a pipe of the program's own has its
/// writing end here only where the reading end is below; any other was put here to be the standard error (dup2(2)).
bool IsOwnPipe(const struct stat& status) {
  for (const int below : {STDIN_FILENO, STDOUT_FILENO}) {
    const bool is_same = IdentityOf(below) == FileIdentity{status.st_dev, status.st_ino};
    if (is_same && (fcntl(below, F_GETFL) & O_ACCMODE) == O_RDONLY) return true;
  }
  return false;
}

bool IsStandardError() {
  struct stat status {};
  if (fstat(STDERR_FILENO, &status) != 0) return false;
  if (g_was_open && FileIdentity{status.st_dev, status.st_ino} == g_at_load) return true;
  return isatty(STDERR_FILENO) != 0 || (S_ISFIFO(status.st_mode) && !IsOwnPipe(status));
}

/// No signal that a write may send reaches the thread while this lives.
class SignalsOfWriting {
 public:
  SignalsOfWriting() noexcept {
    sigset_t pending;
    sigemptyset(&pending);
    sigpending(&pending);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigemptyset(&sent_here_);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGTTOU}) {
      sigaddset(&blocked, signal);
      if (sigismember(&pending, signal) == 0) sigaddset(&sent_here_, signal);
    }
    is_blocked_ = pthread_sigmask(SIG_BLOCK, &blocked, &before_) == 0;
  }
  ~SignalsOfWriting() {
    if (!is_blocked_) return;
    const timespec at_once{};
    while (sigtimedwait(&sent_here_, nullptr, &at_once) > 0 || errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsOfWriting(const SignalsOfWriting&) = delete;
  SignalsOfWriting& operator=(const SignalsOfWriting&) = delete;
  bool is_blocked() const noexcept { return is_blocked_; }

 private:
  sigset_t before_;
  sigset_t sent_here_;
  bool is_blocked_ = false;
};

}  // namespace

void NoteStandardError() noexcept {
  const int saved_errno = errno;
  const auto identity = IdentityOf(STDERR_FILENO);
  g_was_open = identity.has_value();
  g_at_load = identity.value_or(FileIdentity());
  errno = saved_errno;
}

bool PrintOnStandardError(const char* text, std::size_t size, int wait_milliseconds) noexcept {
  const int saved_errno = errno;
  bool printed = false;
  if (IsStandardError()) {
    const SignalsOfWriting signals;
    pollfd standard_error = {STDERR_FILENO, POLLOUT, 0};
    // Where nobody reads any more it says so at once, and the write fails.
    const bool takes_it = poll(&standard_error, 1, wait_milliseconds) > 0;
    printed = takes_it && signals.is_blocked() && write(STDERR_FILENO, text, size) == static_cast<ssize_t>(size);
  }
  errno = saved_errno;
  return printed;
}

}  // namespace internal
}  // namespace crema
