// What was read, and what users and the engine counted: datasets, files, branches, fine and custom metrics, cuts.
#include "absl/strings/str_join.h"
#include "collector/diagnosis/evidence.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/terminal/document_table.h"

namespace crema {
namespace {

/// A panel of a switch: the first is shown, the others where scripts run when they are chosen. Without scripts all are.
struct Panel {
  std::string id, label, html;
};

std::string Switched(std::string_view label, const std::vector<Panel>& panels, std::string_view heading) {
  std::string html =
      fmt::format("<div class=\"card-head\"><h3>{}</h3><div class=\"switch js\" role=\"tablist\" aria-label=\"{}\">",
                  Escaped(heading), Escaped(label));
  for (size_t i = 0; i < panels.size(); ++i) {
    html += fmt::format(
        "<button type=\"button\" role=\"tab\" id=\"tab-{0}\" aria-controls=\"panel-{0}\" "
        "aria-selected=\"{1}\">{2}</button>",
        panels[i].id, i == 0 ? "true" : "false", Escaped(panels[i].label));
  }
  html += "</div></div>\n";
  for (const Panel& panel : panels) {
    html +=
        fmt::format("<div class=\"panel\" role=\"tabpanel\" id=\"panel-{0}\" aria-labelledby=\"tab-{0}\">{1}</div>\n",
                    panel.id, panel.html);
  }
  return html;
}

std::string Counted(std::string_view word, size_t count) { return fmt::format("{} ({})", word, ExactCount(count)); }

/// The branches that were read, by name; empty where they are not known.
const std::vector<std::string>& ColumnsOf(const Measurement& measurement) {
  static const std::vector<std::string> kNone;
  const MetricValue* value = measurement.metrics.Find("columns");
  const auto* columns = value == nullptr ? nullptr : std::get_if<std::vector<std::string>>(value);
  return columns == nullptr ? kNone : *columns;
}

std::string BranchesPanel(const Measurement& measurement) {
  constexpr size_t kMost = 1000;
  const std::vector<std::string>& columns = ColumnsOf(measurement);
  if (columns.empty()) return Absent("Branches", measurement.WhyNotMeasured("columns"));
  std::string items;
  for (size_t i = 0; i < std::min(kMost, columns.size()); ++i) {
    items += fmt::format("<li><code>{}</code></li>", Name(columns[i], 60));
  }
  return fmt::format("<ul class=\"branches\">{}</ul>{}", items,
                     columns.size() > kMost
                         ? fmt::format("<p class=\"more\">{} more in measurement.json.</p>", columns.size() - kMost)
                         : "");
}

/// "38 of the branches were read (9 %), holding 21 % of the stored bytes; compression ratio 4.1."
std::string DataAccess(const Measurement& measurement) {
  std::vector<std::string> parts;
  const std::optional<double> columns = measurement.Metric("num_columns_read");
  const std::optional<double> ratio = measurement.Metric("compression_ratio");
  if (columns.has_value()) {
    parts.push_back(Figure("metrics.num_columns_read", *columns, HumanCount(*columns)) + " branches were read");
  }
  const auto add_share = [&](const char* key, const char* of, const char* name) {
    const std::optional<double> share = measurement.Metric(key);
    parts.push_back(share.has_value() ? Figure("metrics." + std::string(key), *share, HumanPercent(*share)) + of
                                      : name + Escaped(measurement.WhyNotMeasured(key)));
  };
  add_share("branches_read_share", " of all branches", "share of branches: ");
  add_share("bytes_read_share", " of the stored bytes", "share of bytes: ");
  if (ratio.has_value())
    parts.push_back("compression ratio " + Figure("metrics.compression_ratio", *ratio, HumanNumber(*ratio)));
  return "<p class=\"more\">Data access: " + absl::StrJoin(parts, "; ") + ".</p>\n";
}

/// Fine metrics by one label: rows are its values, columns the activities, values summed.
struct FineView {
  std::string id;
  Text FineRow::*field;
  std::string_view label;
};

/// One row of a view and what it adds up to.
struct FineSums {
  std::map<std::string, double> by_activity;
  double total = 0;
};

/// `rows` have this unit, and values.
std::string FineTable(const std::vector<const FineRow*>& rows, const FineView& view, const std::string& unit,
                      size_t most_rows) {
  std::map<std::string, FineSums> sums;
  std::map<std::string, double> activities;
  for (const FineRow* row : rows) {
    const Text& name = row->*view.field;
    FineSums& sum = sums[name.has_value() ? name.str() : "(none)"];
    sum.by_activity[row->activity] += *row->value;
    sum.total += *row->value;
    activities[row->activity] += *row->value;
  }
  std::vector<std::pair<std::string, double>> columns(activities.begin(), activities.end());
  SortLargestFirst(&columns, [](const auto& column) { return column.second; });
  constexpr size_t kMostColumns = 10;
  const auto text_of = [&unit](double value) {
    if (unit == "seconds") return HumanDuration(value);
    return unit == "bytes" ? HumanData(value) : HumanNumber(value);
  };
  HtmlTable table;
  table.caption = fmt::format("Fine metrics by {}, in {}", view.label, unit);
  table.sorted_by = "total";
  table.columns = {{std::string(view.label), false}, {"total"}};
  const bool has_activities = view.field != &FineRow::activity;
  const size_t shown = has_activities ? std::min(columns.size(), kMostColumns) : 0;
  for (size_t i = 0; i < shown; ++i) table.columns.push_back({columns[i].first});
  std::vector<std::pair<std::string, FineSums>> order(sums.begin(), sums.end());
  SortLargestFirst(&order, [](const auto& row) { return row.second.total; });
  const double most = order.front().second.total;
  for (const auto& [name, sum] : order) {
    if (table.rows.size() == most_rows) break;
    std::vector<HtmlCell> cells = {
        {Name(name, 60)}, {Bar(most > 0 ? sum.total / most : 0, "cpu") + Escaped(text_of(sum.total)), sum.total}};
    for (size_t i = 0; i < shown; ++i) {
      const auto found = sum.by_activity.find(columns[i].first);
      const double value = found == sum.by_activity.end() ? 0 : found->second;
      cells.push_back({found == sum.by_activity.end() ? "" : Escaped(text_of(value)), value});
    }
    table.rows.push_back(std::move(cells));
  }
  table.left_out = order.size() - table.rows.size();
  std::string html = Render(table);
  if (has_activities && columns.size() > kMostColumns) {
    html += fmt::format("<p class=\"more\">{} more activities are in the total and in measurement.json.</p>\n",
                        columns.size() - kMostColumns);
  }
  return html;
}

std::string FineCard(const PageInput& input, const FineView& view, bool of_transfer = false) {
  constexpr size_t kMostUnits = 20;
  std::map<std::pair<ptrdiff_t, std::string>, std::vector<const FineRow*>> rows_of_unit;  // usual units come first
  for (const FineRow& row : input.measurement.fine) {
    if (row.IsTransfer() != of_transfer || !row.value.has_value()) continue;
    const std::string_view usual[] = {"seconds", "bytes", "count"};
    rows_of_unit[{absl::c_find(usual, row.unit.str()) - usual, row.unit}].push_back(&row);
  }
  if (rows_of_unit.empty()) return "";
  std::vector<Panel> panels;
  for (const auto& [unit, rows] : rows_of_unit) {
    if (panels.size() == kMostUnits) break;
    panels.push_back({fmt::format("{}-{}", view.id, panels.size()), unit.second,
                      FineTable(rows, view, unit.second, input.limits.table_rows)});
  }
  std::string html =
      Switched("unit", panels, (of_transfer ? "Sent between workers, by " : "By ") + std::string(view.label));
  if (const size_t more = rows_of_unit.size() - panels.size(); more > 0) {
    html +=
        fmt::format("<p class=\"more\">Units left out: {}; <code>crema show --table fine</code> has them.</p>", more);
  }
  return fmt::format("<section class=\"card\" id=\"{}\">{}</section>\n", view.id, html);
}

std::string CutFlowCard(const Measurement& measurement) {
  const std::vector<CutRow>& cuts = measurement.cuts;
  if (cuts.empty()) {
    return "<section class=\"card\" id=\"cut-flow\"><h3>Cut flow</h3>" +
           Absent("Cuts", "no chunk recorded one (RecordCut)") + "</section>\n";
  }
  const double most = LargestBy(cuts, [](const CutRow& cut) { return cut.events.value_or(0); }).second;
  const bool is_list = CutRow::AreList(cuts);
  HtmlTable table;
  table.caption = "Events left after each cut";
  table.columns = {{"cut", false},
                   {"events left"},
                   {is_list ? "of the step before" : "of its input"},
                   {"of all"},
                   {"sum of weights"}};
  for (size_t i = 0; i < cuts.size(); ++i) {
    const CutRow& cut = cuts[i];
    const std::string key = fmt::format("cuts[{}].", i);
    HtmlCell events = FieldCell(CellOf(cut.events), Kind::kExactCount, key + "events");
    const double share = most > 0 ? events.number.value_or(0) / most : 0;
    events.html = Bar(share, "events") + events.html;
    HtmlCell name = FieldCell(CellOf(Text(cut.Shown())), Kind::kText, "");
    for (size_t before = cut.Depth(); before > 0; --before) name.html.insert(0, "&emsp;");
    table.rows.push_back({std::move(name), std::move(events),
                          FieldCell(CellOf(cut.step_efficiency), Kind::kShare, key + "step_efficiency"),
                          FieldCell(CellOf(cut.total_efficiency), Kind::kShare, key + "total_efficiency"),
                          FieldCell(CellOf(cut.weights), Kind::kNumber, key + "weights")});
  }
  const LostWorkers lost = FindLostWorkers(measurement);
  std::string doubt;
  if (lost.uncertain_chunks > 0) {
    const std::string range = RangeOfResults(lost, measurement.Metric("total_events").value_or(0));
    doubt = fmt::format(
        "<p class=\"more\">{} had ended in workers that vanished. Where their results were not used, these counts are "
        "too high{}.</p>\n",
        Escaped(crema::Counted(lost.uncertain_chunks, "chunk", "chunks")),
        range.empty() ? "" : Escaped(": the results are of " + range));
  }
  return "<section class=\"card cutflow\" id=\"cut-flow\"><h3>" + std::string(is_list ? "Cut list" : "Cut flow") +
         "</h3>\n" + Render(table) + doubt + "</section>\n";
}

}  // namespace

PageBlock InputsBlock(const PageInput& input) {
  const Measurement& measurement = input.measurement;
  PageBlock block = {"inputs", "Datasets and files", "What was read, and how fast each part of it went."};
  std::vector<Panel> panels;
  const auto add = [&](std::string_view table, std::string_view caption, std::string_view word) {
    const CellTable cells = CellsOf(*FindTable(table), measurement);
    panels.push_back({std::string(table), Counted(word, cells.rows.size()),
                      cells.rows.empty() ? Absent(caption, WhyNoRows(table, measurement))
                                         : DocumentHtmlTable(cells, {table, caption, "duration_sum",
                                                                     input.limits.table_rows, "duration_sum", 5})});
  };
  add("datasets", "Datasets", "dataset");
  add("files", "Files", "file");
  panels.push_back({"branches", Counted("branch", ColumnsOf(measurement).size()), BranchesPanel(measurement)});
  block.html = "<section class=\"card\">" + Switched("what the rows are", panels, "By dataset, file, branch") +
               DataAccess(measurement) + "</section>\n";
  block.html += TableCard(CellsOf(measurement.requests), "requests",
                          "By server and operation. Requests may overlap; the sections’ times do not include theirs.",
                          {"requests", "Requests to storage", "seconds", input.limits.table_rows, "seconds", 4});
  block.html +=
      TableCard(CellsOf(measurement.waits), "waits", "The blocked time of your code is exact; samples divide it.",
                {"waits", "What threads waited for", "seconds", input.limits.table_rows, "seconds", 4});
  block.html += ChartCards(input, block.id);
  return block;
}

PageBlock FineBlock(const PageInput& input) {
  PageBlock block = {"fine", "Fine metrics"};
  if (input.measurement.fine.empty()) {
    block.brief = "<p class=\"absent\">" + Escaped(input.measurement.WhyNotMeasured("cpu_time_seconds")) + ".</p>\n";
    return block;
  }
  const Number& coverage = input.measurement.quality.fine_metrics_coverage;
  block.intro = "Activities as the engine accounts for them. ";
  block.intro += coverage.has_value()
                     ? fmt::format("They cover {} of compute time. ",
                                   Figure("quality.fine_metrics_coverage", *coverage, HumanPercent(*coverage, 1)))
                     : "How much of compute time they cover is not known. ";
  block.intro +=
      "<code>disk-read</code>, <code>disk-write</code> and <code>memory-read</code> are Dask’s own spilling and "
      "dependencies, not the reading of input.";
  for (const FineView& view : std::array<FineView, 4>{{{"fine-function", &FineRow::function, "function"},
                                                       {"fine-activity", &FineRow::activity, "activity"},
                                                       {"fine-span", &FineRow::span, "span"},
                                                       {"fine-worker", &FineRow::worker, "worker"}}}) {
    block.html += FineCard(input, view);
  }
  block.html += FineCard(input, {"fine-sent", &FineRow::activity, "activity"}, true);
  block.html += ChartCards(input, block.id);
  return block;
}

PageBlock CustomBlock(const PageInput& input) {
  const std::vector<CustomMetricRow>& metrics = input.measurement.custom_metrics;
  PageBlock block = {"custom", "Custom metrics", "What your code counted, and what its cuts left."};
  if (metrics.empty() && input.measurement.cuts.empty()) {
    block.brief =
        "<p class=\"absent\">no chunk recorded one (RecordMetric), or counted events after cuts (RecordCut).</p>\n";
    return block;
  }
  block.html = CutFlowCard(input.measurement);
  if (!metrics.empty()) {
    block.html +=
        "<section class=\"card\"><h3>Metrics</h3>\n" +
        DocumentHtmlTable(CellsOf(metrics), {"custom_metrics", "Custom metrics", "", input.limits.table_rows, ""}) +
        "</section>\n";
  }
  block.html += ChartCards(input, block.id);
  return block;
}

}  // namespace crema
