// What the subcommands have in common: exit statuses, messages on stderr, and options; the function that adds each.
#pragma once

#include <unistd.h>

#include <exception>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "CLI/Validators.hpp"
#include "collector/metrics/measure.h"
#include "collector/terminal/terminal_box.h"
#include "fmt/format.h"

namespace crema {

/// docs/commands.md, "Exit status"; `crema run` ends as its command did instead.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitWrongUsage = 2;
inline constexpr int kExitGateFell = 3;

/// Prints `crema: <message>` to stderr, newlines turned into blanks, and returns `kExitFailed`.
int ReportFailure(const absl::Status& status);

/// Prints what was asked for to stdout. Returns `kExitDone`, or what `ReportFailure` does where it did not arrive
/// whole.
int PrintOut(const std::string& text);

/// The same for a command that may end with `kExitGateFell`, which a reader that has seen enough must not hide.
int PrintBesideGate(const std::string& text);

/// As `ReportFailure`, for a message; it says what, where and what to do.
void PrintError(const std::string& message);

/// What ends a command where nothing else is to be done: `crema: <message>`, and the status `kExitFailed`.
struct Failure : std::exception {
  explicit Failure(const absl::Status& status) : message(status.message()) {}
  std::string message;
};

/// The value. Throws a `Failure` where there is none.
inline void OrFail(const absl::Status& status) {
  if (!status.ok()) throw Failure(status);
}
template <class Value>
Value OrFail(absl::StatusOr<Value> value) {
  OrFail(value.status());
  return *std::move(value);
}

inline constexpr double kAnyNumber = 1e300;

/// Accepts numbers from `least` to `most`. CLI::Range accepts NaN, too.
CLI::Validator FiniteNumber(double least, double most, bool is_whole = false);

inline constexpr int kAnyCount = 1000000000;

inline CLI::Validator WholeNumber(int least, int most) { return FiniteNumber(least, most, /*is_whole=*/true); }

/// The value that an option takes, as people read it: `TEXT`, `N, 1 to 8`, `auto|always|never`; empty for a flag.
std::string KindOfValue(const CLI::Option& option);

/// Help without the words of the parser: which options exclude each other is said where somebody combines them.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// Each adds one subcommand to the program; when it is given, it runs while the command line is parsed and leaves its
/// exit status in `status`.
void AddRunCommand(CLI::App* program, const std::vector<std::string>& command, int* status);
void AddCollectCommand(CLI::App* program, int* status);
void AddShowCommand(CLI::App* program, int* status);
void AddVerdictCommand(CLI::App* program, int* status);
void AddPredictCommand(CLI::App* program, int* status);
void AddScalingCommand(CLI::App* program, int* status);
void AddHistoryCommand(CLI::App* program, int* status);
void AddReportCommand(CLI::App* program, int* status);
void AddExportCommand(CLI::App* program, int* status);
void AddPlotCommand(CLI::App* program, int* status);
void AddMergeCommand(CLI::App* program, int* status);
void AddCompareCommand(CLI::App* program, int* status);
void AddServeCommand(CLI::App* program, int* status);
void AddTopCommand(CLI::App* program, int* status);
void AddDoctorCommand(CLI::App* program, int* status);
void AddConfigCommand(CLI::App* program, int* status);

struct OutputOptions {
  bool json = false;  ///< of commands that have it
  int width = 0;      ///< of commands that have it; 0: that of the file that is written to
  bool quiet = false;
  bool is_list = false;  ///< a table or a list on stdout may go to another program: a next step is for terminals only
  bool ascii = false;
  std::string color = "auto";
};

/// Adds -q/--quiet, --color and --ascii. `options` must outlive the parsing.
void AddOutputOptions(CLI::App* subcommand, OutputOptions* options);

/// What the options mean for the file that is written to (1 stdout, 2 stderr): colour on a terminal unless NO_COLOR is
/// set (https://no-color.org) or TERM is `dumb`; ASCII where the locale is not UTF-8; the width that is asked for, else
/// the terminal's, else COLUMNS, else 100. `source` outlives it.
TerminalStyle StyleFor(int descriptor, const OutputOptions& options, std::string_view source = {});

/// The line behind an answer that names the command to take next, and what it shows; empty with --quiet. On
/// stdout, what has no room in its width is left out: what the command shows, then the whole line.
std::string NextStep(const OutputOptions& options, const std::string& command, const std::string& shows = "",
                     int descriptor = STDOUT_FILENO);
/// A word as shells take it: in single quotes where they would read more into it.
std::string ShellWord(const std::string& word);
/// The command of a run again, with `options` of `crema run`. It is `COMMAND` where the run knows none, hides a part of
/// it, or has a longer one than the line has room for.
std::string NextRun(const OutputOptions& options, const Measurement& measurement, const std::string& run_options,
                    const std::string& shows, int descriptor = STDOUT_FILENO);
/// `crema report`; empty where the source has no name.
std::string NextReport(const OutputOptions& options, const std::string& source, int descriptor = STDOUT_FILENO);

struct Chart;

/// Where charts go: one file, a file for each by a pattern, or a directory of them.
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
void CheckChart(const PlotOutput& output, const char* option = "--chart");

/// Writes the charts that have a specification. Where no renderer is found the specifications are written instead,
/// and the error says so and how to get pictures. Errors: something is there that crema did not write (then nothing is
/// written at all, unless `force`); what the disk or the renderer says.
absl::Status WriteCharts(const std::vector<Chart>& charts, const PlotOutput& output);

}  // namespace crema
