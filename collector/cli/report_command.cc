// `crema report`: one self-contained page that needs no network.
#include <cstdio>
#include <filesystem>

#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/exports/export_format.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/report/report_page.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct ReportOptions {
  MeasureOptions measure;
  std::string source;
  std::string path;
  std::string baseline;
  bool force = false;
  OutputOptions output;
};

/// Beside the measurement where the source is one, else here.
std::string PathFor(const ReportOptions& options) {
  if (!options.path.empty()) return options.path;
  const std::filesystem::path beside = std::filesystem::path(options.source) / "report.html";
  return IsMeasurement(options.source) ? beside.string() : "report.html";
}

/// A look into the largest section; where there was one, or there are no sections, what answers the next question.
std::string NextOf(const Measurement& measurement, const ReportOptions& options) {
  if (measurement.sections.empty()) {
    return NextStep(options.output, "crema config", "how to build your code with guards, which name its parts");
  }
  if (measurement.functions.empty()) {
    return NextStep(options.output, "crema run --stacks -- COMMAND", "the functions of each section");
  }
  const std::string source = options.source.empty() ? "BEFORE" : options.source;
  return NextStep(options.output, fmt::format("crema compare {} AFTER", source), "what a change of yours brought");
}

int WriteReport(ReportOptions options) {
  if (!options.source.empty()) options.measure.sources = {options.source};
  RequireSource(options.measure);
  const MeasuredSource opened = OrFail(MeasuredSource::Open(options.measure, options.output.quiet));
  ExportSource source = ExportSourceOf(opened);
  const Baseline baseline(options.baseline, options.output.quiet, &source);
  const std::string path = PathFor(options);
  {
    const ProgressNote note("writing " + path, options.output.quiet);
    OrFail(Export(ReportFormat(), source, path, options.force));
  }
  if (options.output.quiet || path == "-") return kDone;
  const int printed = PrintOut(path + "\n");
  std::fputs(NextOf(opened.measurement(), options).c_str(), stderr);
  return printed;
}

}  // namespace

void AddReportCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("report", "Write one page that shows a run, for any browser, offline");
  command->footer(
      "Example:\n  crema report ttbar\n  crema report ttbar -o ttbar.html\n  crema report ttbar --baseline last_week");
  auto options = std::make_shared<ReportOptions>();
  command->add_option(
      "SOURCE", options->source,
      "A measurement, a directory of record logs, a roastcoffea measurement, or " + EngineSchedulersHelp());
  command->add_option(
      "-o,--output", options->path,
      "The file to write; - is stdout (default: report.html, which is put into SOURCE if that is a measurement)");
  command
      ->add_option("--baseline", options->baseline,
                   "Another run: key figures show the difference, charts show this run in grey")
      ->option_text("SOURCE");
  command->add_option("--run", options->measure.run, "The run whose records are taken: its id, or all");
  command->add_flag("--force", options->force, "Replace a file that crema did not write");
  AddCoffeaOptions(command, &options->measure);
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = WriteReport(*options); });
}

}  // namespace crema
