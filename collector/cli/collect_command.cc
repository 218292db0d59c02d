// `crema collect`: makes a measurement of record logs.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "collector/cli/coffea_options.h"
#include "collector/cli/engine_sources.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/output_options.h"
#include "collector/cli/subcommand.h"
#include "collector/metrics/measurement.h"
#include "collector/writers/terminal.h"

namespace crema {
namespace {

struct CollectOptions {
  MeasureOptions measure;
  SaveOptions save;
  std::string directory;
  std::string start;
  std::string stop;
  bool no_records = false;
  bool json = false;
  OutputOptions output;
};

int64_t ParseTime(const std::string& option, const std::string& text) {
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && std::isfinite(seconds)) return std::llround(seconds * 1e9);
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return absl::ToUnixNanos(time);
  throw CLI::ValidationError(option, "`" + text + "` is no time: give Unix seconds or 2026-11-21T14:02:11Z");
}

int Collect(CollectOptions options) {
  if (!options.start.empty()) options.measure.start_ns = ParseTime("--start", options.start);
  if (!options.stop.empty()) options.measure.stop_ns = ParseTime("--stop", options.stop);
  RequireSource(options.measure);
  options.save.records = !options.no_records;
  absl::StatusOr<Measurement> measurement = MeasureAndJudge(options.measure, options.output.quiet);
  if (!measurement.ok()) return ReportFailure(measurement.status());
  std::string kept_as;
  options.save.kept_as = &kept_as;
  if (absl::Status saved = SaveMeasurement(*measurement, options.directory, options.save); !saved.ok()) {
    return ReportFailure(saved);
  }
  if (!kept_as.empty() && !options.output.quiet) PrintError("the older measurement is kept as " + kept_as);
  if (options.json) return PrintOut(measurement->document.dump(1) + "\n");
  if (options.output.quiet) return kDone;
  return PrintOut(RenderSummary(measurement->document, StyleFor(STDOUT_FILENO, options.output)));
}

}  // namespace

void AddCollectCommand(CLI::App* program, int* status) {
  CLI::App* collect = program->add_subcommand("collect", "Make a measurement of record logs");
  collect->footer(
      "Example:\n  crema collect job1/records job2/records -o both\n"
      "  crema collect job1 --coffea-report report.json -o ttbar\n"
      "  crema collect dask://localhost:8787 -o ttbar");
  auto options = std::make_shared<CollectOptions>();
  collect->add_option("SOURCE", options->measure.sources,
                      "Directories of record logs, measurements, roastcoffea measurements, " + EngineSourcesHelp());
  collect->add_option("-o,--output", options->directory, "Directory of the measurement")->required();
  collect->add_option("--start", options->start, "Start of the run: Unix seconds, or a time like 2026-11-21T14:02:11Z");
  collect->add_option("--stop", options->stop, "Its stop");
  collect->add_option("--run", options->measure.run, "Which run's records to take: an id, or all");
  collect->add_option("--name", options->measure.name, "Name of the run");
  collect
      ->add_option("--jobs", options->measure.jobs,
                   "Threads that read the records (default: the cores that crema may use); the result is the same")
      ->check(CLI::Range(1, 1024));
  AddCoffeaOptions(collect, &options->measure);
  collect->add_flag("--no-records", options->no_records, "Leave the records out of the measurement");
  collect->add_flag("--replace", options->save.replace,
                    "Throw an older measurement away (default: it is kept as DIR.<its start>)");
  collect->add_flag("--force", options->save.force, "Write into a directory that holds other files");
  collect->add_flag("--json", options->json, "Print the measurement as JSON instead of the summary");
  AddOutputOptions(collect, &options->output);
  collect->callback([options, status] { *status = Collect(*options); });
}

}  // namespace crema
