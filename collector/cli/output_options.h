// The options that several subcommands have: how the output looks, what Coffea says of the run.
#ifndef CREMA_COLLECTOR_CLI_OUTPUT_OPTIONS_H_
#define CREMA_COLLECTOR_CLI_OUTPUT_OPTIONS_H_

#include <limits>
#include <string>

#include "CLI/App.hpp"
#include "collector/metrics/measure.h"
#include "collector/writers/display_text.h"

namespace crema {

struct OutputOptions {
  bool quiet = false;
  bool ascii = false;
  std::string color = "auto";
};

/// Adds -q/--quiet, --color and --ascii. `options` must outlive the parsing.
void AddOutputOptions(CLI::App* subcommand, OutputOptions* options);

/// What the options mean for the file that is written to (1 stdout, 2 stderr): colour on a terminal unless NO_COLOR is
/// set (https://no-color.org) or TERM is `dumb`; ASCII where the locale is not UTF-8; the terminal's width, else
/// COLUMNS, else 100.
TerminalStyle StyleFor(int descriptor, const OutputOptions& options);

/// The line behind an answer that names the command to take next, and what it shows; empty with --quiet. What has no
/// room in `width` columns is left out: what the command shows, then the whole line.
std::string NextStep(const OutputOptions& options, const std::string& command, const std::string& shows,
                     int width = std::numeric_limits<int>::max());

/// Adds --coffea-report and --metrics-by-dataset. `options` must outlive the parsing.
void AddCoffeaOptions(CLI::App* subcommand, MeasureOptions* options);

/// Throws a usage error where neither a SOURCE nor one of these options was given.
void RequireSource(const MeasureOptions& options);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_OUTPUT_OPTIONS_H_
