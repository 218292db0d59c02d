// `crema collect` and `crema merge`: make a measurement of record logs, or one of several measurements.

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/sources/record_log.h"
#include "sdk/src/log/secret_filter.h"

namespace crema {
namespace {

struct CollectOptions : SavedOptions {
  std::string start;
  std::string stop;
  bool no_records = false;
};

constexpr double kLatestSecond = 4102444800;  // the year 2100: milliseconds and nanoseconds are beyond it

int64_t ParseTime(const std::string& option, const std::string& text) {
  double seconds = 0;
  absl::Time time;
  std::string error;
  if (absl::SimpleAtod(text, &seconds)) {
    if (seconds >= 0 && seconds <= kLatestSecond) return std::llround(seconds * 1e9);
    throw CLI::ValidationError(option,
                               "`" + text + "` are no Unix seconds of this century; give seconds, not ms or ns");
  }
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return absl::ToUnixNanos(time);
  throw CLI::ValidationError(option,
                             "`" + text + "` is not a time: give Unix seconds, or a time like 2026-11-21T14:02:11Z");
}

int Collect(CollectOptions options) {
  if (!options.start.empty()) options.measure.start_ns = ParseTime("--start", options.start);
  if (!options.stop.empty()) options.measure.stop_ns = ParseTime("--stop", options.stop);
  if (!options.start.empty() && !options.stop.empty() && *options.measure.stop_ns < *options.measure.start_ns) {
    throw CLI::ValidationError("--stop", "it is before --start");
  }
  RequireSource(options.measure);
  std::string& failure = options.measure.failure;
  failure.resize(internal::TakeSecretsOutOfText(failure.data(), failure.size()));
  options.save.records = !options.no_records;
  options.measure.takes_streams = true;
  const MeasuredRun measured = OrFail(MeasureAndJudge(options.measure, options.output.quiet));
  for (const std::string& source : options.measure.sources) {
    if (!IsStream(source) || options.no_records || options.output.quiet) continue;
    PrintError(source + ": crema does not keep the records of a stream (--no-records hides this message)");
  }
  return SaveAndShow(measured, options);
}

// Quantiles, tails and the budget cannot be merged from documents: the records are read again.
int Merge(SavedOptions options) {
  for (const std::string& source : options.measure.sources) {
    if (!IsMeasurement(source)) continue;
    // another major schema is refused before its records are taken for granted
    OrFail(LoadMeasurement(source));
  }
  options.measure.run = "all";
  return SaveAndShow(OrFail(MeasureAndJudge(options.measure, options.output.quiet)), options);
}

}  // namespace

void AddCollectCommand(CLI::App* program, int* status) {
  CLI::App* collect = program->add_subcommand("collect", "Make a measurement from record logs");
  collect->footer(
      "Example:\n  crema collect job1/records job2/records -o both\n"
      "  crema collect job1 --coffea-report report.json -o ttbar\n"
      "  cat job*/records/*.jsonl | crema collect - --no-records -o all_jobs\n"
      "  crema collect dask://localhost:8787 -o ttbar");
  auto options = std::make_shared<CollectOptions>();
  collect->add_option(
      "SOURCE", options->measure.sources,
      "Directories of record logs, measurements, roastcoffea measurements, - or a named pipe for record "
      "logs one after another, " +
          EngineSourcesHelp());
  collect->add_option("-o,--output", options->directory, "Directory of the measurement")->required();
  collect->add_option("--start", options->start, "Start of the run: Unix seconds, or a time like 2026-11-21T14:02:11Z");
  collect->add_option("--stop", options->stop, "Stop of the run, in the same form");
  collect->add_option("--run", options->measure.run, "The run whose records are taken: its id, or all");
  collect->add_option("--name", options->measure.name, "Name of the run");
  collect->add_option("--failure", options->measure.failure, "The exception that ended the program: the run failed")
      ->option_text("TEXT");
  collect->add_option("--exit-status", options->measure.exit_status, "Exit status of the program")->option_text("N");
  collect
      ->add_option("--jobs", options->measure.jobs,
                   "Threads (default: one for each core that crema may use); the result is the same for any number")
      ->check(WholeNumber(1, 1024));
  collect
      ->add_option("--memory", options->measure.memory_bytes,
                   "Memory that is enough, like 2G: what the chunks take beyond half of it goes into files (default: a "
                   "quarter of the machine's, or of a control group's limit); the result is the same for any")
      ->transform(CLI::AsSizeValue(false))
      ->check(FiniteNumber(1, kAnyNumber))
      ->option_text("SIZE");
  collect->add_option("--spill", options->measure.spill, "Directory for these files (default: TMPDIR)")
      ->option_text("DIR");
  AddCoffeaOptions(collect, &options->measure);
  collect->add_flag("--no-records", options->no_records, "Do not keep the records in the measurement");
  AddSavedOptions(collect, options.get());
  collect->callback([options, status] { *status = Collect(*options); });
}

void AddMergeCommand(CLI::App* program, int* status) {
  CLI::App* merge = program->add_subcommand("merge", "Make one measurement from several, from their records");
  merge->footer("Example:\n  crema merge job1 job2 job3 -o all-jobs");
  auto options = std::make_shared<SavedOptions>();
  merge
      ->add_option("SOURCE", options->measure.sources,
                   "Measurements that have their records, or directories of record logs")
      ->required()
      ->expected(1, 1 << 20);
  merge->add_option("-o,--output", options->directory, "Directory of the measurement")->required();
  merge->add_option("--name", options->measure.name, "Name of the merged run");
  AddSavedOptions(merge, options.get());
  merge->callback([options, status] { *status = Merge(*options); });
}

}  // namespace crema
