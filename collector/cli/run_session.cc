#include "collector/cli/run_session.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "collector/cli/launch.h"
#include "collector/cli/nested_run.h"
#include "collector/cli/run_description.h"
#include "collector/cli/run_identity.h"
#include "collector/cli/subcommand.h"
#include "collector/output/output_directory.h"
#include "collector/sources/process_tree/anchored_clock.h"
#include "collector/sources/process_tree/tree_log_writer.h"
#include "collector/sources/process_tree/tree_sampler.h"
#include "collector/sources/process_tree/wait_status.h"
#include "fmt/format.h"
#include "sdk/allocations/loadable.h"

namespace crema {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;
// Helpers that end with their parent (Python's resource tracker, a shell's pipeline) need a moment to do so: waiting
// for them makes their account exact, and they are no daemons.
constexpr int64_t kGraceNs = 100 * kMillisecondNs;

// The library for the command to load, or an empty text: ld.so would complain, or end the command. Best is a copy
// beside the records: a process in a container that can write records finds it.
std::string LibraryToPreload(const RunPlan& plan, const fs::path& copy) {
  if (plan.allocations_library.empty()) return "";
  std::error_code error;
  fs::copy_file(plan.allocations_library, copy, error);
  std::error_code ignored;
  if (error) fs::remove(copy, ignored);  // a part of it, on a full disk, would end the command
  const int program = allocations::OpenProgram(plan.command.front().c_str(), secure_getenv("PATH"));
  const bool takes_it = program >= 0 && allocations::TakesPreloads(program);
  if (program >= 0) close(program);
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
    PrintError(fmt::format("CUDA_INJECTION64_PATH is {} already: what GPUs do is not counted", before));
    return "";
  }
  std::error_code error;
  fs::copy_file(plan.gpu_library, copy, error);
  std::error_code ignored;
  if (error) fs::remove(copy, ignored);
  return error ? plan.gpu_library : copy.string();
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

// Samples and relays until the command has ended; gives its wait status.
int Follow(pid_t command, int64_t interval_ns, const AnchoredClock& clock, SignalRelay* signals, TreeSampler* sampler) {
  sampler->Sample();
  int64_t next_ns = clock.UnixNs() + interval_ns;
  for (;;) {
    const TreeSampler::Reaped reaped = sampler->ReapChildren(command);
    if (reaped.command_status.has_value()) return *reaped.command_status;
    const int64_t now_ns = clock.UnixNs();
    if (now_ns >= next_ns) {
      sampler->Sample();
      next_ns += interval_ns;
      if (next_ns <= now_ns) next_ns = now_ns + interval_ns;  // crema was stopped, or the machine slept
      continue;
    }
    const std::optional<siginfo_t> signal = signals->Wait(next_ns - now_ns);
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

}  // namespace

RunOutcome RunCommand(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals) {
  RunOutcome outcome;
  const std::string run_id = NewRunId();
  const AnchoredClock clock;
  TreeRunFact run = DescribeCommand(plan, run_id);
  absl::StatusOr<TreeLogWriter> log = TreeLogWriter::Create(directory->records(), run.host, getpid(), clock.UnixNs());
  if (!log.ok()) {
    ReportFailure(log.status());
    directory->Undo();
    return outcome;
  }
  // Orphans of the tree become children of crema instead of init's: they stay in sight and in the account.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  TreeSampler sampler = TreeSampler::OfOwnCommand(clock, &*log);
  if (!TreeSampler::SeesProcesses()) {
    PrintError("/proc is another pid namespace's: the processes are not sampled; mount one (unshare --mount-proc)");
  }

  run.start_ns = clock.UnixNs();
  const fs::path library_copy = fs::path(directory->records()) / kAllocationsLibraryName;
  const fs::path gpu_copy = fs::path(directory->records()) / kGpuLibraryName;
  const Launched launched = Launch(
      plan.command,
      RecordingOn(plan, *directory, run_id, LibraryToPreload(plan, library_copy), LibraryToInject(plan, gpu_copy)),
      [signals] { signals->RestoreInChild(); });
  if (!launched.started()) {
    ReportNotStarted(plan.command.front(), launched);
    if (launched.exec_errno != 0) outcome.exit_status = StatusOfExecError(launched.exec_errno);
    directory->Undo();
    return outcome;
  }
  outcome.started = true;
  directory->Keep();
  run.pid = launched.pid;
  log->Write(run);
  NotePointerInOuterRun(run, *directory);

  const auto interval_ns = static_cast<int64_t>(plan.interval_seconds * static_cast<double>(kSecondNs));
  const int status = Follow(launched.pid, interval_ns, clock, signals, &sampler);
  const int64_t stop_ns = clock.UnixNs();
  WaitForStragglers(launched.pid, clock, *signals, &sampler);
  std::error_code error;
  fs::remove(library_copy, error);
  fs::remove(gpu_copy, error);
  outcome.exit_status = ShellStatus(status);
  sampler.End(stop_ns, outcome.exit_status);
  if (log->dropped() > 0) {
    PrintError(fmt::format("{}: {} lines could not be written; is the disk full?", log->path(), log->dropped()));
  }
  return outcome;
}

}  // namespace crema
