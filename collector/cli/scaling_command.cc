// `crema scaling`: runs on different numbers of cores, or what one run would take on others.
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/statusor.h"
#include "collector/charts/scaling_chart.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/output_options.h"
#include "collector/cli/plot_output.h"
#include "collector/cli/subcommand.h"
#include "collector/prediction/observed_run.h"
#include "collector/records/loose_json.h"
#include "collector/scaling/scaling_study.h"
#include "collector/writers/study_tables.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct ScalingOptions {
  std::vector<std::string> sources;
  std::string run;
  bool json = false;
  PlotOutput chart;
  OutputOptions output;
};

absl::StatusOr<ScalingStudy> Study(const std::vector<MeasuredSource>& sources) {
  if (sources.size() == 1) {
    RunObserver observer("");
    const absl::Status read =
        sources.front().ForEachAttempt([&observer](const Attempt& attempt) { observer.Add(attempt); });
    if (!read.ok()) return read;
    return PredictScaling(sources.front().measurement(), observer.Finish(sources.front().measurement()));
  }
  std::vector<const Measurement*> measurements;
  for (const MeasuredSource& source : sources) measurements.push_back(&source.measurement());
  return StudyScaling(measurements);
}

int PrintScaling(const ScalingOptions& options) {
  if (!options.chart.path.empty() && !options.chart.IsOneFile()) {
    throw CLI::ValidationError("--chart", "the file must end in .png, .svg, .pdf or .json");
  }
  std::vector<MeasuredSource> sources;
  for (const std::string& path : options.sources) {
    absl::StatusOr<MeasuredSource> source = MeasuredSource::Open(path, options.run, options.output.quiet);
    if (!source.ok()) return ReportFailure(source.status());
    sources.push_back(*std::move(source));
  }
  const absl::StatusOr<ScalingStudy> study = Study(sources);
  if (!study.ok()) return ReportFailure(study.status());
  const Json document = ScalingAsJson(*study);
  const int printed = PrintOut(options.json ? JsonText(document, 1) + "\n"
                                            : RenderScaling(document, StyleFor(STDOUT_FILENO, options.output)));
  if (printed != kDone || !study->refused.empty()) return kFailed;
  if (options.chart.path.empty()) return kDone;
  const absl::Status written = WriteCharts({MakeScalingChart(document)}, options.chart);
  return written.ok() ? kDone : ReportFailure(written);
}

}  // namespace

void AddScalingCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("scaling", "Compare runs on different numbers of cores");
  command->footer(
      "The runs are of one analysis, each on another number of cores: with the same input, or with input that grows\n"
      "with the cores. From four numbers of cores on, crema fits Amdahl's law and the Universal Scalability Law. If\n"
      "there is only one run, crema replays it on other numbers of cores, and calls the answer a prediction.\n\n"
      "Example:\n  crema scaling on_1 on_2 on_4 on_8 --chart scaling.svg\n  crema scaling on_4");
  auto options = std::make_shared<ScalingOptions>();
  options->chart.path.clear();
  command->add_option("SOURCE", options->sources, "Measurements, or directories of record logs")
      ->required()
      ->expected(1, 1 << 20);
  command->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  command->add_option("--chart", options->chart.path, "Also draw a chart: FILE.png, .svg, .pdf or .json")
      ->option_text("FILE");
  command->add_flag("--force", options->chart.force, "Let the chart replace a file that crema did not write");
  command->add_flag("--json", options->json, "Print JSON");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = PrintScaling(*options); });
}

}  // namespace crema
