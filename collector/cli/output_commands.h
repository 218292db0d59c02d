// Writes charts as one file, a file for each by a pattern, or into a directory; the option --chart of other commands.
#pragma once

#include "CLI/App.hpp"
#include "absl/status/status.h"
#include "collector/charts/chart.h"

namespace crema {

struct PlotOutput {
  std::string path = "crema-plots";            ///< a file by its extension, a pattern with `{name}`, else a directory
  std::vector<std::string> formats = {"png"};  ///< into a directory
  std::string python;                          ///< of the renderer; empty: it is looked for
  bool force = false;

  bool IsOneFile() const;
};

/// Adds --chart, as `help` says it, and --force, for a command that draws one chart on request. `output` must outlive
/// the parsing.
void AddChartOptions(CLI::App* subcommand, const char* help, PlotOutput* output);
/// Throws a usage error where a chart is asked for, but not as one file.
void CheckChart(const PlotOutput& output);

/// Writes the charts that have a specification. Where no renderer is found the specifications are written instead,
/// and the error says so and how to get pictures. Errors: something is there that crema did not write (then nothing is
/// written at all, unless `force`); what the disk or the renderer says.
absl::Status WriteCharts(const std::vector<Chart>& charts, const PlotOutput& output);

}  // namespace crema
