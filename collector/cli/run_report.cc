#include "collector/cli/run_report.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/measurement/measurement_json.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/writers/terminal.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int64_t kPollNs = 1'000'000'000;

absl::Status Collect(const RunPlan& plan, RunDirectory* directory) {
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
  const std::string text = plan.json ? JsonOf(measured->measurement).dump(1) + "\n"
                                     : RenderSummary(measured->measurement, StyleFor(STDERR_FILENO, plan.output));
  std::fputs(text.c_str(), stderr);
  if (plan.json) return absl::OkStatus();
  std::fputs(fmt::format("measurement: {}  (crema show {})\n", directory->path(), directory->path()).c_str(), stderr);
  if (!directory->kept_as().empty()) {
    std::fputs(fmt::format("the older one: {}\n", directory->kept_as()).c_str(), stderr);
  }
  const bool has_stacks = !measured->measurement.functions.empty();
  const std::string next =
      has_stacks ? NextStep(plan.output, fmt::format("crema show {} --table functions", directory->path()),
                            "the functions of each section; crema report draws them")
                 : NextStep(plan.output, "crema report " + directory->path(), "one page, for any browser");
  std::fputs(next.c_str(), stderr);
  return absl::OkStatus();
}

int CollectGuarded(const RunPlan& plan, RunDirectory* directory) {
  try {
    const absl::Status status = Collect(plan, directory);
    if (status.ok()) return kDone;
    PrintError(fmt::format("no measurement was made: {}; the records are in {}", std::string(status.message()),
                           directory->records()));
  } catch (const std::exception& error) {
    PrintError(fmt::format("no measurement was made: {}; the records are in {}", error.what(), directory->records()));
  }
  return kFailed;
}

}  // namespace

void CollectAndPrint(const RunPlan& plan, RunDirectory* directory, SignalRelay* signals) {
  const pid_t collector = fork();
  if (collector == 0) {
    signals->RestoreInChild();
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
    const std::optional<siginfo_t> signal = signals->Wait(kPollNs);
    if (signal.has_value()) signals->Relay(*signal, collector);
  }
  if (WIFSIGNALED(status)) {
    PrintError(fmt::format("no measurement was made: collecting was ended by signal {}; try `crema collect {} -o DIR`",
                           WTERMSIG(status), directory->records()));
  }
}

}  // namespace crema
