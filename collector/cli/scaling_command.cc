// `crema scaling`: runs on different numbers of cores, or what one run would take on others.
#include <unistd.h>

#include "collector/charts/study_charts.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/plot_output.h"
#include "collector/cli/subcommand.h"
#include "collector/prediction/observed_run.h"
#include "collector/records/loose_json.h"
#include "collector/scaling/scaling_study.h"
#include "collector/writers/terminal.h"

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

ScalingStudy Study(const std::vector<MeasuredSource>& sources) {
  if (sources.size() > 1) return StudyScaling(MeasurementsOf(sources));
  const MeasuredSource& source = sources.front();
  RunObserver observer("");
  OrFail(source.ForEachAttempt([&observer](const Attempt& attempt) { observer.Add(attempt); }));
  return PredictScaling(source.measurement(), observer.Finish(source.measurement()));
}

int PrintScaling(const ScalingOptions& options) {
  CheckChart(options.chart);
  const ScalingStudy study = Study(OpenAll(options.sources, options.run, options.output.quiet));
  const Json document = ScalingAsJson(study);
  const int printed = PrintOut(options.json ? JsonText(document, 1) + "\n"
                                            : RenderScaling(document, StyleFor(STDOUT_FILENO, options.output)));
  if (printed != kDone || !study.refused.empty()) return kFailed;
  if (!options.chart.path.empty()) OrFail(WriteCharts({MakeScalingChart(document)}, options.chart));
  return kDone;
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
  command->add_option("SOURCE", options->sources, "Measurements, or directories of record logs")
      ->required()
      ->expected(1, 1 << 20);
  command->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  AddChartOptions(command, "Also draw a chart: FILE.png, .svg, .pdf or .json", &options->chart);
  command->add_flag("--json", options->json, "Print JSON");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = PrintScaling(*options); });
}

}  // namespace crema
