#include "collector/report/report_page.h"

#include <future>

#include "collector/diagnosis/run_head.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/sequences.h"
#include "collector/prediction/prediction.h"
#include "collector/records/json_fields.h"
#include "collector/report/html.h"

namespace crema {
namespace {

constexpr std::string_view kGenerator = "<meta name=\"generator\" content=\"crema report ";

/// `Sat 21 Nov 2026, 14:02:11 – 14:08:28 UTC`.
std::string When(const RunFacts& run) {
  const std::optional<RunTimes> times = TimesOf(run, {"%a %d %b %Y", ", "});
  if (!times.has_value()) return "";
  return fmt::format("<time datetime=\"{}\">{}</time>{} UTC", times->start_iso, times->start,
                     times->stop.empty() ? "" : " – " + times->stop);
}

std::string StatePill(const StateInWords& state) {
  if (state.mark.has_value()) return Pill(*state.mark, state.text);
  return fmt::format("<span class=\"pill info\">{}</span>",
                     state.ending == RunEnding::kRunning ? "still running: partial" : state.text);
}

std::string Head(const PageInput& input) {
  const Measurement& measurement = input.measurement;
  std::string facts = When(measurement.run);
  for (const std::string& fact : {Escaped(OnWhat(measurement)), Escaped(measurement.run.engine)}) {
    if (!fact.empty()) facts += (facts.empty() ? "" : " · ") + fact;
  }
  return fmt::format("<header class=\"head\" id=\"top\"><h1>{}</h1>{}<p class=\"when\">{}</p>{}</header>\n",
                     Name(RunName(measurement), 80), StatePill(StateOf(measurement)), facts, BaselineLine(input));
}

/// How many findings speak of each block.
size_t FindingsOf(const Measurement& measurement, std::string_view block) {
  return SumOf<size_t>(measurement.verdicts, [block](const VerdictRow& verdict) {
    const bool is_finding = verdict.severity == "warning" || verdict.severity == "bad";
    return is_finding && block != "overview" && BlockOfVerdict(verdict.id) == block;
  });
}

std::string Navigation(const Measurement& measurement, const std::vector<PageBlock>& blocks) {
  std::string html =
      "<nav aria-label=\"Sections\"><p class=\"brand\">crema</p><p class=\"brand-sub\">report · schema 1</p>\n<ul>\n";
  for (const PageBlock& block : blocks) {
    const size_t findings = FindingsOf(measurement, block.id);
    html +=
        fmt::format("<li><a href=\"#{}\">{}{}</a></li>\n", block.id, Escaped(block.title),
                    findings == 0 ? "" : fmt::format("<span class=\"badge\" title=\"findings\">{}</span>", findings));
  }
  html +=
      "</ul>\n<div class=\"js tools\"><button type=\"button\" id=\"theme\">Theme: automatic</button><button "
      "type=\"button\" id=\"print\">Print</button><button type=\"button\" id=\"help-button\">Help</button><p "
      "class=\"keys\">Keys: <b>j</b>/<b>k</b> section, <b>+</b>/<b>−</b> zoom, <b>←</b>/<b>→</b> pan, <b>?</b> "
      "help</p></div></nav>\n";
  return html;
}

constexpr std::string_view kHelp =
    "<dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl "
    "class=\"facts\"><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next, previous section</dd><dt><kbd>+</kbd> <kbd>−</kbd> "
    "<kbd>0</kbd></dt><dd>zoom the timeline in, out, show all of it</dd><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>move "
    "along the timeline</dd><dt><kbd>↑</kbd> <kbd>↓</kbd></dt><dd>choose a row of it; with <kbd>Shift</kbd> and "
    "<kbd>←</kbd> <kbd>→</kbd> a chunk</dd><dt><kbd>Enter</kbd></dt><dd>details of what is "
    "chosen</dd><dt><kbd>Esc</kbd></dt><dd>close</dd><dt>drag</dt><dd>select a time; double click shows "
    "all</dd></dl><p>Zoom, colours and hidden datasets are in the page’s address, so a link shows what you "
    "see.</p><form method=\"dialog\"><button type=\"submit\">Close</button></form></dialog>\n";

std::string BlockHtml(const PageBlock& block) {
  if (block.id == "overview") {
    return fmt::format("<section class=\"block\" id=\"overview\" aria-label=\"Overview\">\n{}</section>\n", block.html);
  }
  if (!block.brief.empty()) {
    return fmt::format(
        "<section class=\"block brief\" aria-labelledby=\"{0}\">\n<h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", block.id,
        Escaped(block.title), block.brief);
  }
  return fmt::format(
      "<section class=\"block\" aria-labelledby=\"{0}\">\n<div class=\"block-head\"><h2 id=\"{0}\">{1} <a "
      "class=\"anchor\" href=\"#{0}\" aria-label=\"Link to {1}\">#</a></h2>\n<p "
      "class=\"intro\">{2}</p></div>\n{3}</section>\n",
      block.id, Escaped(block.title), block.intro, block.html);
}

std::string Footer(const Measurement& measurement, const PageLimits& limits, size_t charts) {
  std::string html = fmt::format("<footer><p>Written by crema {}. This file is complete: it makes no network request. ",
                                 CREMA_VERSION_STRING);
  html += "The figures are those of measurement.json, schema " + Escaped(measurement.schema) + ".";
  if (charts > 0 && !kChartScript.text.empty()) html += " Charts are drawn by " + Escaped(kChartScriptVersions) + ".";
  html +=
      "</p>\n<p class=\"print\">Printed in part: further charts, the rest of long tables and the glossary are on the "
      "page itself.</p>\n";
  if (charts > 0 && kChartScript.text.empty()) {
    html +=
        "<p class=\"absent\">This crema was built without the packages that draw charts: run tools/setup page, build "
        "again, and write the report anew. All figures are in the tables.</p>\n";
  }
  for (const std::string& note : limits.notes) html += "<p>" + Escaped(note) + "</p>\n";
  return html + "</footer>\n";
}

std::string Policy(bool with_charts) {
  return fmt::format(
      "default-src 'none'; script-src {}{}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
      kPageScript.hash, with_charts ? " " + std::string(kChartScript.hash) : "", kPageStyle.hash);
}

/// Only engines keep these books. A finding that leads there needs its place.
bool MayHaveFineMetrics(const Measurement& measurement) {
  const bool has_finding =
      absl::c_any_of(measurement.verdicts, [](const VerdictRow& row) { return BlockOfVerdict(row.id) == "fine"; });
  return has_finding || !measurement.fine.empty() || measurement.run.engine.has_value();
}

/// Tables that no block shows row by row, folded: `blocks` are all those that might. The three that are left out have
/// a form of their own there.
PageBlock TablesBlock(const PageInput& input, const std::vector<PageBlock>& blocks) {
  constexpr std::array<std::string_view, 3> kInOwnForm = {"budget", "fine", "verdicts"};
  PageBlock block = {"tables", "Other tables", "Tables of the measurement that are not above."};
  for (const Table& table : Tables()) {
    const std::string figures = fmt::format("data-key=\"{}[", table.key);
    const bool is_above = absl::c_any_of(
        blocks, [&figures](const PageBlock& other) { return other.html.find(figures) != std::string::npos; });
    if (is_above || table.size(input.measurement) == 0 || absl::c_linear_search(kInOwnForm, table.key)) continue;
    block.html += Fold(table.key, DocumentHtmlTable(CellsOf(table, input.measurement),
                                                    {table.key, table.key, "", input.limits.table_rows}));
  }
  if (!block.html.empty()) block.html = "<div class=\"folds\">" + block.html + "</div>\n";
  return block;
}

std::string Write(const PageInput& input, const Json& chart_config) {
  std::vector<PageBlock> blocks;
  const bool is_tree_only = IsProcessTreeOnly(input.measurement);
  for (PageBlock (*make)(const PageInput&) :
       {OverviewBlock, TimelineBlock, TimeBlock, OutlookBlock, ThroughputBlock, WorkersBlock, ChunksBlock, InputsBlock,
        FineBlock, CustomBlock, FailuresBlock, EnvironmentBlock, GlossaryBlock}) {
    if (make == FineBlock && !MayHaveFineMetrics(input.measurement)) continue;
    if (make == EnvironmentBlock) {
      if (PageBlock tables = TablesBlock(input, blocks); !tables.html.empty()) blocks.push_back(std::move(tables));
    }
    const bool is_of_any_command = make == OverviewBlock || make == EnvironmentBlock || make == GlossaryBlock;
    if (!is_tree_only || is_of_any_command) blocks.push_back(make(input));
    if (is_tree_only && make == OverviewBlock) blocks.push_back(ProcessesBlock(input));
  }
  for (PageBlock& block : blocks) {
    if (block.brief.empty()) block.data += ChartData(input, block.id);
  }
  if (is_tree_only) {  // in place of the blocks that are empty
    blocks.front().html += fmt::format("<p class=\"card\" id=\"without-chunks\">No chunk was recorded. {} {}</p>\n",
                                       GuardOfChunks(input.measurement), kWhatGuardsAdd);
  }
  size_t charts = SumOf<size_t>(input.charts, [](const PageChart& chart) { return !chart.chart.spec.is_null(); });
  const bool draws = charts > 0 && !kChartScript.text.empty();
  std::string html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  html += fmt::format("{}{}\">\n", kGenerator, CREMA_VERSION_STRING);
  html += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", Policy(draws));
  html +=
      "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n";
  html += fmt::format("<title>{} · crema report</title>\n<style>{}</style>\n</head>\n<body>\n",
                      Escaped(RunName(input.measurement).substr(0, 200)), kPageStyle.text);
  html += "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n" + Navigation(input.measurement, blocks);
  html += "<main id=\"main\">\n" + Head(input);
  for (const PageBlock& block : blocks) html += BlockHtml(block);
  html += Footer(input.measurement, input.limits, charts) + "</main>\n";
  html += "<div id=\"tip\" role=\"status\" hidden></div>\n" + std::string(kHelp);
  for (const PageBlock& block : blocks) html += block.data;
  if (draws) {
    html += DataScript("chart-config", chart_config);
    // text, not a script, until the first chart comes into view
    html += fmt::format("<script type=\"text/plain\" id=\"chart-script\">{}</script>\n", kChartScript.text);
  }
  html += fmt::format("<script>{}</script>\n</body>\n</html>\n", kPageScript.text);
  return html;
}

/// Bytes and index of the charts that are drawn, those with the most to say first.
std::vector<std::pair<size_t, size_t>> LargestFirst(const std::vector<PageChart>& charts) {
  std::vector<std::pair<size_t, size_t>> sizes;
  for (size_t i = 0; i < charts.size(); ++i) {
    if (!charts[i].chart.spec.is_null()) sizes.emplace_back(JsonText(charts[i].chart.spec).size(), i);
  }
  absl::c_sort(sizes, std::greater<>());
  return sizes;
}

std::string_view FamilyOf(std::string_view name) {
  if (const ChartKind* kind = FindBy(ChartKinds(), &ChartKind::name, name)) return kind->family;
  return name.substr(0, 7) == "custom_" ? "Custom metrics" : "Comparison";
}

std::vector<PageChart> DrawCharts(const ChartInput& input) {
  std::vector<PageChart> charts;
  for (const std::string& name : ChartNames(input)) {
    absl::StatusOr<Chart> chart = MakeChart(name, input);
    if (!chart.ok() || FamilyOf(name) == "Comparison") continue;
    charts.push_back({std::string(FamilyOf(name)), *std::move(chart)});
  }
  return charts;
}

// Replaying more takes longer than anybody waits for a page.
constexpr double kMostReplayed = 500'000;

RunOutlook RefusedOutlook(const std::string& reason) {
  RunOutlook outlook;
  outlook.prediction.refused = reason;
  return outlook;
}

RunOutlook LookOut(const ExportSource& source) {
  if (const double chunks = source.measurement.Metric("num_attempts").value_or(0); chunks > kMostReplayed) {
    return RefusedOutlook(fmt::format("it has {}; crema predict replays them, which takes longer",
                                      Counted(chunks, "attempt", "attempts")));
  }
  const std::string section = LargestSection(source.measurement);
  RunObserver observer(section);
  const absl::Status read = source.for_each_attempt([&observer](const Attempt& attempt) { observer.Add(attempt); });
  if (!read.ok()) return RefusedOutlook(std::string(read.message()));
  const ObservedRun run = observer.Finish(source.measurement);
  RunOutlook outlook = {Predict(run, UsualChanges(run, section)), PredictScaling(source.measurement, run)};
  SortBestFirst(&outlook.prediction);
  return outlook;
}

/// Null: the document has no functions, or the records are gone.
Json ReadFlames(const ExportSource& source) {
  if (source.measurement.functions.empty()) return nullptr;
  const absl::StatusOr<SampledStacks> stacks = ReadSampledStacks(source);
  return stacks.ok() ? FlamesOf(*stacks) : Json();
}

absl::Status WriteReport(const ExportSource& source, const std::string&, TextSink* sink) {
  // It reads the records by itself. Where the system refuses a thread, it is done later.
  std::future<RunOutlook> looks_out =
      std::async(std::launch::async | std::launch::deferred, [&source] { return LookOut(source); });
  const RunDetail detail = ReadRunDetail(source.measurement, source.for_each_attempt, {}, source.for_each_task);
  ChartInput input = {&source.measurement, &detail};
  std::optional<RunDetail> baseline_detail;
  if (source.baseline != nullptr) {
    baseline_detail = ReadRunDetail(source.baseline->measurement, source.baseline->for_each_attempt);
    input.baseline = &source.baseline->measurement;
    input.baseline_detail = &*baseline_detail;
  }
  const Json flames = ReadFlames(source);
  const RunOutlook outlook = looks_out.get();
  std::vector<PageChart> charts = DrawCharts(input);
  charts.push_back({"What would help", MakePredictionChart(outlook.prediction)});
  charts.push_back({"What would help", MakeScalingChart(outlook.scaling)});
  const Json config = {{"light", ChartConfig(ChartTheme::kLight)}, {"dark", ChartConfig(ChartTheme::kDark)}};
  sink->Write(ReportPage(source.measurement, detail, charts, config, input.baseline, kLargestPage, &outlook,
                         flames.is_null() ? nullptr : &flames));
  return absl::OkStatus();
}

}  // namespace

std::string ReportPage(const Measurement& measurement, const RunDetail& detail, const std::vector<PageChart>& charts,
                       const Json& chart_config, const Measurement* baseline, size_t largest, const RunOutlook* outlook,
                       const Json* flames) {
  PageLimits limits;
  if (!detail.timeline_is_exact && detail.row_kind != "thread" && !detail.rows.empty()) {
    limits.notes.push_back(fmt::format("Threads were merged: the timeline has one row per {}.", detail.row_kind));
  }
  if (detail.failed_left_out > 0) {
    limits.notes.push_back(
        fmt::format("{} further failed or repeated attempts are not listed.", ExactCount(detail.failed_left_out)));
  }
  struct Step {
    size_t table_rows;
    bool sections, tasks;
    std::string_view note;
  };
  constexpr std::array<Step, 4> kSteps = {
      {{200, true, true, ""},
       {200, false, true, "To keep the file small, sections of single chunks were left out."},
       {200, false, false, "To keep the file small, the engine's tasks are not drawn."},
       {50, false, false, "To keep the file small, tables end after 50 rows."}}};
  std::string html;
  for (const Step& step : kSteps) {
    limits.table_rows = step.table_rows;
    limits.sections_of_chunks = step.sections;
    limits.tasks = step.tasks;
    if (!step.tasks && detail.tasks.empty() && step.table_rows > 50) continue;  // there are none to leave out
    if (!step.note.empty()) limits.notes.emplace_back(step.note);
    html = Write({measurement, detail, charts, limits, baseline, outlook, flames}, chart_config);
    if (html.size() <= largest) return html;
  }
  // What still is too much are charts with a mark for each of many names.
  limits.notes.emplace_back("To keep the file small, the largest charts were left out.");
  std::vector<PageChart> fewer = charts;
  const std::vector<std::pair<size_t, size_t>> sizes = LargestFirst(charts);
  for (size_t next = 0; next < sizes.size() && html.size() > largest;) {
    // As many at once as may be enough: a page with a thousand charts takes a second to write.
    size_t still_too_much = html.size() - largest;
    while (next < sizes.size() && still_too_much > 0) {
      const auto& [bytes, index] = sizes[next++];
      Chart& chart = fewer[index].chart;
      chart.reason = "it would make this page too large; `crema plot " + chart.name + "` draws it";
      chart.spec = nullptr;
      still_too_much -= std::min(still_too_much, bytes);
    }
    html = Write({measurement, detail, fewer, limits, baseline, outlook, flames}, chart_config);
  }
  return html;
}

bool IsReportPage(std::string_view beginning) {
  return beginning.substr(0, 9) == "<!doctype" && beginning.find(kGenerator) != std::string_view::npos;
}

const ExportFormat& ReportFormat() {
  static constexpr ExportFormat kFormat = {"report", "one offline page", WriteReport, nullptr, IsReportPage,
                                           "",       "crema report"};
  return kFormat;
}

}  // namespace crema
