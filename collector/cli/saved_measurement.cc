#include "collector/cli/saved_measurement.h"

#include <unistd.h>

#include "absl/status/status.h"
#include "collector/cli/subcommand.h"
#include "collector/measurement/measurement_json.h"
#include "collector/output/held_signals.h"
#include "collector/writers/terminal.h"
#include "nlohmann/json.hpp"

namespace crema {

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
  if (json) return PrintOut(JsonOf(measured.measurement).dump(1) + "\n");
  if (output.quiet) return kDone;
  const TerminalStyle style = StyleFor(STDOUT_FILENO, output);
  return PrintOut(RenderSummary(measured.measurement, style) +
                  NextStep(output, "crema report " + directory, "one page, for any browser", style.width));
}

}  // namespace crema
