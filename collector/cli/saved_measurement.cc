#include "collector/cli/saved_measurement.h"

#include <unistd.h>

#include <csignal>

#include "absl/status/status.h"
#include "collector/cli/subcommand.h"
#include "collector/measurement/measurement_json.h"
#include "collector/records/loose_json.h"
#include "collector/writers/terminal.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

// Signals that wait until something on disk is whole.

/// While it lives, SIGINT, SIGTERM and SIGHUP wait (sigprocmask(2)). Its destructor lets them do what they do: as a
/// rule they end the process. For the only thread of a process.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Whether one of them came, that the process does not ignore.
  bool pending() const;

 private:
  sigset_t before_;
};

constexpr int kHeld[] = {SIGINT, SIGTERM, SIGHUP};

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

}  // namespace

int SaveAndShow(const MeasuredRun& measured, const std::string& directory, SaveOptions save,
                const OutputOptions& output, bool json) {
  std::string kept_as;
  save.kept_as = &kept_as;
  {
    const HeldSignals held;
    save.is_cancelled = [&held] { return held.pending(); };
    if (absl::Status saved = SaveMeasurement(measured, directory, save); !saved.ok()) return ReportFailure(saved);
  }
  if (!kept_as.empty() && !output.quiet) PrintError("the older measurement is kept as " + kept_as);
  if (json) return PrintOut(JsonText(JsonOf(measured.measurement), 1) + "\n");
  if (output.quiet) return kDone;
  const TerminalStyle style = StyleFor(STDOUT_FILENO, output);
  return PrintOut(RenderSummary(measured.measurement, style) +
                  NextStep(output, "crema report " + directory, "one page, for any browser", style.width));
}

}  // namespace crema
