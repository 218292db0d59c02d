#include "collector/cli/run_watch.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "collector/cli/nested_run.h"
#include "collector/cli/run_description.h"
#include "collector/cli/run_identity.h"
#include "collector/cli/subcommand.h"
#include "collector/sources/process_tree/anchored_clock.h"
#include "collector/sources/process_tree/process_exit.h"
#include "collector/sources/process_tree/tree_log_writer.h"
#include "collector/sources/process_tree/tree_sampler.h"
#include "collector/sources/process_tree/watched_process.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;
// Where the kernel does not tell of a process's end it is asked this often.
constexpr int64_t kPollNs = 100 * kMillisecondNs;
// Helpers that end with their parent need a moment to do so; they are no daemons.
constexpr int64_t kGraceNs = 100 * kMillisecondNs;
constexpr int64_t kGraceStepNs = 10 * kMillisecondNs;

bool EndsWatch(int signal) {
  constexpr int kEnding[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU, SIGPWR};
  return std::find(std::begin(kEnding), std::end(kEnding), signal) != std::end(kEnding);
}

// Samples until the process ends (true) or somebody ends the watch (false).
bool Follow(const ProcessExit& exit, int64_t interval_ns, const AnchoredClock& clock, SignalRelay* signals,
            TreeSampler* sampler) {
  sampler->Sample();
  int64_t next_ns = clock.UnixNs() + interval_ns;
  for (;;) {
    if (exit.HasEnded()) return true;
    const int64_t now_ns = clock.UnixNs();
    if (now_ns >= next_ns) {
      sampler->Sample();
      next_ns += interval_ns;
      if (next_ns <= now_ns) next_ns = now_ns + interval_ns;  // crema was stopped, or the machine slept
      continue;
    }
    const int64_t wait_ns = exit.descriptor() >= 0 ? next_ns - now_ns : std::min(next_ns - now_ns, kPollNs);
    const std::optional<siginfo_t> signal = signals->WaitOr(exit.descriptor(), wait_ns);
    if (!signal.has_value()) continue;
    if (EndsWatch(signal->si_signo)) return false;
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

RunOutcome WatchProcess(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals) {
  RunOutcome outcome;
  const AnchoredClock clock;
  const ProcessExit exit(plan.pid);
  const std::optional<WatchedProcess> process = FindProcess(plan.pid);
  if (!process.has_value() || plan.pid == getpid()) {
    PrintError(fmt::format("{}: no such process can be watched; `ps -e` lists those that run", plan.pid));
    directory->Undo();
    return outcome;
  }
  const TreeRunFact run = DescribeWatched(plan, NewRunId(), *process, clock);
  absl::StatusOr<TreeLogWriter> log = TreeLogWriter::Create(directory->records(), run.host, getpid(), clock.UnixNs());
  if (!log.ok()) {
    ReportFailure(log.status());
    directory->Undo();
    return outcome;
  }
  outcome.started = true;
  outcome.exit_status = kDone;
  directory->Keep();
  log->Write(run);
  NotePointerInOuterRun(run, *directory);

  TreeSampler sampler = TreeSampler::OfProcess(plan.pid, clock, &*log);
  const auto interval_ns = static_cast<int64_t>(plan.interval_seconds * static_cast<double>(kSecondNs));
  const bool has_ended = Follow(exit, interval_ns, clock, signals, &sampler);
  const int64_t stop_ns = clock.UnixNs();
  if (has_ended) WaitForStragglers(clock, *signals, &sampler);
  sampler.End(stop_ns, std::nullopt);
  if (log->dropped() > 0) {
    PrintError(fmt::format("{}: {} lines could not be written; is the disk full?", log->path(), log->dropped()));
  }
  return outcome;
}

}  // namespace crema
