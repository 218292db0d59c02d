#include "collector/cli/run_session.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "collector/idioms/units.h"
#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/sources/process_tree/proc_file.h"
#include "collector/sources/process_tree/tree_sampler.h"
#include "nlohmann/json.hpp"
#include "sdk/allocations/loadable.h"
#include "sdk/src/log/secret_filter.h"

namespace crema {

std::string RunDirectory::DefaultName() {
  const std::string name = absl::FormatTime("crema-%Y%m%dT%H%M%S", absl::Now(), absl::LocalTimeZone());
  std::string candidate = name;
  for (int number = 2; access(candidate.c_str(), F_OK) == 0; ++number) candidate = absl::StrCat(name, "-", number);
  return candidate;
}

absl::StatusOr<RunDirectory> RunDirectory::Create(const std::string& directory, const OlderOutput& older) {
  absl::StatusOr<OutputDirectory> claimed = OutputDirectory::Claim(directory);
  if (!claimed.ok()) return claimed.status();
  RunDirectory run(directory, *std::move(claimed));
  const absl::StatusOr<std::filesystem::path> parts = run.output_.Prepare(older);
  if (!parts.ok()) return parts.status();
  const std::filesystem::path records = *parts / kRecordsName;
  if (mkdir(records.c_str(), 0700) != 0) return absl::ErrnoToStatus(errno, records.string());
  if (absl::Status status = run.output_.Install(); !status.ok()) return status;
  run.records_ = (run.output_.path() / kRecordsName).string();
  return run;
}

void RunDirectory::Keep() {
  if (const absl::Status status = output_.Settle(); !status.ok()) ReportFailure(status);
}

namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

/// Unique on all hosts, sorted by time: `20261121T140211Z-<8 random bytes in hex>`.
std::string NewRunId() {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) {
    random = static_cast<uint64_t>(absl::GetCurrentTimeNanos()) ^ static_cast<uint64_t>(getpid()) << 40;
  }
  return absl::FormatTime("%Y%m%dT%H%M%SZ-", absl::Now(), absl::UTCTimeZone()) + fmt::format("{:016x}", random);
}

using EnvironmentChanges = std::vector<std::pair<std::string, std::string>>;

struct Launched {
  pid_t pid = -1;
  int fork_errno = 0;  ///< why there is no process
  int exec_errno = 0;  ///< why the process did not become the command; it has been waited for

  bool started() const { return fork_errno == 0 && exec_errno == 0; }
};

[[noreturn]] void BecomeOrReport(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                                 int report_descriptor) {
  for (const auto& [name, value] : changes) setenv(name.c_str(), value.c_str(), 1);
  const int error = Become(command);
  [[maybe_unused]] const ssize_t written = write(report_descriptor, &error, sizeof error);
  _exit(StatusOfExecError(error));
}

/// fork(2), not vfork(2): the kernel would count the parent's peak memory as the child's. `signals` are given back to
/// the child before it becomes the command. Returns once the command runs.
Launched Launch(const std::vector<std::string>& command, const EnvironmentChanges& changes,
                const SignalRelay& signals) {
  Launched launched;
  int report[2];  // closed by a successful exec, else it carries errno
  if (pipe2(report, O_CLOEXEC) != 0) {
    launched.fork_errno = errno;
    return launched;
  }
  launched.pid = fork();
  if (launched.pid == 0) {
    signals.Restore();
    BecomeOrReport(command, changes, report[1]);
  }
  if (launched.pid < 0) launched.fork_errno = errno;
  close(report[1]);
  ssize_t got = 0;
  do {
    got = read(report[0], &launched.exec_errno, sizeof launched.exec_errno);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof launched.exec_errno) launched.exec_errno = 0;
  close(report[0]);
  if (launched.exec_errno != 0) waitpid(launched.pid, nullptr, 0);
  return launched;
}

TreeRunFact Describe(const RunPlan& plan, const std::string& run_id, const Environment& environment,
                     const std::string& process, std::optional<int> affinity_cores) {
  TreeRunFact run;
  run.run_id = run_id;
  run.host = HostName();
  run.interval_seconds = plan.interval_seconds;
  const CgroupLimits cgroup = ReadCgroupLimits({}, process);
  const std::optional<AllocatedCores> cores = FindAllocatedCores(environment, cgroup, affinity_cores);
  if (cores.has_value()) {
    run.allocated_cores = cores->cores;
    run.allocated_cores_source = cores->source;
  }
  run.memory_limit_bytes = cgroup.memory_limit_bytes;
  run.net_host_wide = NetworkIsShared(process);
  SourceCommit commit = FindSourceCommit(environment, "/proc/" + process + "/cwd");
  run.commit = std::move(commit.id);
  run.commit_source = std::move(commit.source);
  return run;
}

namespace fs = std::filesystem;

/// `WithoutSecrets`, or nothing where CREMA_NO_ARGUMENTS=1 asks to leave the command line out.
std::vector<std::string> ShownCommand(const std::vector<std::string>& command) {
  const char* leave_out = secure_getenv("CREMA_NO_ARGUMENTS");
  if (leave_out != nullptr && std::string(leave_out) == "1") return {};
  return WithoutSecrets(command);
}

/// The identity of a command that will be started: `pid` and `start_ns` are the caller's to set. It gets what crema
/// itself was given.
TreeRunFact DescribeCommand(const RunPlan& plan, const std::string& run_id) {
  TreeRunFact run = Describe(
      plan, run_id, [](const char* name) { return std::getenv(name); }, "self", AffinityCores());
  run.name = plan.name.empty() ? fs::path(plan.command.front()).filename().string() : plan.name;
  run.command = ShownCommand(plan.command);
  return run;
}

/// The identity of a process that runs already. It began when the kernel says (a clock tick, 10 ms, fine), and was
/// given what its own environment, control groups and affinity mask say.
TreeRunFact DescribeWatched(const RunPlan& plan, const std::string& run_id, const WatchedProcess& process,
                            const AnchoredClock& clock) {
  const auto variable = [&process](const char* name) -> const char* {
    const auto found = process.environment.find(name);
    return found == process.environment.end() ? nullptr : found->second.c_str();
  };
  TreeRunFact run = Describe(plan, run_id, variable, std::to_string(process.pid), AffinityCores(process.pid));
  run.origin = TreeOrigin::kWatched;
  run.name = plan.name.empty() ? process.name : plan.name;
  run.command = ShownCommand(process.arguments);
  run.pid = process.pid;
  run.start_ns = clock.boot_ns() + process.start_ticks * TickNs();
  return run;
}

/// Where CREMA_DIR is set in crema's own environment, writes `$CREMA_DIR/<host>-<pid>.nested.json`: `schema`
/// (`crema.nested/1`), `run_id`, `name`, `command`, `host`, `pid`, `start_ns`, `directory`. A pointer that cannot be
/// written is no reason to fail: the outer run's records lack nothing but the hint.
void NotePointerInOuterRun(const TreeRunFact& run, const RunDirectory& directory) {
  const char* outer = secure_getenv("CREMA_DIR");
  if (outer == nullptr || *outer == '\0') return;
  const Json pointer = {
      {"schema", "crema.nested/1"}, {"run_id", run.run_id},
      {"name", run.name},           {"command", run.command.empty() ? Json() : Json(run.command)},
      {"host", run.host},           {"pid", run.pid},
      {"start_ns", run.start_ns},   {"directory", std::filesystem::path(directory.records()).parent_path().string()},
  };
  const std::string text = pointer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::string path = absl::StrCat(outer, "/", run.host, "-", run.pid, ".nested.json");
  const Descriptor descriptor(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (descriptor < 0) return;
  [[maybe_unused]] const ssize_t written = write(descriptor, text.data(), text.size());
}

constexpr int64_t kMillisecondNs = 1'000'000;
// Helpers that end with their parent (Python's resource tracker, a shell's pipeline) need a moment to do so: waiting
// for them makes their account exact, and they are not daemons.
constexpr int64_t kGraceNs = 100 * kMillisecondNs;

/// Whether it was copied: of a part of it, as on a full disk, nothing is left, as it would end the command.
bool CopyWhole(const fs::path& from, const fs::path& to) {
  std::error_code error, ignored;
  fs::copy_file(from, to, error);
  if (error) fs::remove(to, ignored);
  return !error;
}

// The library for the command to load, or an empty text: ld.so would complain, or end the command. Best is a copy
// beside the records: a process in a container that can write records finds it.
std::string LibraryToPreload(const RunPlan& plan, const fs::path& copy) {
  if (plan.allocations_library.empty()) return "";
  CopyWhole(plan.allocations_library, copy);
  const Descriptor program(allocations::OpenProgram(plan.command.front().c_str(), secure_getenv("PATH")));
  const bool takes_it = program >= 0 && allocations::TakesPreloads(program);
  for (const std::string& library : {copy.string(), plan.allocations_library}) {
    const bool has_separators = library.find_first_of(" :$") != std::string::npos;  // ld.so(8)
    if (takes_it && !has_separators && allocations::CanBeMapped(library.c_str())) return library;
  }
  return "";
}

// The library comes before what is loaded already: an allocator among that is then the one that it asks. The library of
// a run around this one is left out.
std::string FirstOfPreloaded(const std::string& library) {
  std::string all = library;
  const char* before = secure_getenv("LD_PRELOAD");
  const std::vector<std::string> others =
      absl::StrSplit(before == nullptr ? "" : before, absl::ByAnyChar(": "), absl::SkipEmpty());
  for (const std::string& other : others) {
    if (fs::path(other).filename() != kAllocationsLibraryName) all += ":" + other;
  }
  return all;
}

// The library for CUDA to load; empty where another profiler's is. As above, best is a copy.
std::string LibraryToInject(const RunPlan& plan, const fs::path& copy) {
  if (!plan.gpu) return "";
  const char* before = secure_getenv("CUDA_INJECTION64_PATH");
  if (before != nullptr && *before != '\0' && fs::path(before).filename() != kGpuLibraryName) {
    PrintError(fmt::format("CUDA_INJECTION64_PATH is {} already, so crema does not count what GPUs do", before));
    return "";
  }
  return CopyWhole(plan.gpu_library, copy) ? copy.string() : plan.gpu_library;
}

EnvironmentChanges RecordingOn(const RunPlan& plan, const RunDirectory& directory, const std::string& run_id,
                               const std::string& preloaded, const std::string& injected) {
  EnvironmentChanges changes = {
      {"CREMA_DIR", directory.records()},
      {"CREMA_RUN_ID", run_id},
      {"CREMA_INTERVAL", "0"},  // the tree is sampled from here: the process need not do it too
  };
  if (!plan.pass.empty()) changes.emplace_back("CREMA_PASS", plan.pass);
  if (plan.max_log_bytes > 0) changes.emplace_back("CREMA_MAX_LOG_BYTES", std::to_string(plan.max_log_bytes));
  if (plan.cores > 0) changes.emplace_back("CREMA_THREADS", std::to_string(plan.cores));
  if (plan.trace) changes.emplace_back("CREMA_TRACE", "1");
  if (plan.requests) changes.emplace_back("CREMA_REQUESTS", "1");
  changes.emplace_back("CREMA_WAITS", plan.waits);
  if (plan.stacks_hertz > 0) changes.emplace_back("CREMA_STACKS", fmt::format("{:g}", plan.stacks_hertz));
  if (plan.allocations) changes.emplace_back("CREMA_ALLOCATIONS", "1");
  if (plan.gpu) changes.emplace_back("CREMA_GPU", "1");
  if (!injected.empty()) changes.emplace_back("CUDA_INJECTION64_PATH", injected);
  if (!preloaded.empty()) changes.emplace_back("LD_PRELOAD", FirstOfPreloaded(preloaded));
  return changes;
}

void ReportNotStarted(const std::string& command, const Launched& launched) {
  if (launched.fork_errno != 0) {
    const bool is_of_files = launched.fork_errno == EMFILE || launched.fork_errno == ENFILE;
    PrintError(fmt::format("cannot start a process ({}); check the limit `ulimit -{}`", strerror(launched.fork_errno),
                           is_of_files ? 'n' : 'u'));
  } else {
    PrintError(DescribeExecError(command, launched.exec_errno));
  }
}

void ReportDropped(const TreeLogWriter& log) {
  if (log.dropped() == 0) return;
  PrintError(fmt::format("{}: {} lines could not be written; is the disk full?", log.path(), log.dropped()));
}

/// Samples at once, and then when it is due: the first times soon, so that a short command has some, each twice as far
/// from the one before as that was, up to the interval. Those that were missed, as crema was stopped or the machine
/// slept, are not made up for.
class TimedSampler {
 public:
  TimedSampler(double interval_seconds, const AnchoredClock& clock, TreeSampler* sampler)
      : clock_(clock),
        sampler_(sampler),
        interval_ns_(static_cast<int64_t>(interval_seconds * static_cast<double>(kSecondNs))) {
    sampler_->Sample();
    due_ns_ = clock_.UnixNs() + step_ns_;
  }
  /// How long it is until it is due; 0: it was, and has sampled.
  int64_t SampleIfDue() {
    const int64_t now_ns = clock_.UnixNs();
    if (now_ns < due_ns_) return due_ns_ - now_ns;
    sampler_->Sample();
    step_ns_ = std::min(interval_ns_, 2 * step_ns_);
    due_ns_ = std::max(due_ns_, now_ns - step_ns_ + 1) + step_ns_;
    return 0;
  }

 private:
  const AnchoredClock& clock_;
  TreeSampler* sampler_;
  int64_t interval_ns_;
  int64_t step_ns_ = std::min(interval_ns_, kSecondNs / 100);
  int64_t due_ns_ = 0;
};

// Samples and relays until the command has ended; gives its wait status.
int Follow(pid_t command, TimedSampler timed, SignalRelay* signals, TreeSampler* sampler) {
  for (;;) {
    const TreeSampler::Reaped reaped = sampler->ReapChildren(command);
    if (reaped.command_status.has_value()) return *reaped.command_status;
    const int64_t left_ns = timed.SampleIfDue();
    if (left_ns == 0) continue;
    const std::optional<siginfo_t> signal = signals->Wait(left_ns);
    if (signal.has_value()) signals->Relay(*signal, command);
  }
}

void WaitForStragglers(pid_t command, const AnchoredClock& clock, const SignalRelay& signals, TreeSampler* sampler) {
  const int64_t deadline_ns = clock.UnixNs() + kGraceNs;
  while (!sampler->ReapChildren(command).none_left) {
    const int64_t left_ns = deadline_ns - clock.UnixNs();
    if (left_ns <= 0) return;
    const std::optional<siginfo_t> signal = signals.Wait(left_ns);
    if (signal.has_value() && signal->si_signo != SIGCHLD) return;  // somebody is in a hurry
  }
}

// Where the kernel does not signal a process's end, crema asks this often.
constexpr int64_t kPollNs = 100 * kMillisecondNs;
constexpr int64_t kGraceStepNs = 10 * kMillisecondNs;

// Samples until the process ends (true) or somebody ends the watch (false).
bool Follow(const ProcessExit& exit, TimedSampler timed, SignalRelay* signals) {
  constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU, SIGPWR};
  for (;;) {
    if (exit.HasEnded()) return true;
    const int64_t left_ns = timed.SampleIfDue();
    if (left_ns == 0) continue;
    const int64_t wait_ns = exit.descriptor() >= 0 ? left_ns : std::min(left_ns, kPollNs);
    const std::optional<siginfo_t> signal = signals->WaitOr(exit.descriptor(), wait_ns);
    if (!signal.has_value()) continue;
    if (std::find(std::begin(kEnding), std::end(kEnding), signal->si_signo) != std::end(kEnding)) return false;
    if (signal->si_signo == SIGTSTP) signals->StopSelf();
  }
}

void WaitForStragglers(const AnchoredClock& clock, const SignalRelay& signals, TreeSampler* sampler) {
  const int64_t deadline_ns = clock.UnixNs() + kGraceNs;
  // At once: the account of the one that ended can be read until its parent waits for it.
  for (sampler->Sample(); sampler->AnyAlive() && clock.UnixNs() < deadline_ns; sampler->Sample()) {
    if (signals.Wait(kGraceStepNs).has_value()) return;  // somebody is in a hurry
  }
}

}  // namespace

int Become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  return errno;
}

std::string DescribeExecError(const std::string& command, int exec_errno) {
  // execve(2): the file is there, and what its first line names is not
  if (exec_errno == ENOENT && command.find('/') != std::string::npos && access(command.c_str(), F_OK) == 0) {
    return command + ": its interpreter is not there; check the path in its first line, and that lines end without CR";
  }
  if (exec_errno == ENOENT) return fmt::format("{}: not found; check the name and PATH", command);
  return fmt::format("{}: cannot be executed ({}); check its permissions and format", command, strerror(exec_errno));
}

int StatusOfExecError(int exec_errno) { return exec_errno == ENOENT ? kNotFound : kNotExecutable; }

std::vector<std::string> WithoutSecrets(const std::vector<std::string>& command) {
  std::vector<std::string> shown;
  internal::SecretFilter filter;
  for (const std::string& argument : command) {
    const internal::SecretFilter::Shown next = filter.Next(argument);
    shown.push_back(std::string(next.text) + (next.hides_value ? "***" : "") + std::string(next.rest));
  }
  return shown;
}

RunOutcome RunCommand(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals) {
  RunOutcome outcome;
  const std::string run_id = NewRunId();
  const AnchoredClock clock;
  TreeRunFact run = DescribeCommand(plan, run_id);
  absl::StatusOr<TreeLogWriter> log = TreeLogWriter::Create(directory->records(), run.host, getpid(), clock.UnixNs());
  if (!log.ok()) {
    ReportFailure(log.status());
    return outcome;
  }
  // Orphans of the tree become children of crema instead of init's: they stay in sight and in the account.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  TreeSampler sampler = TreeSampler::OfOwnCommand(clock, &*log);
  if (!TreeSampler::SeesProcesses()) {
    PrintError(
        "/proc belongs to another pid namespace, so crema does not sample the processes; mount one (unshare "
        "--mount-proc)");
  }

  run.start_ns = clock.UnixNs();
  const fs::path library_copy = fs::path(directory->records()) / kAllocationsLibraryName;
  const fs::path gpu_copy = fs::path(directory->records()) / kGpuLibraryName;
  const Launched launched = Launch(
      plan.command,
      RecordingOn(plan, *directory, run_id, LibraryToPreload(plan, library_copy), LibraryToInject(plan, gpu_copy)),
      *signals);
  if (!launched.started()) {
    ReportNotStarted(plan.command.front(), launched);
    if (launched.exec_errno != 0) outcome.exit_status = StatusOfExecError(launched.exec_errno);
    return outcome;
  }
  outcome.started = true;
  directory->Keep();
  run.pid = launched.pid;
  log->Write(run);
  NotePointerInOuterRun(run, *directory);

  const int status = Follow(launched.pid, {plan.interval_seconds, clock, &sampler}, signals, &sampler);
  const int64_t stop_ns = clock.UnixNs();
  WaitForStragglers(launched.pid, clock, *signals, &sampler);
  std::error_code error;
  fs::remove(library_copy, error);
  fs::remove(gpu_copy, error);
  outcome.exit_status = ShellStatus(status);
  sampler.End(stop_ns, outcome.exit_status);
  ReportDropped(*log);
  return outcome;
}

RunOutcome WatchProcess(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals) {
  RunOutcome outcome;
  const AnchoredClock clock;
  const ProcessExit exit(plan.pid);
  const std::optional<WatchedProcess> process = FindProcess(plan.pid);
  if (!process.has_value() || plan.pid == getpid()) {
    PrintError(fmt::format("{}: no such process can be watched; `ps -e` lists those that run", plan.pid));
    return outcome;
  }
  const TreeRunFact run = DescribeWatched(plan, NewRunId(), *process, clock);
  absl::StatusOr<TreeLogWriter> log = TreeLogWriter::Create(directory->records(), run.host, getpid(), clock.UnixNs());
  if (!log.ok()) {
    ReportFailure(log.status());
    return outcome;
  }
  outcome.started = true;
  outcome.exit_status = kExitDone;
  directory->Keep();
  log->Write(run);
  NotePointerInOuterRun(run, *directory);

  TreeSampler sampler = TreeSampler::OfProcess(plan.pid, clock, &*log);
  const bool has_ended = Follow(exit, {plan.interval_seconds, clock, &sampler}, signals);
  const int64_t stop_ns = clock.UnixNs();
  if (has_ended) WaitForStragglers(clock, *signals, &sampler);
  sampler.End(stop_ns, std::nullopt);
  ReportDropped(*log);
  return outcome;
}

}  // namespace crema
