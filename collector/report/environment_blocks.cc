// How the run was made, and what its words mean.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "collector/appearance/human_numbers.h"
#include "collector/appearance/worker_names.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/cells.h"
#include "collector/records/exit_status.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/writers/document_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

std::string Row(std::string_view label, const std::string& html) {
  return html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", Escaped(label), html);
}

std::string Code(const std::string& text) { return text.empty() ? "" : "<code>" + Name(text, 600) + "</code>"; }

std::string Sources(const RunFacts& run) {
  constexpr std::string_view kSource = "_source";
  std::string text;
  for (const Column& column : RunFacts::Columns()) {
    const size_t end = column.key.size() - std::min(column.key.size(), kSource.size());
    if (column.key.substr(end) != kSource) continue;
    const Cell value = column.cell(&run);
    if (IsNull(value)) continue;
    text += fmt::format("<li>{}: {}</li>", Escaped(column.key.substr(0, end)), Escaped(std::get<std::string>(value)));
  }
  return text.empty() ? "" : "<ul class=\"plain\">" + text + "</ul>";
}

std::string Hosts(const Measurement& measurement) {
  std::vector<std::string> hosts;
  for (const BreakdownRow& host : measurement.hosts) hosts.push_back(host.name);
  std::sort(hosts.begin(), hosts.end(), IsBefore);
  std::string text;
  size_t shown = 0;
  for (const std::string& host : hosts) {
    if (++shown > 12) break;
    text += (text.empty() ? "" : ", ") + Name(host, 40);
  }
  if (hosts.size() > 12) text += fmt::format(" and {} more", hosts.size() - 12);
  return text;
}

std::string Input(const Measurement& measurement) {
  std::string text = fmt::format("{}, {}", Counted(measurement.files.size(), "file", "files"),
                                 Counted(measurement.datasets.size(), "dataset", "datasets"));
  const std::optional<double> bytes = measurement.Metric("bytes_read_compressed");
  if (bytes.has_value()) text += ", " + HumanData(*bytes) + " read";
  return Escaped(text);
}

}  // namespace

PageBlock EnvironmentBlock(const PageInput& input) {
  const Measurement& measurement = input.measurement;
  const RunFacts& run = measurement.run;
  const Provenance& provenance = measurement.provenance;
  PageBlock block = {"environment", "Environment", "What was run, on what, and how it was measured.", "", ""};
  std::string rows = Row("Command", Code(absl::StrJoin(run.command.value_or(std::vector<std::string>()), " ")));
  rows += Row("Run", Code(run.id));
  std::string state = Escaped(run.state);
  if (run.exit_status.has_value()) state += ", " + ExitStatusWords(std::llround(*run.exit_status));
  rows += Row("State", state);
  rows += Row("Hosts", Hosts(measurement));
  rows += Row("Input", Input(measurement));
  const std::optional<double> cores = measurement.Metric("allocated_cores");
  if (cores.has_value()) {
    rows += Row("Cores granted", Figure("metrics.allocated_cores", *cores, HumanNumber(*cores)) + " (" +
                                     Escaped(run.allocated_cores_source) + ")");
  }
  std::string measured = "crema " + Escaped(provenance.crema);
  if (const Number& records = measurement.quality.records_read; records.has_value()) {
    measured += ", " + Escaped(ExactCount(*records)) + " records";
  }
  if (!provenance.created.empty()) measured += ", " + Escaped(provenance.created);
  if (!provenance.host.empty()) measured += ", on " + Name(provenance.host, 40);
  rows += Row("Measured", measured);
  std::string origins = Row("Sources", Code(absl::StrJoin(provenance.sources, " ")));
  origins += Row("Bounds of the run", Escaped(run.boundary));
  origins += Row("Where figures come from", Sources(run));
  block.html = "<section class=\"card\"><dl class=\"facts\">\n" + rows +
               "</dl>\n<details><summary>where figures come from</summary><dl class=\"facts\">\n" + origins +
               "</dl></details></section>\n" + ChartCards(input, block.id);
  return block;
}

PageBlock GlossaryBlock(const PageInput& input) {
  PageBlock block = {"glossary", "Glossary", "Every figure of the measurement: what it is, and what it was.", "", ""};
  std::string rows;
  for (const MetricDefinition& definition : MetricCatalog()) {
    const std::string& key = definition.key;
    const MetricValue* value = input.measurement.metrics.Find(key);
    if (value == nullptr) continue;
    std::string shown = "<span class=\"quiet\">– " + Escaped(input.measurement.WhyNotMeasured(key)) + "</span>";
    if (const std::optional<double> number = input.measurement.Metric(key)) {
      shown = Figure("metrics." + key, *number, MetricText(key, *value, definition.unit));
    } else if (const auto* names = std::get_if<std::vector<std::string>>(value)) {
      shown = Escaped(Counted(names->size(), "name", "names"));
    }
    rows +=
        fmt::format("<tr id=\"term-{0}\"><th scope=\"row\">{1}<br><code>{0}</code></th><td>{2}</td><td>{3}</td></tr>\n",
                    Escaped(key), Escaped(definition.label), shown, Escaped(definition.text));
  }
  block.html = rows.empty()
                   ? "<section class=\"card\">" + Absent("Definitions", "the measurement holds none") + "</section>\n"
                   : "<section class=\"card\"><details id=\"glossary-table\"><summary>all figures</summary><div "
                     "class=\"scroll\"><table "
                     "class=\"glossary\"><caption>Figures, their values and definitions</caption><thead><tr><th "
                     "scope=\"col\">figure</th><th scope=\"col\">value</th><th "
                     "scope=\"col\">definition</th></tr></thead><tbody>\n" +
                         rows + "</tbody></table></div></details></section>\n";
  return block;
}

}  // namespace crema
