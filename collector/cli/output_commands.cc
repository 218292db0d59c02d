// Commands that write files for other tools: `crema export`; then `crema plot`.

#include <cctype>
#include <cstdio>
#include <set>

#include "collector/charts/chart.h"
#include "collector/cli/measured_source.h"
#include "collector/exports/missing_ranges.h"
#include "collector/idioms/file_system.h"
#include "collector/idioms/sequences.h"
#include "collector/plot_data/run_detail.h"
#include "collector/render/renderer.h"
#include "collector/terminal/terminal_box.h"

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
  const auto without_entries = absl::c_count_if(expected, [](const ExpectedFile& file) { return file.ranges.empty(); });
  if (path.empty()) {
    fmt::print(stderr,
               "crema: files that failed before a guard began are not known; name all input with --expected "
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
  const ExportFormat* const format = FindBy(ExportFormats(), &ExportFormat::name, options.format);
  if (!options.baseline.empty() && !format->compares) {
    throw CLI::ValidationError("--baseline", fmt::format("{} does not compare runs; {} do", format->name, Comparing()));
  }
  const MeasuredSource opened = OrFail(MeasuredSource::Open(options.source, options.run, options.output.quiet));
  ExportSource source = ExportSourceOf(opened);
  source.without_result = options.without_result;
  if (!options.expected.empty()) source.expected = OrFail(ReadExpectedFileset(options.expected));
  const bool is_of_missing = options.without_result || options.format == "coffea-fileset";
  const Baseline baseline(options.baseline, options.output.quiet, &source);
  const ProgressNote note("writing " + options.path, options.output.quiet);
  OrFail(Export(*format, source, options.path, options.force));
  if (is_of_missing && !options.output.quiet) NoteWhatIsNotKnown(options.expected, source.expected);
  if (options.path == "-" || options.without_result) return kExitDone;
  std::error_code error;
  if (is_of_missing && std::filesystem::file_size(options.path, error) <= 3) {  // {}
    const bool has_chunks = opened.measurement().HasChunks();
    if (!options.output.quiet) PrintError(has_chunks ? "every known chunk has its result: nothing is left" : kNoChunk);
    std::fputs(NextReport(options.output, opened.Named(), STDERR_FILENO).c_str(), stderr);
    return kExitDone;
  }
  std::fputs(NextStep(options.output, fmt::format(format->opens, ShellWord(options.path)), "", STDERR_FILENO).c_str(),
             stderr);
  return kExitDone;
}

namespace fs = std::filesystem;

constexpr std::string_view kPlaceholder = "{name}";
constexpr std::string_view kSpecification = "json";

/// `png`, `svg`, `pdf` or `json`; empty for anything else.
std::string FormatOf(const std::string& path) {
  const std::string extension = absl::AsciiStrToLower(fs::path(path).extension().string());
  for (const char* format : {"png", "svg", "pdf", "json"}) {
    if (extension == std::string(".") + format) return format;
  }
  return "";
}

bool IsPattern(const std::string& path) { return path.find(kPlaceholder) != std::string::npos; }

/// The name of a chart may hold what users call their metrics; that of a file should not.
std::string FileNameOf(const std::string& chart, std::set<std::string>* taken) {
  constexpr size_t kMostBytes = 100;
  std::string name;
  for (const char byte : chart.substr(0, kMostBytes)) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_' || byte == '-' || byte == '.';
    name += is_plain ? byte : '_';
  }
  std::string distinguished = name;
  for (int number = 2; !taken->insert(distinguished).second; ++number)
    distinguished = fmt::format("{}_{}", name, number);
  return distinguished;
}

/// One file to be written.
struct PlannedFile {
  size_t chart = 0;
  std::string path;
  std::string format;
};

absl::StatusOr<std::vector<PlannedFile>> PlanFiles(const std::vector<Chart>& charts, const PlotOutput& output) {
  std::vector<PlannedFile> files;
  std::set<std::string> taken;
  for (size_t i = 0; i < charts.size(); ++i) {
    if (charts[i].spec.is_null()) continue;
    if (output.IsOneFile()) {
      files.push_back({i, output.path, FormatOf(output.path)});
      continue;
    }
    const std::string name = FileNameOf(charts[i].name, &taken);
    if (IsPattern(output.path)) {
      if (FormatOf(output.path).empty()) {
        return absl::InvalidArgumentError(output.path + ": the pattern must end in .png, .svg, .pdf or .json");
      }
      const size_t at = output.path.find(kPlaceholder);
      files.push_back({i, std::string(output.path).replace(at, kPlaceholder.size(), name), FormatOf(output.path)});
      continue;
    }
    for (const std::string& format : output.formats) {
      files.push_back({i, (fs::path(output.path) / (name + "." + format)).string(), format});
    }
  }
  return files;
}

std::string SpecificationText(const Chart& chart) {
  return chart.spec.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// All pictures at once; a renderer costs more to start than a picture to draw.
absl::Status WritePictures(const std::vector<Chart>& charts, const std::vector<PlannedFile>& files,
                           const PlotOutput& output, const std::string& directory) {
  std::vector<PictureJob> jobs;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string stem = fmt::format("{}/{}", directory, i);
    std::ofstream(stem + ".spec") << SpecificationText(charts[files[i].chart]);
    jobs.push_back({stem + ".spec", stem + ".picture", files[i].format});
  }
  const absl::StatusOr<std::vector<absl::Status>> rendered = RenderPictures(jobs, output.python, directory);
  if (!rendered.ok()) return rendered.status();
  absl::Status first_failure;
  for (size_t i = 0; i < files.size(); ++i) {
    absl::Status status = (*rendered)[i];
    if (status.ok()) {
      absl::StatusOr<std::string> content = ReadText(jobs[i].picture_path);
      status = content.ok() ? WritePicture(files[i].path, MarkedPicture(*std::move(content), files[i].format))
                            : absl::InternalError(jobs[i].picture_path + ": the renderer wrote nothing");
    }
    if (!status.ok() && first_failure.ok()) {
      first_failure = absl::Status(status.code(), fmt::format("{}: {}", files[i].path, std::string(status.message())));
    }
  }
  return first_failure;
}

absl::Status WriteSpecificationsInstead(const std::vector<Chart>& charts, const std::vector<PlannedFile>& files,
                                        bool force, const absl::Status& why) {
  std::set<std::string> written;
  for (const PlannedFile& file : files) {
    const std::string path = fs::path(file.path).replace_extension(".json").string();
    if (!written.insert(path).second) continue;
    if (absl::Status may = CheckMayReplacePicture(path, force); !may.ok()) return may;
    if (absl::Status status = WritePicture(path, SpecificationText(charts[file.chart])); !status.ok()) return status;
  }
  return absl::NotFoundError(fmt::format("{}; wrote Vega-Lite specifications instead, {}{}; {}",
                                         std::string(why.message()), *written.begin(),
                                         written.size() > 1 ? " and so on" : "", HowToGetPictures()));
}

}  // namespace

void AddExportCommand(CLI::App* program, int* status) {
  CLI::App* command = program->add_subcommand("export", "Write a measurement in the format of another tool");
  std::string formats;
  for (const ExportFormat& format : ExportFormats()) {
    formats += fmt::format("  {:<14} {}\n", format.name, format.writes);
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
      ->check(CLI::IsMember(Mapped<std::string>(ExportFormats(), &ExportFormat::name)));
  command->add_option("-o,--output", options->path, "File or directory to write; - is stdout")
      ->required()
      ->type_name("PATH");
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

bool PlotOutput::IsOneFile() const { return !FormatOf(path).empty() && !IsPattern(path); }

void AddChartOptions(CLI::App* subcommand, const char* help, PlotOutput* output) {
  output->path.clear();
  subcommand->add_option("--chart", output->path, help)->option_text("FILE");
  subcommand->add_flag("--force", output->force, "Let the chart replace a file that crema did not write");
}

void CheckChart(const PlotOutput& output, const char* option) {
  if (output.path.empty() || output.IsOneFile()) return;
  throw CLI::ValidationError(option, "the file must end in .png, .svg, .pdf or .json");
}

absl::Status WriteCharts(const std::vector<Chart>& charts, const PlotOutput& output) {
  const absl::StatusOr<std::vector<PlannedFile>> planned = PlanFiles(charts, output);
  if (!planned.ok()) return planned.status();
  std::vector<PlannedFile> pictures;
  for (const PlannedFile& file : *planned) {
    if (absl::Status may = CheckMayReplacePicture(file.path, output.force); !may.ok()) return may;
    if (file.format != kSpecification) pictures.push_back(file);
  }
  for (const PlannedFile& file : *planned) {
    if (file.format != kSpecification) continue;
    if (absl::Status status = WritePicture(file.path, SpecificationText(charts[file.chart])); !status.ok())
      return status;
  }
  if (pictures.empty()) return absl::OkStatus();
  const absl::StatusOr<std::unique_ptr<TemporaryDirectory>> directory = TemporaryDirectory::Make();
  if (!directory.ok()) return directory.status();
  absl::Status status = WritePictures(charts, pictures, output, (*directory)->path());
  if (!absl::IsNotFound(status)) return status;
  return WriteSpecificationsInstead(charts, pictures, output.force, status);
}

// `crema plot`: the standard charts as pictures, or as the Vega-Lite specifications that they are drawn from.

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
        detail(ReadRunDetail(source.measurement(), [this](const OnAttempt& on, ChunkPlaces* places) {
          return source.ForEachAttempt(on, places);
        })) {}
  MeasuredSource source;
  RunDetail detail;
};

void CheckOptions(const PlotOptions& options) {
  if (options.list) return;
  if (options.source.empty()) throw CLI::RequiredError("SOURCE");
  if (options.names.size() != 1 && options.output.IsOneFile()) {
    throw CLI::ValidationError("-o", "one file cannot hold several charts; give a directory, or a pattern with {name}");
  }
  const bool is_file = fs::path(options.output.path).has_extension() && !fs::is_directory(options.output.path);
  if (options.names.size() == 1 && is_file && !IsPattern(options.output.path)) CheckChart(options.output, "-o");
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

int Plot(PlotOptions options) {
  CheckOptions(options);
  options.shown.is_list = true;
  if (options.source.empty()) {  // what can be asked for when there is no run yet
    std::string kinds;
    for (const ChartKind& kind : ChartKinds()) kinds += fmt::format("{:<40} {}\n", kind.name, kind.question);
    return PrintOut(kinds + NextStep(options.shown, "crema plot RUN -o DIR"));
  }
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
  if (options.list) return PrintOut(ListAsText(charts) + NextReport(options.shown, run.source.Named()));
  ReportNotDrawn(charts, quiet);
  const ProgressNote note("drawing", quiet);
  OrFail(WriteCharts(charts, options.output));
  std::fputs(NextReport(options.shown, run.source.Named(), STDERR_FILENO).c_str(), stderr);
  return kExitDone;
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
      ->type_name("PATH")
      ->capture_default_str();
  plot->add_option("--format", options->output.formats,
                   "Formats of the files in a directory: png, svg, pdf, json (default png)")
      ->option_text("FORMAT,...")
      ->delimiter(',')
      ->check(CLI::IsMember({"png", "svg", "pdf", "json"}));
  plot->add_option("--baseline", options->baseline, "Another run, drawn in grey behind this one")
      ->option_text("SOURCE");
  plot->add_option("--theme", options->theme, "Colours of the charts")->check(CLI::IsMember({"light", "dark"}));
  plot->add_option("--python", options->output.python, "A Python that has vl-convert-python")->option_text("PATH");
  plot->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  plot->add_flag("--force", options->output.force, "Replace files that crema did not write");
  AddOutputOptions(plot, &options->shown);
  plot->callback([options, status] { *status = Plot(*options); });
}

}  // namespace crema
