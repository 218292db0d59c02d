// `crema run`, and before it the signals that it passes on to the command.

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "collector/cli/doctor_command.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/run_session.h"
#include "collector/idioms/descriptor.h"
#include "collector/idioms/units.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/records/json_fields.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

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
  const Descriptor terminal("/dev/tty", O_RDONLY | O_NOCTTY);
  if (terminal < 0) return false;
  const pid_t foreground = tcgetpgrp(terminal);
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
  const Descriptor signals(signalfd(-1, &taken_, SFD_CLOEXEC));
  if (signals < 0) return Wait(timeout_ns);
  pollfd awaited[] = {{signals, POLLIN, 0}, {descriptor, POLLIN, 0}};  // poll(2) passes over a negative descriptor
  const timespec timeout = Timespec(timeout_ns);
  ppoll(awaited, 2, &timeout, nullptr);
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

// `crema run`: runs a command with recording on, samples its process tree, and leaves a measurement.

namespace {

// After the command: the measurement is made and its summary printed, without any say in the exit status.

constexpr int64_t kCollectorPollNs = 1'000'000'000;

absl::Status CollectRun(const RunPlan& plan, RunDirectory* directory) {
  MeasureOptions options;
  options.sources = {directory->records()};
  options.run = "all";  // whatever is in the run's own directory is of this run, whichever id a program gave itself
  options.name = plan.name;
  const absl::StatusOr<MeasuredRun> measured = MeasureAndJudge(options, plan.output.quiet);
  if (!measured.ok()) return measured.status();
  SaveOptions save;
  save.claimed = directory->output();
  if (absl::Status saved = SaveMeasurement(*measured, directory->path(), save); !saved.ok()) return saved;
  if (plan.output.quiet) return absl::OkStatus();
  const std::string source = ShellWord(directory->path());
  const std::string text = plan.output.json
                               ? JsonText(JsonOf(measured->measurement), 1) + "\n"
                               : RenderSummary(measured->measurement, StyleFor(STDERR_FILENO, plan.output, source));
  std::fputs(text.c_str(), stderr);
  if (plan.output.json) return absl::OkStatus();
  std::fputs(fmt::format("measurement: {}  (crema show {})\n", directory->path(), source).c_str(), stderr);
  if (!directory->kept_as().empty()) {
    std::fputs(fmt::format("the older one: {}\n", directory->kept_as()).c_str(), stderr);
  }
  if (plan.stacks_hertz > 0 && !measured->measurement.HasChunks()) PrintError(kInsideNeedsGuards);
  std::string next = NextReport(plan.output, source, STDERR_FILENO);
  const auto show = [&](std::string_view table, const std::string& what) {
    next = NextStep(plan.output, fmt::format("crema show {} --table {}", source, table), what, STDERR_FILENO);
  };
  if (measured->measurement.HasWaitingFunctions()) show("waits", "which functions wait, and who holds a lock");
  if (!measured->measurement.functions.empty()) {
    show("functions", "the functions of each section; crema report draws them");
  }
  std::fputs(next.c_str(), stderr);
  return absl::OkStatus();
}

int CollectGuarded(const RunPlan& plan, RunDirectory* directory) {
  try {
    const absl::Status status = CollectRun(plan, directory);
    if (status.ok()) return kExitDone;
    if (access(directory->records().c_str(), F_OK) != 0) {
      PrintError("no measurement was made: " + directory->records() + " was removed while the command ran");
    } else {
      PrintError(fmt::format("no measurement was made: {}; the records are in {}", std::string(status.message()),
                             directory->records()));
    }
  } catch (const std::exception& error) {
    PrintError(fmt::format("no measurement was made: {}; the records are in {}", error.what(), directory->records()));
  }
  return kExitFailed;
}

/// Collects DIR/records into DIR/measurement.json and prints the summary to stderr, in a process of its own: whatever
/// happens to it (no memory, a bug, Ctrl-C) costs the measurement, which `crema collect` can make later from the
/// records. Says so on stderr, and returns in any case.
void CollectAndPrint(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals) {
  const pid_t collector = fork();
  if (collector == 0) {
    signals->Restore();
    const int status = CollectGuarded(plan, directory);
    std::fflush(stderr);
    _exit(status);
  }
  if (collector < 0) {
    CollectGuarded(plan, directory);
    return;
  }
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(collector, &status, WNOHANG);
    if (ended == collector || (ended < 0 && errno != EINTR)) break;
    const std::optional<siginfo_t> signal = signals->Wait(kCollectorPollNs);
    if (signal.has_value()) signals->Relay(*signal, collector);
  }
  if (WIFSIGNALED(status)) {
    PrintError(fmt::format("no measurement was made: collecting was ended by signal {}; try `crema collect {} -o DIR`",
                           WTERMSIG(status), directory->records()));
  }
}

constexpr double kLeastInterval = 0.01;  // a scan takes about a millisecond
constexpr double kLargestInterval = 86400;
constexpr double kLeastStacks = 1;  // a second
constexpr double kMostStacks = 1000;
constexpr double kLeastWaits = 1;  // a second; docs/waits.md
constexpr double kMostWaits = 100;

// CLI11 does not know of the command: it is taken off before.
class RunFormatter : public HelpFormatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: crema run [OPTIONS] -- COMMAND [ARGUMENT]...\n       crema run [OPTIONS] --pid PID\n";
  }
};

bool IsSwitchedOff() {
  const char* off = secure_getenv("CREMA_OFF");
  return off != nullptr && std::string_view(off) == "1";
}

// As if crema were not there: it becomes the command.
int RunUnmeasured(const RunPlan& plan) {
  if (plan.command.empty()) return kExitDone;
  const int exec_errno = Become(plan.command);
  PrintError(DescribeExecError(plan.command.front(), exec_errno));
  return StatusOfExecError(exec_errno);
}

// A library for the command to load.
bool Find(const std::string& name, const std::string& folder, std::string* library) {
  absl::StatusOr<std::string> found = FindLibraryToLoad(RunningProgram(), name, folder);
  if (!found.ok()) {
    ReportFailure(found.status());
    return false;
  }
  *library = *std::move(found);
  return true;
}

int Run(RunPlan plan) {
  if (IsSwitchedOff()) return RunUnmeasured(plan);
  if (plan.allocations && !Find(kAllocationsLibraryName, "allocations", &plan.allocations_library)) return kRunFailed;
  if (plan.gpu && !Find(kGpuLibraryName, "gpu", &plan.gpu_library)) return kRunFailed;
  SignalRelay signals;
  absl::StatusOr<RunDirectory> directory = RunDirectory::Create(
      plan.directory.empty() ? RunDirectory::DefaultName() : plan.directory, {plan.replace, plan.force});
  if (!directory.ok()) {
    ReportFailure(directory.status());
    return kRunFailed;
  }
  const RunOutcome outcome =
      plan.command.empty() ? WatchProcess(plan, &*directory, &signals) : RunCommand(plan, &*directory, &signals);
  if (!outcome.started) directory->Undo();
  if (outcome.started) CollectAndPrint(plan, &*directory, &signals);
  return outcome.exit_status;
}

}  // namespace

void AddRunCommand(CLI::App* program, const std::vector<std::string>& command, int* status) {
  CLI::App* run = program->add_subcommand("run", "Run a command, record and sample it, and leave a measurement");
  run->formatter(std::make_shared<RunFormatter>());
  run->footer(
      "crema run ends with the exit status of the command, or with 128 + signal if a signal ended it. If the command\n"
      "did not start: 125 crema failed, 126 not executable, 127 not found. crema passes signals on to the command.\n"
      "With --pid it ends with 0, when the process ends or at SIGINT, SIGTERM, SIGHUP or SIGUSR1. These do\n"
      "not end the process.\n"
      "With CREMA_OFF=1 in the environment it runs the command and does nothing else.\n\n"
      "Example:\n"
      "  crema run -o ttbar -- ./analysis --threads 4 ttbar.root\n"
      "  crema show ttbar\n"
      "  crema run -o service --pid 4711");
  auto plan = std::make_shared<RunPlan>();
  plan->command = command;
  run->add_option("-o,--output", plan->directory, "Directory of the measurement (default: crema-<time>)")
      ->type_name("DIR");
  CLI::Option* pid = run->add_option("--pid", plan->pid, "Watch this process and its children, instead of a command");
  pid->check(WholeNumber(1, kAnyCount));
  run->add_option("--interval", plan->interval_seconds, "Seconds between two samples of the process tree")
      ->check(FiniteNumber(kLeastInterval, kLargestInterval))
      ->capture_default_str();
  run->add_option("--cores", plan->cores,
                  "Cores that each process may use (CREMA_THREADS). crema declares them, and pins nothing")
      ->check(WholeNumber(1, kAnyCount))
      ->excludes(pid);
  run->add_option("--max-log-bytes", plan->max_log_bytes,
                  "Largest log of a process. Chunks that do not fit are only added to sums (CREMA_MAX_LOG_BYTES)")
      ->check(FiniteNumber(1, kAnyNumber))
      ->excludes(pid);
  run->add_flag("--trace", plan->trace, "Also record each time a section runs (CREMA_TRACE)")->excludes(pid);
  run->add_flag("--requests", plan->requests, "Measure uproot's and fsspec's requests to storage (CREMA_REQUESTS)")
      ->excludes(pid);
  run->add_flag("--allocations", plan->allocations,
                "Count allocations by section, with a library that is loaded before the program")
      ->excludes(pid);
  run->add_flag("--gpu", plan->gpu,
                "Count what NVIDIA GPUs do for each chunk and section, by a library that CUDA loads")
      ->excludes(pid);
  run->add_option("--stacks", plan->stacks_hertz,
                  "Sample stacks of functions HZ times in each second of a thread's CPU time (CREMA_STACKS)")
      ->check(FiniteNumber(kLeastStacks, kMostStacks))
      ->type_name("[HZ]")
      ->expected(0, 1)
      ->default_str("100")
      ->excludes(pid);
  run->add_option("--waits", plan->waits,
                  "Look HZ (1 to 100) times a second at what threads wait for, and in which function; off: never "
                  "(CREMA_WAITS). Without this option: up to 20 times, without functions; in Python never")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text == "off" || text == "auto" ? std::string() : FiniteNumber(kLeastWaits, kMostWaits)(text);
          },
          ""))
      ->type_name("[HZ]")
      ->expected(0, 1)
      ->default_str("20")
      ->excludes(pid);
  run->add_option("--pass", plan->pass, "Name of this pass over the data (CREMA_PASS)")->excludes(pid);
  run->add_option("--name", plan->name, "Name of the run (default: the command's file name)");
  run->add_flag("--replace", plan->replace, "Delete an older measurement (default: it is kept as DIR.<its start>)");
  run->add_flag("--force", plan->force, "Write into a directory that holds other files");
  run->add_flag("--json", plan->output.json, "Print the measurement as JSON to stderr instead of the summary");
  AddOutputOptions(run, &plan->output);
  run->callback([plan, status] {
    const bool has_command = !plan->command.empty() && !plan->command.front().empty();
    if (has_command == (plan->pid != 0)) {
      throw CLI::ValidationError(has_command ? "both a command and --pid; name only one of them"
                                             : "no command; write `crema run [OPTIONS] -- COMMAND [ARGUMENT]...`");
    }
    *status = Run(*plan);
  });
}

}  // namespace crema
