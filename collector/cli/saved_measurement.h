// The end of the commands that make a measurement: it is saved, and shown.
#ifndef CREMA_COLLECTOR_CLI_SAVED_MEASUREMENT_H_
#define CREMA_COLLECTOR_CLI_SAVED_MEASUREMENT_H_

#include <string>

#include "collector/cli/output_options.h"
#include "collector/metrics/measurement_directory.h"

namespace crema {

/// Writes it into `directory`, and prints its summary, or its document as JSON. Ctrl-C ends the writing between two
/// logs: the older measurement is still there then, and no temporary file is. Returns the status of the command.
int SaveAndShow(const MeasuredRun& measured, const std::string& directory, SaveOptions save,
                const OutputOptions& output, bool json);

}  // namespace crema

#endif  // CREMA_COLLECTOR_CLI_SAVED_MEASUREMENT_H_
