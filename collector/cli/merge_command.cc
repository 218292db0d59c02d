// `crema merge`: one measurement of several.
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/output_options.h"
#include "collector/cli/saved_measurement.h"
#include "collector/cli/subcommand.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"

namespace crema {
namespace {

struct MergeOptions {
  MeasureOptions measure;
  SaveOptions save;
  std::string directory;
  bool json = false;
  OutputOptions output;
};

// Quantiles, tails and the budget cannot be merged from documents: the records are read again.
int Merge(MergeOptions options) {
  for (const std::string& source : options.measure.sources) {
    if (!IsMeasurement(source)) continue;
    // another major schema is refused before its records are taken for granted
    if (const absl::StatusOr<MeasuredRun> loaded = LoadMeasurement(source); !loaded.ok()) {
      return ReportFailure(loaded.status());
    }
  }
  options.measure.run = "all";
  const absl::StatusOr<MeasuredRun> merged = MeasureAndJudge(options.measure, options.output.quiet);
  if (!merged.ok()) return ReportFailure(merged.status());
  return SaveAndShow(*merged, options.directory, options.save, options.output, options.json);
}

}  // namespace

void AddMergeCommand(CLI::App* program, int* status) {
  CLI::App* merge = program->add_subcommand("merge", "Make one measurement from several, from their records");
  merge->footer("Example:\n  crema merge job1 job2 job3 -o all-jobs");
  auto options = std::make_shared<MergeOptions>();
  merge
      ->add_option("SOURCE", options->measure.sources,
                   "Measurements that have their records, or directories of record logs")
      ->required()
      ->expected(1, 1 << 20);
  merge->add_option("-o,--output", options->directory, "Directory of the measurement")->required();
  merge->add_option("--name", options->measure.name, "Name of the merged run");
  merge->add_flag("--replace", options->save.replace,
                  "Delete an older measurement (default: it is kept as DIR.<its start>)");
  merge->add_flag("--force", options->save.force, "Write into a directory that holds other files");
  merge->add_flag("--json", options->json, "Print the measurement as JSON instead of the summary");
  AddOutputOptions(merge, &options->output);
  merge->callback([options, status] { *status = Merge(*options); });
}

}  // namespace crema
