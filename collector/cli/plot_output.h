// Where charts go: one file, a file for each by a pattern, or a directory of them.
#ifndef CREMA_COLLECTOR_CLI_PLOT_OUTPUT_H_
#define CREMA_COLLECTOR_CLI_PLOT_OUTPUT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "collector/charts/chart.h"

namespace crema {

struct PlotOutput {
  std::string path = "crema-plots";  ///< a file by its extension, a pattern with `{name}`, else a directory
  std::vector<std::string> formats;  ///< into a directory; empty: png
  std::string python;                ///< of the renderer; empty: it is looked for
  bool force = false;

  bool IsOneFile() const;
};

/// Writes the charts that have a specification. Where no renderer is found the specifications are written instead,
/// and the error says so and how to get pictures. Errors: something is there that crema did not write (then nothing is
/// written at all, unless `force`); what the disk or the renderer says.
absl::Status WriteCharts(const std::vector<Chart>& charts, const PlotOutput& output);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_PLOT_OUTPUT_H_
