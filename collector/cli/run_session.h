// `crema run` from its plan and its directory to the end of the command, or of the process that it watches.
#pragma once

#include <signal.h>

#include "collector/cli/subcommand.h"
#include "collector/files/output_directory.h"

namespace crema {

// The signals that crema gets, passed on to the command that it runs.

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

struct RunPlan {
  std::vector<std::string> command;  ///< empty: `pid` is watched
  int pid = 0;
  std::string directory;  ///< empty: `crema-<time>`
  std::string name;       ///< empty: the command's file name
  std::string pass;       ///< empty: none
  double interval_seconds = 1;
  int cores = 0;  ///< that each process is given; 0: not known
  bool trace = false;
  bool requests = false;
  bool allocations = false;
  std::string allocations_library;  ///< that counts them
  bool gpu = false;
  std::string gpu_library;     ///< that counts what GPUs do
  std::string waits = "auto";  ///< CREMA_WAITS: how often a second, `off`, or `auto`
  double stacks_hertz = 0;     ///< of CPU time; 0: stacks are not taken
  bool replace = false;
  int64_t max_log_bytes = 0;  ///< of each process's log; 0: as the environment says
  bool force = false;
  OutputOptions output;
};

/// DIR and DIR/records, both mode 0700 where they are new, and nobody else's while this is there. An earlier
/// measurement in DIR is set aside until the command has started: `Keep` or `Undo` must be called.
class RunDirectory {
 public:
  /// Errors: DIR holds something that crema did not write, without a measurement that explains it or `force`; somebody
  /// writes into it; no permission.
  static absl::StatusOr<RunDirectory> Create(const std::string& directory, const OlderOutput& older);

  /// `crema-<local time>`, with a number behind it where that exists.
  static std::string DefaultName();

  /// The command has started: the earlier measurement gets the name that it keeps, or is thrown away.
  void Keep();
  /// It has not: all is as it was before.
  void Undo() { output_.Undo(); }

  /// As the user wrote it.
  const std::string& path() const { return path_; }
  /// Absolute: the command may change its directory.
  const std::string& records() const { return records_; }
  /// Where the earlier measurement is now; empty: there is none.
  const std::string& kept_as() const { return output_.kept_as(); }
  OutputDirectory* output() { return &output_; }

 private:
  RunDirectory(std::string path, OutputDirectory output) : path_(std::move(path)), output_(std::move(output)) {}

  std::string path_;
  std::string records_;
  OutputDirectory output_;
};

/// The calling process becomes the command; returns errno, only where that failed.
int Become(const std::vector<std::string>& command);

/// One clear line, without an end.
std::string DescribeExecError(const std::string& command, int exec_errno);

/// 127 where the command was not found, 126 where it cannot be executed, as shells do.
int StatusOfExecError(int exec_errno);

/// What looks like a secret is `***`, by the rules of the SDK (sdk/src/log/secret_filter.h).
std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command);

/// Exit status for crema's own failures before the command starts, as of env(1) and timeout(1).
inline constexpr int kRunFailed = 125;

struct RunOutcome {
  bool started = false;
  int exit_status = kRunFailed;  ///< the command's, or why there was none
};

/// Runs the command with recording on, samples its process tree into DIR/records, passes signals on, and returns when
/// it has ended; processes that it left behind keep running. Says on stderr why a command did not start, and then
/// leaves DIR as it was.
RunOutcome RunCommand(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals);

/// Samples the process tree of `plan.pid` into DIR/records until that process ends, or a signal ends the watch (SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU, SIGPWR); the process is never touched. The exit status is 0 in both
/// cases. Says on stderr why a process cannot be watched, and then leaves DIR as it was.
RunOutcome WatchProcess(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals);

}  // namespace crema
