// `crema show`: prints a measurement, or what the logs of a running or killed job give by now.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/cli/measured_source.h"
#include "collector/cli/output_options.h"
#include "collector/cli/subcommand.h"
#include "collector/metrics/measurement.h"
#include "collector/writers/terminal.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct ShowOptions {
  std::string source;
  std::string run;
  std::vector<std::string> tables;
  std::vector<std::string> metrics;
  bool json = false;
  int width = 0;
  OutputOptions output;
};

absl::StatusOr<Json> LoadOrMeasure(const ShowOptions& options) {
  if (IsMeasurement(options.source)) {
    absl::StatusOr<Measurement> loaded = LoadMeasurement(options.source);
    if (!loaded.ok()) return loaded.status();
    return std::move(loaded->document);
  }
  MeasureOptions measure;
  measure.sources = {options.source};
  measure.run = options.run;
  absl::StatusOr<Measurement> measured = MeasureAndJudge(measure, options.output.quiet);
  if (!measured.ok()) return measured.status();
  return std::move(measured->document);
}

const Json& Member(const Json& object, const std::string& key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

// Where the document has a table under another name.
absl::StatusOr<Json> TableAsJson(const Json& document, const std::string& table) {
  static const std::map<std::string, std::string> kOtherNames = {{"memory", "memory_sections"},
                                                                 {"metrics", "custom_metrics"}};
  const auto other = kOtherNames.find(table);
  const std::string key = other == kOtherNames.end() ? table : other->second;
  if (!document.contains(key)) {
    return absl::NotFoundError("the measurement has no table `" + table + "`; see `crema show --help`");
  }
  return Member(document, key);
}

absl::StatusOr<Json> MetricAsJson(const Json& document, const std::string& key) {
  const Json& metrics = Member(document, "metrics");
  if (!metrics.is_object() || !metrics.contains(key)) {
    return absl::NotFoundError("the measurement has no metric `" + key + "`; `crema show SOURCE --json` lists them");
  }
  Json metric = {{"key", key}, {"value", metrics.at(key)}};
  const Json& definition = Member(Member(document, "definitions"), key);
  for (const char* field : {"unit", "label", "text", "alias_of"}) {
    if (definition.is_object() && definition.contains(field)) metric[field] = definition.at(field);
  }
  const Json& reason = Member(Member(Member(document, "quality"), "not_measured"), key);
  if (!reason.is_null()) metric["not_measured"] = reason;
  return metric;
}

absl::StatusOr<std::string> AsJson(const Json& document, const ShowOptions& options) {
  if (options.metrics.empty() && options.tables.empty()) return document.dump(1) + "\n";
  Json chosen = Json::object();
  for (const std::string& key : options.metrics) {
    absl::StatusOr<Json> metric = MetricAsJson(document, key);
    if (!metric.ok()) return metric.status();
    chosen[key] = *std::move(metric);
  }
  for (const std::string& name : options.tables) {
    absl::StatusOr<Json> table = TableAsJson(document, name);
    if (!table.ok()) return table.status();
    chosen[name] = *std::move(table);
  }
  if (chosen.size() == 1) return chosen.front().dump(1) + "\n";  // what was asked for, not a parcel around it
  return chosen.dump(1) + "\n";
}

absl::StatusOr<std::string> AsText(const Json& document, const ShowOptions& options) {
  TerminalStyle style = StyleFor(STDOUT_FILENO, options.output);
  if (options.width > 0) style.width = options.width;
  if (options.metrics.empty() && options.tables.empty()) return RenderSummary(document, style);
  std::string text;
  for (const std::string& key : options.metrics) {
    absl::StatusOr<std::string> metric = RenderMetric(document, key, style);
    if (!metric.ok()) return metric.status();
    text += *metric;
  }
  for (const std::string& name : options.tables) {
    absl::StatusOr<std::string> table = RenderTable(document, name, style);
    if (!table.ok()) return table.status();
    text += *table;
  }
  return text;
}

int Show(const ShowOptions& options) {
  const absl::StatusOr<Json> document = LoadOrMeasure(options);
  if (!document.ok()) return ReportFailure(document.status());
  const absl::StatusOr<std::string> text = options.json ? AsJson(*document, options) : AsText(*document, options);
  if (!text.ok()) return ReportFailure(text.status());
  std::fputs(text->c_str(), stdout);
  return kDone;
}

std::string JoinedTableNames() {
  std::string names;
  for (std::string_view name : TableNames()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace

void AddShowCommand(CLI::App* program, int* status) {
  CLI::App* show =
      program->add_subcommand("show", "Print a measurement, or what the logs of a running job give by now");
  show->footer("Tables: " + JoinedTableNames() +
               "\n\nExample:\n  crema show ttbar\n  crema show ttbar --table sections --table cuts\n"
               "  crema show ttbar --metric cpu_efficiency");
  auto options = std::make_shared<ShowOptions>();
  show->add_option("SOURCE", options->source, "A measurement, or a directory of record logs")->required();
  show->add_option("--table", options->tables, "Print these tables")->take_all();
  show->add_option("--metric", options->metrics, "Print these metrics: value, unit, definition and source")->take_all();
  show->add_option("--run", options->run, "Which run's records to take: an id, or all");
  show->add_option("--width", options->width, "Columns (default: the terminal's, else 100)")
      ->check(CLI::PositiveNumber);
  show->add_flag("--json", options->json, "Print JSON: the document, or the tables and metrics asked for");
  AddOutputOptions(show, &options->output);
  show->callback([options, status] { *status = Show(*options); });
}

}  // namespace crema
