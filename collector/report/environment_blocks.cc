// How the run was made, and what its words mean.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "collector/appearance/human_numbers.h"
#include "collector/appearance/worker_names.h"
#include "collector/document/document_fields.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/writers/metric_text.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

std::string Row(std::string_view label, const std::string& html) {
  return html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", Escaped(label), html);
}

std::string Words(const Json& list) {
  std::string text;
  for (const Json& item : list) {
    if (item.is_string()) text += (text.empty() ? "" : " ") + item.get<std::string>();
  }
  return text;
}

std::string Code(const std::string& text) { return text.empty() ? "" : "<code>" + Name(text, 600) + "</code>"; }

std::string Sources(const Json& run) {
  std::string text;
  for (const auto& [key, value] : run.items()) {
    if (key.size() < 7 || key.substr(key.size() - 7) != "_source" || !value.is_string()) continue;
    text += fmt::format("<li>{}: {}</li>", Escaped(key.substr(0, key.size() - 7)),
                        Escaped(value.get_ref<const std::string&>()));
  }
  return text.empty() ? "" : "<ul class=\"plain\">" + text + "</ul>";
}

std::string Hosts(const Json& document) {
  std::vector<std::string> hosts;
  for (const Json& host : ListField(document, "hosts")) hosts.push_back(TextField(host, "name"));
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

std::string Input(const Json& document) {
  std::string text =
      fmt::format("{}, {}", Counted(static_cast<double>(ListField(document, "files").size()), "file", "files"),
                  Counted(static_cast<double>(ListField(document, "datasets").size()), "dataset", "datasets"));
  const std::optional<double> bytes = Metric(document, "bytes_read_compressed");
  if (bytes.has_value()) text += ", " + HumanData(*bytes) + " read";
  return Escaped(text);
}

}  // namespace

PageBlock EnvironmentBlock(const PageInput& input) {
  const Json& document = input.document;
  const Json& run = Field(document, "run");
  const Json& provenance = Field(document, "provenance");
  const Json& quality = Field(document, "quality");
  PageBlock block = {"environment", "Environment", "What was run, on what, and how it was measured.", "", ""};
  std::string rows = Row("Command", Code(Words(ListField(run, "command"))));
  rows += Row("Run", Code(TextField(run, "id")));
  const std::optional<double> exit_status = NumberField(run, "exit_status");
  std::string state = Escaped(TextField(run, "state"));
  if (exit_status.has_value()) state += fmt::format(", exit status {:.0f}", *exit_status);
  rows += Row("State", state);
  rows += Row("Hosts", Hosts(document));
  rows += Row("Input", Input(document));
  const std::optional<double> cores = Metric(document, "allocated_cores");
  if (cores.has_value()) {
    rows += Row("Cores granted", Figure("metrics.allocated_cores", *cores, HumanNumber(*cores)) + " (" +
                                     Escaped(TextField(run, "allocated_cores_source")) + ")");
  }
  std::string measured = "crema " + Escaped(TextField(provenance, "crema"));
  if (const auto records = NumberField(quality, "records_read"); records.has_value()) {
    measured += ", " + Escaped(ExactCount(*records)) + " records";
  }
  if (const std::string created = TextField(provenance, "created"); !created.empty())
    measured += ", " + Escaped(created);
  if (const std::string host = TextField(provenance, "host"); !host.empty()) measured += ", on " + Name(host, 40);
  rows += Row("Measured", measured);
  std::string origins = Row("Sources", Code(Words(ListField(provenance, "sources"))));
  origins += Row("Bounds of the run", Escaped(TextField(run, "boundary")));
  origins += Row("Where figures come from", Sources(run));
  block.html = "<section class=\"card\"><dl class=\"facts\">\n" + rows +
               "</dl>\n<details><summary>where figures come from</summary><dl class=\"facts\">\n" + origins +
               "</dl></details></section>\n" + ChartCards(input, block.id);
  block.data = ChartData(input, block.id);
  return block;
}

PageBlock GlossaryBlock(const PageInput& input) {
  PageBlock block = {"glossary", "Glossary", "Every figure of the measurement: what it is, and what it was.", "", ""};
  const Json& definitions = Field(input.document, "definitions");
  const Json& metrics = Field(input.document, "metrics");
  std::string rows;
  if (definitions.is_object()) {
    for (const auto& [key, definition] : definitions.items()) {
      if (definition.contains("alias_of")) continue;
      const Json& value = Field(metrics, key);
      const std::string unit = TextField(definition, "unit");
      const std::string shown =
          value.is_number()  ? Figure("metrics." + key, value.get<double>(), MetricText(key, value, unit))
          : value.is_null()  ? "<span class=\"quiet\">– " + Escaped(WhyNotMeasured(input.document, key)) + "</span>"
          : value.is_array() ? Escaped(Counted(static_cast<double>(value.size()), "name", "names"))
                             : Escaped(MetricText(key, value, unit));
      rows += fmt::format(
          "<tr id=\"term-{0}\"><th scope=\"row\">{1}<br><code>{0}</code></th><td>{2}</td><td>{3}</td></tr>\n",
          Escaped(key), Escaped(TextField(definition, "label")), shown, Escaped(TextField(definition, "text")));
    }
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
