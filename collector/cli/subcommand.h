// What the subcommands have in common: exit statuses, and the one line in which a person hears of a failure.
#ifndef CREMA_COLLECTOR_CLI_SUBCOMMAND_H_
#define CREMA_COLLECTOR_CLI_SUBCOMMAND_H_

#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Validators.hpp"
#include "absl/status/status.h"

namespace crema {

/// docs/commands.md, "Exit status"; `crema run` ends as its command did instead.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kGateFell = 3;

/// Prints `crema: <message>` to stderr, newlines turned into blanks, and returns `kFailed`.
int ReportFailure(const absl::Status& status);

/// Prints what was asked for to stdout. Returns `kDone`, or what `ReportFailure` does where it did not arrive whole.
int PrintOut(const std::string& text);

/// The same for a command that may end with `kGateFell`, which a reader that has seen enough must not hide.
int PrintBesideGate(const std::string& text);

/// As `ReportFailure`, for a message; it says what, where and what to do.
void PrintError(const std::string& message);

inline constexpr double kAnyNumber = 1e300;

/// Accepts numbers from `least` to `most`. CLI::Range accepts NaN, too.
CLI::Validator FiniteNumber(double least, double most);

inline constexpr int kAnyCount = 1000000000;

/// Accepts whole numbers from `least` to `most`.
CLI::Validator WholeNumber(int least, int most);

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

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SUBCOMMAND_H_
