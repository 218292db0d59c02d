#include "collector/cli/coffea_options.h"

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"

namespace crema {

void AddCoffeaOptions(CLI::App* subcommand, MeasureOptions* options) {
  subcommand
      ->add_option("--coffea-report", options->coffea_reports,
                   "What Runner(savemetrics=True) returned, as JSON. Give the option several times to add several up")
      ->take_all();
  subcommand
      ->add_option("--metrics-by-dataset", options->metrics_by_dataset,
                   "JSON: {dataset: {entries, duration, performance_counters: {num_requested_bytes}}}")
      ->take_all();
}

void RequireSource(const MeasureOptions& options) {
  if (options.sources.empty() && options.coffea_reports.empty() && options.metrics_by_dataset.empty()) {
    throw CLI::RequiredError("SOURCE");
  }
}

}  // namespace crema
