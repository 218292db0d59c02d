// Passes the signals that crema gets on to the command it runs.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace crema {

/// While it lives, no signal ends crema but SIGKILL and crashes: they wait to be taken. SIGPIPE and SIGXFSZ are
/// ignored, as crema's own output must never decide how the command ends.
class SignalRelay {
 public:
  SignalRelay();
  ~SignalRelay() { Restore(); }
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  /// Signals are as crema found them: for a child between fork and exec.
  void Restore() const;

  /// Waits for the next signal, SIGCHLD included; nullopt after `timeout_ns`.
  std::optional<siginfo_t> Wait(int64_t timeout_ns) const;

  /// As above; nullopt, too, once `descriptor` is readable (-1: there is none).
  std::optional<siginfo_t> WaitOr(int descriptor, int64_t timeout_ns) const;

  /// Gives the signal to `command`, unless it has it already: what a terminal sends (Ctrl-C, Ctrl-\, Ctrl-Z) goes to
  /// the whole foreground group, and so does the SIGCONT with which a shell resumes it, and what the command sends to
  /// its own group. Once the command has stopped, crema stops too, where it was asked to or a shell waits: not before,
  /// as an editor has the terminal to restore, and one that does not stop has to be waited for.
  void Relay(const siginfo_t& signal, pid_t command);

  /// Stops crema until SIGCONT, as SIGTSTP would.
  void StopSelf();

 private:
  void StopWith(pid_t command);

  sigset_t taken_;
  sigset_t mask_before_;
  struct sigaction child_before_;
  struct sigaction pipe_before_;
  struct sigaction file_size_before_;
  bool is_to_stop_ = false;  ///< somebody signalled crema alone
};

}  // namespace crema
