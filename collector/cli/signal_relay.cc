#include "collector/cli/signal_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace crema {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// What people and batch systems send. SIGCONT is among them: it resumes crema by itself, the command only if asked to.
constexpr int kRelayed[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,   SIGUSR2, SIGALRM,
                            SIGTSTP, SIGCONT, SIGXCPU, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR};

bool IsFromTerminal(const siginfo_t& signal) { return signal.si_code == SI_KERNEL; }

// Not by /proc: that may be another pid namespace's.
bool IsStopped(pid_t child) {
  siginfo_t change{};
  return waitid(P_PID, static_cast<id_t>(child), &change, WSTOPPED | WNOHANG | WNOWAIT) == 0 && change.si_pid == child;
}

// Whether it was stopped and runs again since this was last asked: the kernel reports each time once.
bool WentOn(pid_t child) {
  siginfo_t change{};
  return waitid(P_PID, static_cast<id_t>(child), &change, WCONTINUED | WNOHANG) == 0 && change.si_pid == child &&
         !IsStopped(child);
}

// Whether crema or the command has the terminal: then a shell waits for the two.
bool HaveTerminal(pid_t command) {
  const int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return false;
  const pid_t foreground = tcgetpgrp(terminal);
  close(terminal);
  return foreground == getpgrp() || foreground == getpgid(command);
}

timespec Timespec(int64_t nanoseconds) {
  timespec time{};
  if (nanoseconds > 0) {
    time.tv_sec = nanoseconds / kSecondNs;
    time.tv_nsec = nanoseconds % kSecondNs;
  }
  return time;
}

void Ignore(int signal, struct sigaction* before) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(signal, &action, before);
}

}  // namespace

SignalRelay::SignalRelay() {
  sigemptyset(&taken_);
  sigaddset(&taken_, SIGCHLD);
  for (int signal : kRelayed) sigaddset(&taken_, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&taken_, signal);
  sigprocmask(SIG_BLOCK, &taken_, &mask_before_);
  // Ignored by whoever started crema, it would make the kernel reap the command unseen.
  struct sigaction child {};
  child.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &child, &child_before_);
  Ignore(SIGPIPE, &pipe_before_);
  Ignore(SIGXFSZ, &file_size_before_);
}

void SignalRelay::Restore() const {
  sigaction(SIGCHLD, &child_before_, nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  sigaction(SIGXFSZ, &file_size_before_, nullptr);
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::optional<siginfo_t> SignalRelay::Wait(int64_t timeout_ns) const {
  const timespec timeout = Timespec(timeout_ns);
  siginfo_t signal{};
  if (sigtimedwait(&taken_, &signal, &timeout) < 0) return std::nullopt;
  return signal;
}

std::optional<siginfo_t> SignalRelay::WaitOr(int descriptor, int64_t timeout_ns) const {
  const int signals = signalfd(-1, &taken_, SFD_CLOEXEC);
  if (signals < 0) return Wait(timeout_ns);
  pollfd awaited[] = {{signals, POLLIN, 0}, {descriptor, POLLIN, 0}};  // poll(2) passes over a negative descriptor
  const timespec timeout = Timespec(timeout_ns);
  ppoll(awaited, 2, &timeout, nullptr);
  close(signals);
  return Wait(0);
}

void SignalRelay::Relay(const siginfo_t& signal, pid_t command) {
  const int number = signal.si_signo;
  if (number == SIGCHLD) {
    StopWith(command);
    return;
  }
  const bool same_group = getpgid(command) == getpgrp();
  const bool is_its_own = signal.si_code == SI_USER && signal.si_pid == command;
  // A shell's `fg` and `bg` send SIGCONT to the group.
  const bool went_on = number == SIGCONT && WentOn(command);
  const bool has_it = went_on || (same_group && (IsFromTerminal(signal) || is_its_own));
  if (!has_it) kill(command, number);
  if (number == SIGCONT) is_to_stop_ = false;
  if (number != SIGTSTP) return;
  is_to_stop_ = is_to_stop_ || !IsFromTerminal(signal);
  StopWith(command);
}

void SignalRelay::StopWith(pid_t command) {
  if (!IsStopped(command) || !(is_to_stop_ || HaveTerminal(command))) return;
  is_to_stop_ = false;
  StopSelf();
}

void SignalRelay::StopSelf() {
  // With the default action, so that the kernel's rule for orphaned groups holds; execution goes on here after SIGCONT.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace crema
