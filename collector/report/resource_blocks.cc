// Throughput and workers: what came through, and who did it.

#include "absl/strings/str_join.h"
#include "collector/charts/time_charts.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/measurement/catalog.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/terminal/document_table.h"

namespace crema {
namespace {

std::string Rates(const Measurement& measurement) {
  constexpr std::pair<std::string_view, std::string_view> kRates[] = {
      {"event_rate_wall_khz", "events per second of the run"},
      {"event_rate_agg_khz", "events per second of busy time"},
      {"event_rate_cpu_khz", "events per second of CPU time"},
      {"event_rate_core_hz", "events per second and core"},
      {"overall_rate_gbps", "data rate"},
      {"compression_ratio", "uncompressed by compressed bytes"}};
  std::string rows;
  for (const auto& [key, label] : kRates) {
    const std::optional<double> value = measurement.Metric(key);
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td></tr>\n", Term(measurement, key, label),
        value.has_value()
            ? Figure("metrics." + std::string(key), *value, HumanQuantity(key, *value, FindMetric(key)->unit))
            : "–",
        value.has_value() ? "" : Escaped(measurement.WhyNotMeasured(key)));
  }
  return Fold("rates", "<div class=\"scroll\"><table><caption>Rates of the whole run</caption><tbody>\n" + rows +
                           "</tbody></table></div>");
}

/// What the cores did that the command was given.
std::string TreeBudgetCard(const Measurement& measurement) {
  const std::optional<TreeBudget> budget = ReadTreeBudget(measurement);
  if (!budget.has_value()) return "";
  std::vector<ColouredShare> shares;
  std::string rows;
  for (const TreeBudgetPart& part : budget->parts) {
    shares.push_back({std::string(part.name), part.colour, part.share});
    rows += fmt::format(
        "<tr class=\"group\"><th scope=\"row\"><span class=\"key {}\"></span> {}</th><td class=\"n\">{}</td><td "
        "class=\"n share\">{}</td></tr>\n",
        part.colour, part.name, Escaped(HumanDuration(part.core_seconds)), Escaped(HumanPercent(part.share, 1)));
  }
  return fmt::format(
      "<section class=\"card\" id=\"tree-budget\"><h3>What its {} did</h3>\n{}<div class=\"scroll\"><table "
      "class=\"budget\"><caption>Core-seconds by what they were used "
      "for</caption><tbody>\n{}</tbody></table></div></section>\n",
      Escaped(Counted(budget->cores, "core", "cores")), SplitBar(shares), rows);
}

}  // namespace

PageBlock ThroughputBlock(const PageInput& input) {
  PageBlock block = {"throughput", "Throughput",
                     "Events and bytes over time. Each panel has its own scale; both share the timeline's time axis."};
  block.html = ChartCards(input, block.id, Rates(input.measurement));
  return block;
}

PageBlock ProcessesBlock(const PageInput& input) {
  const std::vector<ProcessUseRow>& processes = input.measurement.processes;
  PageBlock block = {"processes", "Processes", "The command and all processes that it started, as sampled."};
  block.html = TreeBudgetCard(input.measurement) + ChartCards(input, block.id);
  if (!processes.empty()) {
    block.html +=
        "<section class=\"card\"><h3>Per process, to its last sample</h3>\n" +
        DocumentHtmlTable(CellsOf(processes), {"processes", "Processes", "cpu", input.limits.table_rows, "cpu"}) +
        "</section>\n";
  }
  return block;
}

PageBlock WorkersBlock(const PageInput& input) {
  std::vector<WorkerRow> workers = input.measurement.workers;
  PageBlock block = {"workers", "Workers"};
  block.intro = fmt::format("{}, the busiest first.", Counted(workers.size(), "worker", "workers"));
  block.html = ChartCards(input, block.id);
  if (workers.empty()) {
    block.intro = "Who did the work.";
    block.html += "<section class=\"card\">" +
                  Absent("Workers", "no process recorded a chunk, and no scheduler reported workers") + "</section>\n";
  } else {
    const WorkerNames names = NamesOfWorkers(input.measurement);
    for (WorkerRow& worker : workers) worker.name = names.Of(worker.name);
    block.html += "<section class=\"card\"><h3>Per worker</h3>\n" +
                  DocumentHtmlTable(CellsOf(workers),
                                    {"workers", "Workers", "duration_sum", input.limits.table_rows, "duration_sum"}) +
                  "</section>\n";
  }
  return block;
}

// How the run was made, and what its words mean.

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
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, hosts.size()); ++i) text += (i == 0 ? "" : ", ") + Name(hosts[i], 40);
  if (hosts.size() > kMost) text += fmt::format(" and {} more", hosts.size() - kMost);
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
  PageBlock block = {"environment", "Environment", "What was run, on what, and how it was measured."};
  std::string rows = Row("Command", Code(absl::StrJoin(run.command.value_or(std::vector<std::string>()), " ")));
  rows += Row("Run", Code(run.id));
  std::string state = Escaped(run.state);
  if (run.exit_status.has_value())
    state += (state.empty() ? "" : ", ") + ExitStatusWords(std::llround(*run.exit_status));
  rows += Row("State", state);
  rows += Row("Hosts", Hosts(measurement));
  rows += Row("Input", Input(measurement));
  if (const std::optional<double> cores = measurement.Metric("allocated_cores"); cores.has_value()) {
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
  PageBlock block = {"glossary", "Glossary", "Every figure of the measurement: its definition and its value."};
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
                     "class=\"scroll\"><table class=\"glossary\"><caption>Figures, their values and "
                     "definitions</caption><thead><tr><th scope=\"col\">figure</th><th scope=\"col\">value</th><th "
                     "scope=\"col\">definition</th></tr></thead><tbody>\n" +
                         rows + "</tbody></table></div></details></section>\n";
  return block;
}

}  // namespace crema
