// `crema show`: prints a measurement, or what the logs of a running or killed job give by now.
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_join.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/subcommand.h"
#include "collector/exports/chunk_fields.h"
#include "collector/metrics/measure.h"
#include "collector/records/loose_json.h"
#include "collector/report/summary_fragment.h"
#include "collector/writers/terminal.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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
  bool json = false;
  bool html = false;
  int width = 0;
  OutputOptions output;
};

constexpr size_t kDefaultTop = 20;
constexpr char kStandardInput[] = "-";

bool AsksForSingleChunks(const ShowOptions& options) {
  return !options.sort.empty() || options.top > 0 || !options.where.empty() || options.failed;
}

// The measurement holds no single chunks: those asked for are read again from the records.
ChunkListing ListChunks(const MeasuredSource& source, const ShowOptions& options) {
  TopChunks chunks(options.query);
  OrFail(source.ForEachAttempt([&chunks](const Attempt& attempt) { chunks.Add(attempt); }));
  ChunkListing listing;
  listing.sorted_by = options.query.sort->name;
  listing.matched = chunks.matched();
  listing.seen = chunks.seen();
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
    OrFail(absl::NotFoundError("the measurement has no metric `" + key + "`; `crema show SOURCE --json` lists them"));
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
  if (chosen.size() == 1) return JsonText(chosen.front(), 1) + "\n";  // what was asked for, not a parcel around it
  return JsonText(chosen, 1) + "\n";
}

// Behind the summary of a source with a name, and behind the functions, after which most people change something.
std::string NextOf(const ShowOptions& options, int width) {
  if (options.source.empty() || options.source == kStandardInput || !options.metrics.empty()) return "";
  if (options.tables.empty()) {
    return NextStep(options.output, "crema report " + options.source, "one page, for any browser", width);
  }
  if (options.tables != std::vector<std::string>{"functions"}) return "";
  return NextStep(options.output, fmt::format("crema compare {} AFTER", options.source),
                  "what a change of yours brought", width);
}

std::string AsText(const MeasuredSource& source, const ShowOptions& options) {
  const Measurement& measurement = source.measurement();
  TerminalStyle style = StyleFor(STDOUT_FILENO, options.output);
  if (options.width > 0) style.width = options.width;
  const std::string next = NextOf(options, style.width);
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
  const size_t top = options->top > 0 ? options->top : options->json ? SIZE_MAX : kDefaultTop;
  absl::StatusOr<ChunkQuery> query =
      ParseChunkQuery(options->sort.empty() ? "duration" : options->sort, top, options->where, options->failed);
  if (!query.ok()) throw CLI::ValidationError(std::string(query.status().message()));
  options->query = *std::move(query);
  if (!AsksForSingleChunks(*options)) return;
  if (options->tables.empty()) options->tables = {"chunks"};
  if (std::find(options->tables.begin(), options->tables.end(), "chunks") == options->tables.end()) {
    throw CLI::ValidationError("--sort, --top, --where and --failed", "go with --table chunks");
  }
}

absl::StatusOr<MeasuredSource> Open(const ShowOptions& options) {
  if (options.source == kStandardInput) return MeasuredSource::OpenStandardInput();
  MeasureOptions measure = options.measure;
  if (!options.source.empty()) measure.sources = {options.source};
  RequireSource(measure);
  return MeasuredSource::Open(measure, options.output.quiet);
}

int Show(ShowOptions options) {
  CheckChunkOptions(&options);
  if (options.html && (options.json || !options.tables.empty() || !options.metrics.empty())) {
    throw CLI::ValidationError("--html", "prints the whole summary; leave out --json, --table and --metric");
  }
  const MeasuredSource source = OrFail(Open(options));
  if (options.html) return PrintOut(SummaryFragment(source.measurement()));
  return PrintOut(options.json ? AsJson(source, options) : AsText(source, options));
}

std::vector<std::string> TableNamesAsText() {
  const std::vector<std::string_view> names = TableNames();
  return {names.begin(), names.end()};
}

std::string JoinedFieldNames() {
  return absl::StrJoin(ChunkFields(), ", ",
                       [](std::string* names, const ChunkField& field) { names->append(field.name); });
}

}  // namespace

void AddShowCommand(CLI::App* program, int* status) {
  CLI::App* show =
      program->add_subcommand("show", "Print a measurement, or what the logs of a running job hold so far");
  show->footer(fmt::format("Tables: {}", fmt::join(TableNames(), ", ")) +
               "\n\nExample:\n  crema show ttbar\n  crema show ttbar --table sections --table cuts\n"
               "  crema show ttbar --metric cpu_efficiency\n"
               "  crema show ttbar --html > summary.html\n"
               "  crema show ttbar --table chunks --sort duration --top 10 --where dataset=ttbar,status=ok\n"
               "  crema show ttbar --table chunks --failed\n\nFields of a chunk: " +
               JoinedFieldNames());
  auto options = std::make_shared<ShowOptions>();
  show->add_option(
      "SOURCE", options->source,
      "A measurement, a directory of record logs, or a roastcoffea measurement; -: a measurement's JSON on stdin");
  show->add_option("--table", options->tables, "Print these tables")
      ->take_all()
      ->option_text("NAME")
      ->check(CLI::IsMember(TableNamesAsText()));
  show->add_option("--metric", options->metrics, "Print these metrics: value, unit, definition and source")->take_all();
  show->add_option("--sort", options->sort, "List single chunks, sorted by this field: the largest numbers first")
      ->option_text("FIELD");
  show->add_option("--top", options->top, "Number of chunks in the list (default 20; with --json all)")
      ->check(WholeNumber(1, 100000));
  show->add_option("--where", options->where, "Only chunks that have these values: dataset=ttbar,worker=node1:4711")
      ->take_all()
      ->option_text("FIELD=VALUE,...");
  show->add_flag("--failed", options->failed, "Only attempts that failed or were lost");
  show->add_option("--run", options->measure.run, "The run whose records are taken: its id, or all");
  AddCoffeaOptions(show, &options->measure);
  show->add_option("--width", options->width, "Width in columns (default: that of the terminal, else 100)")
      ->check(WholeNumber(1, kAnyCount));
  show->add_flag("--json", options->json, "Print JSON: the document, or the tables and metrics that you name");
  show->add_flag("--html", options->html, "Print the summary as HTML, as a part for any page");
  AddOutputOptions(show, &options->output);
  show->callback([options, status] { *status = Show(*options); });
}

}  // namespace crema
