// Results as files and text.
#ifndef CREMA_EXAMPLES_ZJETS_RESULTS_OUTPUT_H_
#define CREMA_EXAMPLES_ZJETS_RESULTS_OUTPUT_H_

#include <string>

#include "examples/zjets/options.h"
#include "examples/zjets/plan.h"
#include "examples/zjets/worker.h"

namespace zjets {

/// The cut flow and the histograms as JSON (`zjets.histograms/1`). It has the settings that change the physics, but not
/// how the work was divided, so that files can be compared byte by byte.
std::string ResultsAsJson(const Options& options, const Plan& plan, const WorkerReport& report);

/// The cut flow as a table for people.
std::string CutFlowTable(const Options& options, const Plan& plan, const WorkerReport& report);

/// Writes all of `text`, or throws std::runtime_error with the path and the reason.
void WriteFile(const std::string& path, const std::string& text);

}  // namespace zjets

#endif  // CREMA_EXAMPLES_ZJETS_RESULTS_OUTPUT_H_
