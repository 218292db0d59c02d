// `crema history`: one figure of many measurements by time, and since when it has its level.
#include <unistd.h>

#include "collector/charts/study_charts.h"
#include "collector/cli/plot_output.h"
#include "collector/cli/subcommand.h"
#include "collector/history/run_history.h"
#include "collector/records/loose_json.h"
#include "collector/sources/process_tree/allocated_cores.h"
#include "collector/writers/terminal.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct HistoryOptions {
  std::vector<std::string> directories;
  HistoryChoice choice;
  std::optional<double> worse_percent;
  bool fail_on_unclear = false;
  size_t rows = 20;
  bool json = false;
  PlotOutput chart;
  OutputOptions output;
};

int PrintHistory(const HistoryOptions& options) {
  CheckChart(options.chart);
  std::vector<std::string> metrics = {std::string(kWorkOfRun), std::string(kTimeOfRun), std::string(kRateOfRun)};
  if (!options.choice.metric.empty()) metrics = {options.choice.metric};
  std::vector<HistoryRun> runs = OrFail(ReadHistory(options.directories, metrics, AffinityCores().value_or(1)));
  const RunHistory history = OrFail(StudyHistory(std::move(runs), options.choice));
  std::string worse;
  if (options.worse_percent.has_value()) {
    const absl::StatusOr<std::string> judged = WorseThanBefore(history, *options.worse_percent / 100);
    if (!judged.ok()) {
      PrintError(std::string(judged.status().message()));
      return kWrongUsage;
    }
    worse = *judged;
  }
  const Json document = HistoryAsJson(history);
  int done = kDone;
  if (options.json) {
    done = PrintBesideGate(JsonText(document, 1) + "\n");
  } else if (!options.output.quiet) {
    done = PrintBesideGate(RenderHistory(document, options.rows, StyleFor(STDOUT_FILENO, options.output)));
  }
  if (done != kDone) return done;
  if (!options.chart.path.empty()) OrFail(WriteCharts({MakeHistoryChart(document)}, options.chart));
  const std::string unclear = options.fail_on_unclear ? WhyNotJudged(history) : "";
  if (!worse.empty()) PrintError("gate --fail-on-worse fell: " + worse);
  if (!unclear.empty()) PrintError("gate --fail-on-unclear fell: " + unclear);
  return worse.empty() && unclear.empty() ? kDone : kGateFell;
}

}  // namespace

void AddHistoryCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("history", "Find the run and the commit at which a figure changed");
  command->footer(
      "crema takes measurements, and those in directories that you name, and orders them by the start of their runs.\n"
      "It leaves out runs that failed, were killed or did not end. Exit status 3: the gate failed.\n\n"
      "Example:\n"
      "  crema history nightly/\n"
      "  crema history nightly/ --metric process_peak_rss_bytes --last 100 --fail-on-worse 5");
  auto options = std::make_shared<HistoryOptions>();
  command->add_option("DIR", options->directories, "Measurements, or directories that hold them")
      ->required()
      ->expected(1, 1 << 20);
  command->add_option("--metric", options->choice.metric,
                      "The figure (default: work, the time in chunks without waiting for a CPU; event_rate_wall_khz if "
                      "the runs' events differ)");
  command->add_option("--name", options->choice.name, "Only runs of this name");
  command->add_option("--last", options->choice.last, "Only the latest N runs (default and most: 10000)")
      ->option_text("N")
      ->check(WholeNumber(1, kAnyCount));
  command->add_option("--rows", options->rows, "Number of runs in the table (default: 20)")
      ->option_text("N")
      ->check(WholeNumber(0, kAnyCount));
  AddChartOptions(command, "Also draw a chart: FILE.png, .svg, .pdf or .json", &options->chart);
  command
      ->add_option("--fail-on-worse", options->worse_percent,
                   "End with status 3 if the latest level is worse than the best level before, and the whole range of "
                   "the difference is above PERCENT")
      ->option_text("PERCENT")
      ->check(FiniteNumber(0, kAnyNumber));
  command->add_flag("--fail-on-unclear", options->fail_on_unclear,
                    "End with status 3 if it is not known whether the latest runs are worse");
  command->add_flag("--json", options->json, "Print JSON");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = PrintHistory(*options); });
}

}  // namespace crema
