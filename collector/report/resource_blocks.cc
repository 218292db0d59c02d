// Throughput and workers: what came through, and who did it.

#include "collector/appearance/human_numbers.h"
#include "collector/charts/time_lines.h"
#include "collector/insight/tree_figures.h"
#include "collector/measurement/catalog.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

std::string Rates(const Measurement& measurement) {
  struct Rate {
    std::string_view key;
    std::string_view label;
  };
  constexpr Rate kRates[] = {{"event_rate_wall_khz", "events per second of the run"},
                             {"event_rate_agg_khz", "events per second of busy time"},
                             {"event_rate_cpu_khz", "events per second of CPU time"},
                             {"event_rate_core_hz", "events per second and core"},
                             {"overall_rate_gbps", "data rate"},
                             {"compression_ratio", "uncompressed by compressed bytes"}};
  std::string rows;
  for (const Rate& rate : kRates) {
    const std::optional<double> value = measurement.Metric(rate.key);
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td></tr>\n",
                        Term(measurement, rate.key, rate.label),
                        value.has_value() ? Figure("metrics." + std::string(rate.key), *value,
                                                   HumanQuantity(rate.key, *value, FindMetric(rate.key)->unit))
                                          : "–",
                        value.has_value() ? "" : Escaped(measurement.WhyNotMeasured(rate.key)));
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
      "class=\"budget\"><caption>Core-seconds by what they were used for</caption><tbody>\n{}</tbody></table></div>"
      "</section>\n",
      Escaped(Counted(budget->cores, "core", "cores")), SplitBar(shares), rows);
}

}  // namespace

PageBlock ThroughputBlock(const PageInput& input) {
  PageBlock block = {"throughput", "Throughput",
                     "What came through over time; each panel has its own axis, and both share the timeline's.", "",
                     ""};
  block.html = ChartCards(input, block.id, Rates(input.measurement));
  return block;
}

PageBlock ProcessesBlock(const PageInput& input) {
  const std::vector<ProcessUseRow>& processes = input.measurement.processes;
  PageBlock block = {"processes", "Processes", "The command and all processes that it started, as sampled.", "", ""};
  block.html = TreeBudgetCard(input.measurement) + ChartCards(input, block.id);
  if (!processes.empty()) {
    block.html +=
        "<section class=\"card\"><h3>Per process</h3>\n" +
        DocumentHtmlTable(CellsOf(processes), {"processes", "Processes", "cpu", input.limits.table_rows, "cpu"}) +
        "</section>\n";
  }
  return block;
}

PageBlock WorkersBlock(const PageInput& input) {
  std::vector<WorkerRow> workers = input.measurement.workers;
  PageBlock block = {"workers", "Workers", "", "", ""};
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

}  // namespace crema
