// Commands that make a measurement and show it: `crema collect` and `crema merge`; then `crema show`, `crema report`.
#include <signal.h>

#include <cstdio>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "collector/cli/doctor_command.h"
#include "collector/cli/measured_source.h"
#include "collector/diagnosis/verdict_table.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/exports/table_exports.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/metrics/measure.h"
#include "collector/metrics/measurement_directory.h"
#include "collector/records/json_fields.h"
#include "collector/report/report_page.h"
#include "collector/terminal/terminal.h"
#include "sdk/src/log/secret_filter.h"

namespace crema {
namespace {

void AddMeasureOptions(CLI::App* subcommand, MeasureOptions* options) {
  subcommand->add_option("--run", options->run, "The run whose records are taken: its id, or all");
  subcommand
      ->add_option("--coffea-report", options->coffea_reports,
                   "What Runner(savemetrics=True) returned, as JSON. Give the option several times to add several up")
      ->type_name("FILE")
      ->take_all();
  subcommand
      ->add_option("--metrics-by-dataset", options->metrics_by_dataset,
                   "JSON: {dataset: {entries, duration, performance_counters: {num_requested_bytes}}}")
      ->type_name("FILE")
      ->take_all();
}

// Takes a SOURCE, where one was given. Throws a usage error where neither one nor one of these options was.
void RequireSource(const std::string& source, MeasureOptions* options) {
  if (!source.empty()) options->sources = {source};
  if (options->sources.empty() && options->coffea_reports.empty() && options->metrics_by_dataset.empty()) {
    throw CLI::RequiredError("SOURCE");
  }
}

struct SavedOptions {
  MeasureOptions measure;
  SaveOptions save;
  std::string directory;
  OutputOptions output;
};

void AddSavedOptions(CLI::App* subcommand, SavedOptions* options) {
  subcommand->add_flag("--replace", options->save.replace,
                       "Delete an older measurement (default: it is kept as DIR.<its start>)");
  subcommand->add_flag("--force", options->save.force, "Write into a directory that holds other files");
  subcommand->add_flag("--json", options->output.json, "Print the measurement as JSON instead of the summary");
  AddOutputOptions(subcommand, &options->output);
}

/// While it lives, SIGINT, SIGTERM and SIGHUP wait (sigprocmask(2)). Its destructor lets them do what they do: as a
/// rule they end the process. For the only thread of a process.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int signal : kHeld) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Whether one of them came, that the process does not ignore.
  bool pending() const {
    sigset_t pending;
    sigpending(&pending);  // those that are ignored never wait
    return absl::c_any_of(kHeld, [&](int signal) { return sigismember(&pending, signal) == 1; });
  }

 private:
  static constexpr int kHeld[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t before_;
};

// Writes it into the directory, and prints its summary, or its document as JSON. Ctrl-C ends the writing between two
// logs: the older measurement is still there then, and no temporary file is.
int SaveAndShow(const MeasuredRun& measured, const SavedOptions& options) {
  std::string kept_as;
  SaveOptions save = options.save;
  save.kept_as = &kept_as;
  {
    const HeldSignals held;
    save.is_cancelled = [&held] { return held.pending(); };
    const absl::Status saved = SaveMeasurement(measured, options.directory, save);
    if (!saved.ok()) return ReportFailure(saved);  // now: what waits ends the process
  }
  if (!kept_as.empty() && !options.output.quiet) PrintError("the older measurement is kept as " + kept_as);
  if (options.output.json) return PrintOut(JsonText(JsonOf(measured.measurement), 1) + "\n");
  if (options.output.quiet) return kExitDone;
  const std::string source = ShellWord(options.directory);
  const TerminalStyle style = StyleFor(STDOUT_FILENO, options.output, source);
  return PrintOut(RenderSummary(measured.measurement, style) + NextReport(options.output, source));
}

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
                               "`" + text + "` are not Unix seconds of this century; give seconds, not ms or ns");
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
  RequireSource("", &options.measure);
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
  collect->add_option("SOURCE", options->measure.sources,
                      "Directories of record logs, measurements, roastcoffea measurements, - or a named pipe for "
                      "record logs one after another, " +
                          EngineSourcesHelp());
  collect->add_option("-o,--output", options->directory, "Directory of the measurement")->required()->type_name("DIR");
  collect->add_option("--start", options->start, "Start of the run: Unix seconds, or a time like 2026-11-21T14:02:11Z");
  collect->add_option("--stop", options->stop, "Stop of the run, in the same form");
  collect->add_option("--name", options->measure.name, "Name of the run");
  collect->add_option("--failure", options->measure.failure, "The exception that ended the program: the run failed");
  collect->add_option("--exit-status", options->measure.exit_status, "Exit status of the program")->option_text("N");
  collect
      ->add_option("--jobs", options->measure.jobs,
                   "Threads (default: one for each core that crema may use); the result is the same for any number")
      ->check(WholeNumber(1, 1024));
  collect
      ->add_option("--memory", options->measure.memory_bytes,
                   "Memory to use, like 2G: what the chunks take beyond half of it goes into files (default: a "
                   "quarter of the machine's, or of a control group's limit); the result does not depend on it")
      ->transform(CLI::AsSizeValue(false))
      ->check(FiniteNumber(1, kAnyNumber))
      ->option_text("SIZE");
  collect->add_option("--spill", options->measure.spill, "Directory for these files (default: TMPDIR)")
      ->option_text("DIR");
  AddMeasureOptions(collect, &options->measure);
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
      ->required();
  merge->add_option("-o,--output", options->directory, "Directory of the measurement")->required()->type_name("DIR");
  merge->add_option("--name", options->measure.name, "Name of the merged run");
  AddSavedOptions(merge, options.get());
  merge->callback([options, status] { *status = Merge(*options); });
}

// `crema show`: prints a measurement, or what the logs of a running or killed job give by now.

namespace {

struct ShowOptions {
  std::string source;
  MeasureOptions measure;
  std::vector<std::string> tables;
  std::vector<std::string> metrics;
  std::string sort;
  size_t top = 0;
  std::vector<std::string> where;
  bool failed = false;
  ChunkQuery query;  // what these four come to
  bool html = false;
  OutputOptions output;
};

constexpr size_t kDefaultTop = 20;
constexpr char kStandardInput[] = "-";

bool AsksForSingleChunks(const ShowOptions& options) {
  return !options.sort.empty() || options.top > 0 || !options.where.empty() || options.failed;
}

// What the values of conditions that no chunk meets may mean.
std::string NearValues(const Measurement& measurement, const std::vector<ChunkCondition>& conditions) {
  std::string near;
  for (const ChunkCondition& condition : conditions) {
    std::vector<std::string_view> names;
    if (condition.field->name == "dataset") names = Mapped<std::string_view>(measurement.datasets, &BreakdownRow::name);
    if (condition.field->name == "worker") names = Mapped<std::string_view>(measurement.workers, &WorkerRow::name);
    for (int i = 0; condition.field->name == "status" && i <= static_cast<int>(AttemptState::kUnrecorded); ++i)
      names.push_back(ToString(static_cast<AttemptState>(i)));
    if (!absl::c_linear_search(names, condition.value)) near += DidYouMean(condition.value, names);
  }
  return near;
}

// The measurement holds no single chunks: those asked for are read again from the records.
ChunkListing ListChunks(const MeasuredSource& source, const ShowOptions& options) {
  TopChunks chunks(options.query);
  OrFail(source.ForEachAttempt([&chunks](const Attempt& attempt) { chunks.Add(attempt); }));
  ChunkListing listing;
  listing.sorted_by = options.query.sort->name;
  listing.columns = ChunkListColumns(*options.query.sort);
  listing.matched = chunks.matched();
  listing.seen = chunks.seen();
  if (listing.matched == 0) listing.near = NearValues(source.measurement(), options.query.where);
  listing.rows = chunks.Take();
  listing.summed = static_cast<int64_t>(source.measurement().quality.summed_chunks.value_or(0));
  const Number& start_ns = source.measurement().run.start_ns;
  if (start_ns.is_integer()) listing.run_start_ns = start_ns.integer();
  return listing;
}

// What the table shows as text: of the document one list, or metrics and a list.
Json TableAsJson(const Json& document, const std::string& table) {
  const Json& metrics = Field(document, "metrics");
  if (table == "metrics") return Json{{"metrics", metrics}, {"custom_metrics", Field(document, "custom_metrics")}};
  if (table == "memory") {
    Json peaks = Json::object();
    for (const std::string_view key : MemoryTableMetrics()) peaks[std::string(key)] = Field(metrics, key);
    return Json{{"metrics", std::move(peaks)}, {"memory_sections", Field(document, "memory_sections")}};
  }
  if (!document.contains(table)) {
    if (FindTable(table) != nullptr) return Json::array();  // the document leaves some out that have no row
    OrFail(absl::NotFoundError("the measurement has no table `" + table + "`; see `crema show --help`"));
  }
  return Field(document, table);
}

Json MetricAsJson(const Json& document, const std::string& key) {
  const Json& metrics = Field(document, "metrics");
  if (!metrics.is_object() || !metrics.contains(key)) {
    const auto keys = Mapped<std::string_view>(MetricCatalog(), &MetricDefinition::key);
    OrFail(absl::NotFoundError("the measurement has no metric `" + key + "`" + DidYouMean(key, keys) +
                               "; `crema show SOURCE --json` lists them"));
  }
  Json metric = {{"key", key}, {"value", metrics.at(key)}};
  const Json& definition = Field(Field(document, "definitions"), key);
  for (const char* field : {"unit", "label", "text", "alias_of"}) {
    if (definition.is_object() && definition.contains(field)) metric[field] = definition.at(field);
  }
  const Json& reason = Field(Field(Field(document, "quality"), "not_measured"), key);
  if (!reason.is_null()) metric["not_measured"] = reason;
  return metric;
}

std::string AsJson(const MeasuredSource& source, const ShowOptions& options) {
  const Json document = source.Document();
  if (options.metrics.empty() && options.tables.empty()) return JsonText(document, 1) + "\n";
  Json chosen = Json::object();
  for (const std::string& key : options.metrics) chosen[key] = MetricAsJson(document, key);
  for (const std::string& name : options.tables) {
    // of chunks, the document has distributions, among its metrics
    chosen[name] = name == "chunks" ? ListChunks(source, options).rows : TableAsJson(document, name);
  }
  // what was asked for, not a parcel around it
  return JsonText(chosen.size() == 1 ? chosen.front() : chosen, 1) + "\n";
}

// Behind what shows functions or names them: how to get them; where they are there, most people change something.
std::string NextInside(const MeasuredSource& source, const OutputOptions& options, int descriptor = STDOUT_FILENO) {
  const Measurement& measurement = source.measurement();
  if (!measurement.HasChunks()) {
    if (!FindInstalledSdk(RunningProgram()).ok()) {
      return NextRun(options, measurement, "", "guards in your code name its parts", descriptor);
    }
    return NextStep(options, "crema config", "what guards look like; they name the parts of your code", descriptor);
  }
  if (!measurement.AskedForStacks()) {
    return NextRun(options, measurement, "--stacks ", "the functions of each section", descriptor);
  }
  const std::string before = source.Named().empty() ? "BEFORE" : source.Named();
  return NextStep(options, fmt::format("crema compare {} AFTER", before), "what a change of yours brought", descriptor);
}

std::string NextOfShown(const MeasuredSource& source, const ShowOptions& options) {
  const Measurement& measurement = source.measurement();
  if (source.Named().empty()) return "";
  const auto asks_for = [&options](const char* table) { return options.tables == std::vector<std::string>{table}; };
  if (asks_for("functions") || (asks_for("waits") && !measurement.HasChunks())) {
    return NextInside(source, options.output);
  }
  if (asks_for("waits") && !measurement.CannotSeeWaits() && !measurement.HasWaitingFunctions()) {
    return NextRun(options.output, measurement, "--waits ", "which functions wait, and who holds a lock");
  }
  return NextReport(options.output, source.Named());
}

std::string AsText(const MeasuredSource& source, const ShowOptions& options) {
  const Measurement& measurement = source.measurement();
  const TerminalStyle style = StyleFor(STDOUT_FILENO, options.output, source.Named());
  const std::string next = NextOfShown(source, options);
  if (options.metrics.empty() && options.tables.empty()) return RenderSummary(measurement, style) + next;
  std::string text;
  for (const std::string& key : options.metrics) text += OrFail(RenderMetric(measurement, key, style));
  for (const std::string& name : options.tables) {
    const bool is_list = name == "chunks" && AsksForSingleChunks(options);
    text +=
        is_list ? RenderChunkList(ListChunks(source, options), style) : OrFail(RenderTable(measurement, name, style));
  }
  return text + next;
}

// Wrong usage is to be found before anything is read.
void CheckChunkOptions(ShowOptions* options) {
  // a program gets every attempt, unless it asks for some
  const size_t top = options->top > 0 ? options->top : options->output.json ? SIZE_MAX : kDefaultTop;
  absl::StatusOr<ChunkQuery> query =
      ParseChunkQuery(options->sort.empty() ? "duration" : options->sort, top, options->where, options->failed);
  if (!query.ok()) throw CLI::ValidationError(std::string(query.status().message()));
  options->query = *std::move(query);
  if (!AsksForSingleChunks(*options)) return;
  if (options->tables.empty()) options->tables = {"chunks"};
  if (!absl::c_linear_search(options->tables, "chunks")) {
    throw CLI::ValidationError("--sort, --top, --where and --failed", "go with --table chunks");
  }
}

absl::StatusOr<MeasuredSource> Open(const ShowOptions& options) {
  if (options.source == kStandardInput) return MeasuredSource::OpenStandardInput();
  MeasureOptions measure = options.measure;
  RequireSource(options.source, &measure);
  return MeasuredSource::Open(measure, options.output.quiet);
}

int Show(ShowOptions options) {
  CheckChunkOptions(&options);
  options.output.is_list = !options.metrics.empty() || !options.tables.empty();
  if (options.html && (options.output.json || !options.tables.empty() || !options.metrics.empty())) {
    throw CLI::ValidationError("--html", "prints the whole summary; leave out --json, --table and --metric");
  }
  const MeasuredSource source = OrFail(Open(options));
  if (options.html) return PrintOut(SummaryFragment(source.measurement()));
  return PrintOut(options.output.json ? AsJson(source, options) : AsText(source, options));
}

}  // namespace

void AddShowCommand(CLI::App* program, int* status) {
  CLI::App* show =
      program->add_subcommand("show", "Print a measurement, or what the logs of a running job hold so far");
  const std::vector<std::string_view> tables = TableNames();
  show->footer(fmt::format("Tables: {}", fmt::join(tables, ", ")) +
               "\n\nExample:\n  crema show ttbar\n  crema show ttbar --table sections,cuts\n"
               "  crema show ttbar --metric cpu_efficiency\n"
               "  crema show ttbar --html > summary.html\n"
               "  crema show ttbar --table chunks --sort duration --top 10 --where dataset=ttbar,status=ok\n"
               "  crema show ttbar --table chunks --failed\n\nFields of a chunk: " +
               fmt::format("{}", fmt::join(Mapped<std::string_view>(ChunkFields(), &ChunkField::name), ", ")));
  auto options = std::make_shared<ShowOptions>();
  show->add_option(
      "SOURCE", options->source,
      "A measurement, a directory of record logs, or a roastcoffea measurement; -: a measurement's JSON on stdin");
  show->add_option("--table", options->tables, "Print these tables")
      ->delimiter(',')
      ->take_all()
      ->option_text("NAME,...")
      ->check(CLI::IsMember(std::vector<std::string>(tables.begin(), tables.end())));
  show->add_option("--metric", options->metrics, "Print these metrics: value, unit, definition and source")
      ->delimiter(',')
      ->take_all()
      ->option_text("KEY,...");
  show->add_option("--sort", options->sort, "List single chunks, sorted by this field: the largest numbers first")
      ->option_text("FIELD");
  show->add_option("--top", options->top, "Number of chunks in the list (default 20; with --json all)")
      ->check(WholeNumber(1, 100000));
  show->add_option("--where", options->where, "Only chunks that have these values: dataset=ttbar,worker=node1:4711")
      ->take_all()
      ->option_text("FIELD=VALUE,...");
  show->add_flag("--failed", options->failed, "Only attempts that failed or were lost");
  AddMeasureOptions(show, &options->measure);
  show->add_option("--width", options->output.width, "Width in columns (default: that of the terminal, else 100)")
      ->check(WholeNumber(1, kAnyCount));
  show->add_flag("--json", options->output.json, "Print JSON: the document, or the tables and metrics that you name");
  show->add_flag("--html", options->html, "Print the summary as HTML, as a part for any page");
  AddOutputOptions(show, &options->output);
  show->callback([options, status] { *status = Show(*options); });
}

// `crema report`: one self-contained page that needs no network.

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

int WriteReport(ReportOptions options) {
  RequireSource(options.source, &options.measure);
  const MeasuredSource opened = OrFail(MeasuredSource::Open(options.measure, options.output.quiet));
  ExportSource source = ExportSourceOf(opened);
  const Baseline baseline(options.baseline, options.output.quiet, &source);
  const std::string path = PathFor(options);
  {
    const ProgressNote note("writing " + path, options.output.quiet);
    OrFail(Export(ReportFormat(), source, path, options.force));
  }
  if (options.output.quiet || path == "-") return kExitDone;
  const int printed = PrintOut(path + "\n");
  std::fputs(NextInside(opened, options.output, STDERR_FILENO).c_str(), stderr);
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
  command
      ->add_option(
          "-o,--output", options->path,
          "The file to write; - is stdout (default: report.html, which is put into SOURCE if that is a measurement)")
      ->type_name("FILE");
  command
      ->add_option("--baseline", options->baseline,
                   "Another run: key figures show the difference, charts show this run in grey")
      ->option_text("SOURCE");
  command->add_flag("--force", options->force, "Replace a file that crema did not write");
  AddMeasureOptions(command, &options->measure);
  AddOutputOptions(command, &options->output);
  command->callback([options, status] { *status = WriteReport(*options); });
}

// `crema verdict`: what stands out in a run, on which evidence, and what to do; a gate for scripts.

namespace {

struct VerdictOptions {
  MeasureOptions measure;
  std::string source;
  std::vector<std::string> fail_on;
  OutputOptions output;
};

std::vector<std::string_view> Ids() { return Mapped<std::string_view>(VerdictTable(), &VerdictRule::id); }

std::string KnownIds() { return fmt::format("{}", fmt::join(Ids(), ", ")); }

int PrintVerdicts(VerdictOptions options) {
  for (const std::string& id : options.fail_on) {
    // A gate on a misspelt id would never fall.
    if (FindRule(id) == nullptr) {
      throw CLI::ValidationError("--fail-on",
                                 fmt::format("no verdict `{}`{}; there are {}", id, DidYouMean(id, Ids()), KnownIds()));
    }
  }
  RequireSource(options.source, &options.measure);
  const MeasuredSource source = OrFail(MeasuredSource::Open(options.measure, options.output.quiet));

  // Judged anew: an older crema may have judged by other rules.
  const std::vector<Verdict> verdicts = Judge(source.measurement());
  std::vector<std::string> fallen;
  for (const Verdict& verdict : verdicts) {
    if (absl::c_linear_search(options.fail_on, verdict.id)) fallen.push_back(verdict.id);
  }
  const std::string headline = Headline(source.measurement());
  const std::vector<VerdictRow> rows = VerdictRows(verdicts);
  int printed = kExitDone;
  if (options.output.json) {
    Json document = {{"headline", headline}, {"verdicts", nullptr}, {"failed_on", fallen}};
    WriteValue(rows, &document["verdicts"]);
    printed = PrintBesideGate(JsonText(document, 1) + "\n");
  } else if (!options.output.quiet) {
    const TerminalStyle style = StyleFor(STDOUT_FILENO, options.output, source.Named());
    printed = PrintBesideGate(RenderVerdicts(headline, rows, style) +
                              NextPrediction(source, options.output, "what the usual changes would bring"));
  }
  if (fallen.empty()) return printed;
  PrintError(fmt::format("{} fired", fmt::join(fallen, ", ")));
  return kExitGateFell;
}

}  // namespace

void AddVerdictCommand(CLI::App* program, int* status) {
  CLI::App* verdict = program->add_subcommand("verdict", "Say what stands out in a run, and on what evidence");
  verdict->footer("Verdicts: " + KnownIds() +
                  "\n\nExample:\n  crema verdict ttbar\n  crema verdict ttbar --fail-on failing-chunks,long-tail");
  auto options = std::make_shared<VerdictOptions>();
  verdict->add_option("SOURCE", options->source, "A measurement, or a directory of record logs");
  verdict->add_option("--fail-on", options->fail_on, "End with status 3 if one of these verdicts fires")
      ->delimiter(',')
      ->take_all();
  AddMeasureOptions(verdict, &options->measure);
  verdict->add_flag("--json", options->output.json,
                    "Print JSON: the headline, the verdicts, and which of those that --fail-on names fired");
  AddOutputOptions(verdict, &options->output);
  verdict->callback([options, status] { *status = PrintVerdicts(*options); });
}

}  // namespace crema
