// The options that add what Coffea says of the run to its records.
#ifndef CREMA_COLLECTOR_CLI_COFFEA_OPTIONS_H_
#define CREMA_COLLECTOR_CLI_COFFEA_OPTIONS_H_

#include "CLI/App.hpp"
#include "collector/metrics/measure.h"

namespace crema {

/// Adds --coffea-report and --metrics-by-dataset. `options` must outlive the parsing.
void AddCoffeaOptions(CLI::App* subcommand, MeasureOptions* options);

/// Throws a usage error where neither a SOURCE nor one of these options was given.
void RequireSource(const MeasureOptions& options);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_COFFEA_OPTIONS_H_
