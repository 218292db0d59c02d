// `crema plot`: the standard charts as pictures, or as the Vega-Lite specifications that they are drawn from.
#include <filesystem>

#include "collector/charts/chart.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/plot_output.h"
#include "collector/cli/subcommand.h"
#include "collector/detail/run_detail.h"
#include "collector/pictures/renderer.h"
#include "collector/writers/display_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct PlotOptions {
  std::string source;
  std::vector<std::string> names;
  bool list = false;
  PlotOutput output;
  std::string baseline;
  std::string theme = "light";
  std::string run;
  OutputOptions shown;
};

/// A run with everything that charts are made from.
struct PlottedRun {
  PlottedRun(const std::string& path, const std::string& run, bool quiet)
      : source(OrFail(MeasuredSource::Open(path, run, quiet))),
        detail(ReadRunDetail(source.measurement(),
                             [this](const OnAttempt& on_attempt) { return source.ForEachAttempt(on_attempt); })) {}
  MeasuredSource source;
  RunDetail detail;
};

void CheckOptions(const PlotOptions& options) {
  if (options.list) return;
  if (options.source.empty()) throw CLI::RequiredError("SOURCE");
  if (options.names.size() != 1 && options.output.IsOneFile()) {
    throw CLI::ValidationError("-o", "one file cannot hold several charts; give a directory, or a pattern with {name}");
  }
}

/// What can be asked for when there is no run yet.
std::string KindsAsText() {
  std::string text;
  for (const ChartKind& kind : ChartKinds()) text += fmt::format("{:<40} {}\n", kind.name, kind.question);
  return text;
}

std::string ListAsText(const std::vector<Chart>& charts) {
  std::string text;
  for (const Chart& chart : charts) {
    text += PlainLine(fmt::format("{:<40} {}", chart.name, chart.spec.is_null() ? "– " + chart.reason : chart.title));
    text += '\n';
  }
  return text;
}

std::vector<Chart> MakeCharts(const std::vector<std::string>& names, const ChartInput& input, ChartTheme theme) {
  std::vector<Chart> charts;
  for (const std::string& name : names) {
    Chart& chart = charts.emplace_back(OrFail(MakeChart(name, input)));
    if (theme != ChartTheme::kLight && !chart.spec.is_null()) chart.spec["config"] = ChartConfig(theme);
  }
  return charts;
}

/// If several charts are asked for, some may have nothing to draw. If only one is, that is an error.
void ReportNotDrawn(const std::vector<Chart>& charts, bool quiet) {
  for (const Chart& chart : charts) {
    if (!chart.spec.is_null()) continue;
    const std::string line = fmt::format("{}: not drawn: {}", chart.name, chart.reason);
    if (charts.size() == 1) OrFail(absl::FailedPreconditionError(line));
    if (!quiet) PrintError(line);
  }
}

int Plot(const PlotOptions& options) {
  CheckOptions(options);
  if (options.source.empty()) return PrintOut(KindsAsText());
  const bool quiet = options.shown.quiet;
  const PlottedRun run(options.source, options.run, quiet);
  ChartInput input;
  input.measurement = &run.source.measurement();
  input.detail = &run.detail;
  std::optional<PlottedRun> baseline;
  if (!options.baseline.empty()) {
    baseline.emplace(options.baseline, "", quiet);
    input.baseline = &baseline->source.measurement();
    input.baseline_detail = &baseline->detail;
  }
  const std::vector<std::string> names = options.names.empty() ? ChartNames(input) : options.names;
  const ChartTheme theme = options.theme == "dark" ? ChartTheme::kDark : ChartTheme::kLight;
  const std::vector<Chart> charts = MakeCharts(names, input, theme);
  if (options.list) return PrintOut(ListAsText(charts));
  ReportNotDrawn(charts, quiet);
  const ProgressNote note("drawing", quiet);
  OrFail(WriteCharts(charts, options.output));
  return kDone;
}

}  // namespace

void AddPlotCommand(CLI::App* program, int* status) {
  CLI::App* plot = program->add_subcommand("plot", "Draw the charts of a run");
  plot->footer(
      "Without a NAME crema draws all charts for which the run has figures. Then -o is a directory, or a pattern with\n"
      "{name}. PNG has two pixels a unit; .json is the Vega-Lite specification.\n\n"
      "Example:\n  crema plot ttbar -o plots\n  crema plot ttbar section_icicle -o icicle.svg\n"
      "  crema plot ttbar --baseline last_week -o 'plots/{name}.pdf'\n  crema plot --list");
  auto options = std::make_shared<PlotOptions>();
  plot->add_option("SOURCE", options->source,
                   "A measurement, a directory of record logs, or a roastcoffea measurement");
  plot->add_option("NAME", options->names, "Charts to draw (default: all)");
  plot->add_flag("--list", options->list, "List the charts; with a SOURCE, say for which charts it has no figures");
  plot->add_option("-o,--output", options->output.path,
                   "FILE.png, .svg, .pdf or .json; for several charts a directory, or a pattern with {name}")
      ->capture_default_str();
  plot->add_option("--format", options->output.formats,
                   "Formats of the files in a directory: png, svg, pdf, json (default png)")
      ->option_text("FORMAT,...")
      ->delimiter(',')
      ->check(CLI::IsMember({"png", "svg", "pdf", "json"}));
  plot->add_option("--baseline", options->baseline, "Another run, drawn in grey behind this one")
      ->option_text("SOURCE");
  plot->add_option("--theme", options->theme, "Colours: light or dark")
      ->option_text("THEME")
      ->check(CLI::IsMember({"light", "dark"}));
  plot->add_option("--python", options->output.python, "A Python that has vl-convert-python")->option_text("PATH");
  plot->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  plot->add_flag("--force", options->output.force, "Replace files that crema did not write");
  AddOutputOptions(plot, &options->shown);
  plot->callback([options, status] { *status = Plot(*options); });
}

}  // namespace crema
