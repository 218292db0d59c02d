// `crema export`: a measurement in the formats of other tools.
#include <cstdio>

#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/exports/export_format.h"
#include "collector/exports/missing_ranges.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct ExportOptions {
  std::string source;
  std::string format;
  std::string path;
  std::string run;
  std::string expected;
  std::string baseline;
  bool without_result = false;
  bool force = false;
  OutputOptions output;
};

/// What neither records nor `expected` can say of what has no result.
void NoteWhatIsNotKnown(const std::string& path, const std::vector<ExpectedFile>& expected) {
  const auto without_entries =
      std::count_if(expected.begin(), expected.end(), [](const ExpectedFile& file) { return file.ranges.empty(); });
  if (path.empty()) {
    fmt::print(stderr,
               "crema: crema does not know files that failed before a guard began; name all input with --expected "
               "FILESET.json\n");
  } else if (without_entries > 0) {
    fmt::print(stderr,
               "crema: {} does not give the entries of {} files. If some chunks of such a file began, crema does not "
               "know those that did not. Coffea's preprocess writes the entries\n",
               path, without_entries);
  }
}

/// The formats that compare runs.
std::string Comparing() {
  std::vector<std::string_view> names;
  for (const ExportFormat& format : ExportFormats()) {
    if (format.compares) names.push_back(format.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

int RunExport(const ExportOptions& options) {
  const ExportFormat* format = nullptr;
  for (const ExportFormat& known : ExportFormats()) {
    if (known.name == options.format) format = &known;
  }
  if (!options.baseline.empty() && !format->compares) {
    throw CLI::ValidationError("--baseline", fmt::format("{} does not compare runs; {} do", format->name, Comparing()));
  }
  const MeasuredSource opened = OrFail(MeasuredSource::Open(options.source, options.run, options.output.quiet));
  ExportSource source = ExportSourceOf(opened);
  source.without_result = options.without_result;
  if (!options.expected.empty()) source.expected = OrFail(ReadExpectedFileset(options.expected));
  const bool is_of_missing = options.without_result || options.format == "coffea-fileset";
  if (is_of_missing && !options.output.quiet) NoteWhatIsNotKnown(options.expected, source.expected);
  const Baseline baseline(options.baseline, options.output.quiet, &source);
  const ProgressNote note("writing " + options.path, options.output.quiet);
  OrFail(Export(*format, source, options.path, options.force));
  if (!format->opens.empty() && options.path != "-") {
    std::fputs(NextStep(options.output, fmt::format(format->opens, options.path), "draws it").c_str(), stderr);
  }
  return kDone;
}

}  // namespace

void AddExportCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("export", "Write a measurement in the format of another tool");
  std::string formats;
  std::vector<std::string> names;
  for (const ExportFormat& format : ExportFormats()) {
    formats += fmt::format("  {:<14} {}\n", format.name, format.writes);
    names.emplace_back(format.name);
  }
  command->footer("Formats:\n" + formats +
                  "\nExample:\n  crema export ttbar --to perfetto -o ttbar.trace.json\n"
                  "  crema export ttbar --to chunks -o chunks.csv\n  crema export ttbar --to prometheus -o -\n"
                  "  crema export ttbar --to coffea-fileset --expected fileset.json -o again.json");
  auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("SOURCE", options->source, "A measurement, a directory of record logs, or a roastcoffea measurement")
      ->required();
  command->add_option("--to", options->format, "The format")
      ->required()
      ->option_text("FORMAT")
      ->check(CLI::IsMember(names));
  command->add_option("-o,--output", options->path, "File or directory to write; - is stdout")->required();
  command->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  command->add_flag(
      "--without-result", options->without_result,
      "Write only the files and entries that have no result; into a .txt file as lines `file first last`");
  command
      ->add_option(
          "--expected", options->expected,
          "The fileset of Coffea (JSON) that should have been processed, for files and entries without a result")
      ->option_text("FILE");
  command
      ->add_option(
          "--baseline", options->baseline,
          "Another run, before this one. The numbers of both are written, as flamegraph.pl draws a difference; of: " +
              Comparing())
      ->option_text("SOURCE");
  command->add_flag("--force", options->force, "Replace files that crema did not write");
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = RunExport(*options); });
}

}  // namespace crema
