// Where the core-seconds went: the budget, which adds up, the phases, and the sections inside the chunks.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/budget_rows.h"
#include "collector/insight/event_lines.h"
#include "collector/insight/thresholds.h"
#include "collector/insight/wait_words.h"
#include "collector/measurement/budget_parts.h"
#include "collector/measurement/measurement_json.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/writers/summary_blocks.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

BudgetGroupKind GroupOf(std::string_view name) {
  const BudgetGroupKind* known = FindBudgetGroup(name);
  return known == nullptr ? BudgetGroupKind{name, "unknown", ""} : *known;
}

std::string PartName(std::string_view part) {
  const BudgetPartKind* known = FindBudgetPart(part);
  return std::string(known == nullptr ? part : known->name);
}

std::string Exact(double seconds) { return HumanDuration(seconds); }

/// What a section outside chunks took is wall time, so that it is no share of the cores'.
std::string OutsideRows(const Measurement& measurement) {
  std::string html;
  for (const OutsideSection& section : LongestOutsideChunks(measurement)) {
    html +=
        fmt::format("<tr class=\"part\"><th scope=\"row\">section {}</th><td class=\"n\">{} wall</td><td></td></tr>\n",
                    Escaped(section.path), Escaped(Exact(section.self)));
  }
  return html;
}

/// What the blocked part was spent on, as far as samples show it.
std::string WaitRows(const Measurement& measurement, const BudgetPart& part) {
  constexpr double kLeastShare = 0.005;  // of the core-seconds
  std::string html;
  if (part.part != "blocked") return html;
  for (const WaitShare& wait : WaitShares(measurement)) {
    const double share = wait.share * part.share;
    if (share < kLeastShare) break;
    html += fmt::format(
        "<tr class=\"part\"><th scope=\"row\">blocked: {}</th><td class=\"n\">≈ {}</td><td class=\"n\">{}</td></tr>\n",
        Escaped(wait.kind), Escaped(Exact(wait.share * part.core_seconds)), Escaped(HumanPercent(share, 1)));
  }
  return html;
}

std::string BudgetTable(const Measurement& measurement, const BudgetRows& budget) {
  std::string html =
      "<div class=\"scroll\"><table class=\"budget\"><caption>Core-seconds by what they were used "
      "for</caption>\n<thead><tr>"
      "<th scope=\"col\">Share of all core time</th><th scope=\"col\" class=\"n\">core time</th><th scope=\"col\" "
      "class=\"n\">share</th></tr></thead>\n<tbody>\n";
  for (const BudgetGroup& group : budget.groups) {
    const BudgetGroupKind known = GroupOf(group.group);
    const std::string value =
        group.core_seconds.has_value()
            ? fmt::format("<td class=\"n\">{}</td><td class=\"n share\">{}</td>", Escaped(Exact(*group.core_seconds)),
                          Figure("group." + group.group, group.share, HumanPercent(group.share, 1)))
            : std::string("<td class=\"n\">–</td><td class=\"n\">–</td>");
    html += fmt::format(
        "<tr class=\"group\"><th scope=\"row\"><span class=\"key {}\"></span> {} <small>{}</small></th>{}</tr>\n",
        known.colour, Escaped(group.group), Escaped(known.what), value);
    if (FindBudgetPart("process_cpu")->group == group.group) html += OutsideRows(measurement);
    std::vector<const BudgetPart*> parts;
    for (const BudgetPart& part : budget.parts) {
      if (part.group == group.group && part.core_seconds > 0) parts.push_back(&part);
    }
    const bool shows_parts = parts.size() > 1 || group.group == "Idle";
    for (const BudgetPart* part : parts) {
      if (shows_parts) {
        html += fmt::format(
            "<tr class=\"part\"><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            Escaped(PartName(part->part)), Escaped(Exact(part->core_seconds)),
            Figure("part." + part->part, part->share, HumanPercent(part->share, 1)));
      }
      html += WaitRows(measurement, *part);
    }
  }
  std::string total = "Total";
  const std::optional<double> cores = measurement.Metric("total_cores");
  const std::optional<double> wall = measurement.Metric("wall_time");
  if (cores.has_value() && wall.has_value()) {
    total = fmt::format("Total = {} × {}", Counted(*cores, "core", "cores"), HumanDuration(*wall));
  }
  html += fmt::format(
      "</tbody><tfoot><tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td></tr></tfoot></table></div>\n",
      Escaped(total), Escaped(Exact(budget.core_seconds)), Figure("budget.total", 1, "100 %"));
  return html;
}

std::string BudgetCard(const Measurement& measurement) {
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  if (!budget.has_value()) {
    return "<section class=\"card\">" + Absent("The budget", measurement.WhyNotMeasured("core_seconds")) +
           "</section>\n";
  }
  std::vector<ColouredShare> shares;
  for (const BudgetGroup& group : budget->groups) {
    shares.push_back({group.group, GroupOf(group.group).colour, group.share});
  }
  std::string html = "<section class=\"card\">\n" + SplitBar(shares) + BudgetTable(measurement, *budget);
  const std::optional<double> oversubscribed = measurement.Metric("oversubscribed_core_seconds");
  if (oversubscribed.value_or(0) > 0) {
    html += fmt::format(
        "<p class=\"more\">Threads were at work for {} more than the cores had: this waiting is in no row.</p>\n",
        Escaped(HumanDuration(*oversubscribed)));
  }
  return html + "</section>\n";
}

std::string PhasesCard(const Measurement& measurement) {
  const std::vector<PhaseRow>& phases = measurement.phases;
  if (phases.empty()) {
    return "<div id=\"phases\">" +
           Absent("Phases",
                  "no span is named preprocess, process, reduce or postprocess, and no engine's tasks are known to "
                  "be one of these") +
           "</div>\n";
  }
  if (phases.size() == 1) return "";  // it is the run
  return "<section class=\"card\" id=\"phases\"><h3>Phases</h3>\n" +
         DocumentHtmlTable(CellsOf(phases), {"phases", "Phases of the run", "", 50, "wall_time"}) + "</section>\n";
}

/// A node of the icicle: sections of the chunk's own thread, as a tree of paths.
Json IcicleData(const Measurement& measurement) {
  Json rows = Json::array();
  for (const SectionRow& section : measurement.sections) {
    if (section.helper.value_or(false) || section.path == "(other)") continue;
    rows.push_back({section.path.str(), JsonOf(section.total), JsonOf(section.cpu), JsonOf(section.count)});
  }
  return {{"busy", ValueOf(measurement, "busy_time")},
          {"cpu", ValueOf(measurement, "chunk_cpu_time")},
          {"chunks", ValueOf(measurement, "num_attempts")},
          {"rows", std::move(rows)}};
}

/// What a section mostly did, as the icicle paints it.
std::string_view KindOf(const SectionRow& section) {
  const double total = section.total.value_or(0);
  if (!section.cpu.has_value() || total <= 0) return "unknown";
  return kMostlyWaits.Holds(*section.cpu / total) ? "wait" : "cpu";
}

bool HasCpu(const std::vector<SectionRow>& sections) {
  return std::any_of(sections.begin(), sections.end(),
                     [](const SectionRow& section) { return section.cpu.has_value(); });
}

std::string SectionsCard(const PageInput& input) {
  const std::vector<SectionRow>& sections = input.measurement.sections;
  std::string html =
      "<section class=\"card\" id=\"sections\"><div class=\"card-head\"><div><h3>Sections inside a chunk</h3>";
  if (sections.empty()) {
    return html + "</div></div>" + Absent("Sections", "no chunk recorded a section (TrackSection)") + "</section>\n";
  }
  html +=
      "<p class=\"sub\">Width = time. A section's own time is the part with nothing below it. "
      "<span class=\"key cpu\"></span> mostly computing, <span class=\"key wait\"></span> mostly waiting, "
      "<span class=\"key unknown\"></span> CPU not measured, <span class=\"key idle\"></span> outside every "
      "section.</p></div><div class=\"switch js\" role=\"group\" aria-label=\"Width of the sections\" "
      "id=\"icicle-units\">"
      "<button type=\"button\" data-unit=\"1\" aria-pressed=\"true\">time</button>";
  if (HasCpu(sections)) html += "<button type=\"button\" data-unit=\"2\" aria-pressed=\"false\">CPU</button>";
  html +=
      "<button type=\"button\" data-unit=\"3\" aria-pressed=\"false\">calls</button></div></div>\n"
      "<canvas class=\"js\" id=\"icicle\" tabindex=\"0\" role=\"img\" aria-label=\"Sections by time, as in the table "
      "below. Arrow keys choose a section, Enter zooms in, 0 zooms out.\"></canvas>\n";
  html += DocumentHtmlTable(CellsOf(sections), {"sections", "Sections by own time", "self", input.limits.table_rows,
                                                "share", 6, [&sections](size_t row) { return KindOf(sections[row]); }});
  const std::optional<double> coverage = input.measurement.Metric("section_coverage");
  if (coverage.has_value()) {
    html +=
        fmt::format("<p class=\"more\">Sections cover {} of the chunks' time; rows of helpers stand beside it.</p>\n",
                    Figure("metrics.section_coverage", *coverage, HumanPercent(*coverage, 1)));
  }
  const std::string wait = WaitInsideSections(input.measurement);
  if (!wait.empty()) html += fmt::format("<p class=\"more\">{}</p>\n", Escaped(wait));
  return html + "</section>\n";
}

std::string FunctionsCard(const PageInput& input) {
  if (input.measurement.functions.empty()) return "";
  std::string html =
      "<section class=\"card\" id=\"functions\"><div class=\"card-head\"><div><h3>Functions inside the sections</h3>"
      "<p class=\"sub\">Share of the section’s samples, each with half of its 95 % range. <span class=\"js\">Click a "
      "section above to see its functions.</span></p></div>";
  if (input.flames != nullptr) {
    html +=
        "<label class=\"find js\">Dataset <select id=\"flame-dataset\"><option value=\"\">all</option></select>"
        "</label></div>\n<p class=\"sub js\">Width = samples, in equal steps of CPU time. What a function called "
        "stands under it.<span id=\"flame-left-out\"></span></p>\n"
        "<canvas class=\"js\" id=\"flame\" tabindex=\"0\" role=\"img\" aria-label=\"Functions by samples, under their "
        "sections and callers; the table below has the functions alone. Arrow keys choose a box, Enter zooms in, 0 "
        "zooms out.\"></canvas>\n";
  } else {
    html += "</div>\n";
  }
  return html +
         DocumentHtmlTable(CellsOf(input.measurement.functions),
                           {"functions", "Functions by section", "samples", input.limits.table_rows, "share", 4}) +
         "</section>\n";
}

std::string MemoryCard(const PageInput& input) {
  if (input.measurement.memory_sections.empty()) return "";
  return "<section class=\"card\" id=\"memory-sections\"><h3>Memory by section</h3><p class=\"sub\">RSS delta: what "
         "the process gained or gave back while the guard was open, other threads included.</p>\n" +
         DocumentHtmlTable(CellsOf(input.measurement.memory_sections),
                           {"memory_sections", "Memory by section", "delta_bytes", input.limits.table_rows, ""}) +
         "</section>\n";
}

std::string EventsCard(const PageInput& input) {
  if (input.measurement.modules.empty()) return "";
  std::string html = "<section class=\"card\" id=\"events\"><h3>Events and their modules</h3>\n";
  for (const std::string& line : EventLines(input.measurement)) html += "<p class=\"sub\">" + Escaped(line) + "</p>\n";
  if (!input.measurement.events.empty()) {
    html += DocumentHtmlTable(CellsOf(input.measurement.events),
                              {"events", "Events by dataset", "", input.limits.table_rows, "latency_seconds", 3});
  }
  return html +
         DocumentHtmlTable(CellsOf(input.measurement.modules),
                           {"modules", "Modules", "own_seconds", input.limits.table_rows, "own_seconds", 3}) +
         "</section>\n";
}

}  // namespace

std::string SplitBar(const std::vector<ColouredShare>& parts) {
  std::string html = "<svg class=\"split\" role=\"img\" aria-label=\"";
  std::string rects;
  double at = 0;
  std::string label;
  for (const ColouredShare& part : parts) {
    if (part.share <= 0) continue;
    const std::string percent = HumanPercent(part.share, 1);
    label += (label.empty() ? "" : ", ") + part.name + " " + percent;
    rects += fmt::format(
        "<g><title>{} {}</title><rect class=\"{}\" x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"30\" rx=\"3\"/>",
        Escaped(part.name), Escaped(percent), part.colour, at * 100, std::max(0.0, part.share * 100 - 0.15));
    if (part.share > 0.06) {
      rects += fmt::format("<text class=\"on-{}\" x=\"{:.3f}%\" dx=\"9\" y=\"20\">{}</text>", part.colour, at * 100,
                           Escaped(percent));
    }
    rects += "</g>";
    at += part.share;
  }
  return html + Escaped(label) + "\">" + rects + "</svg>\n";
}

PageBlock TimeBlock(const PageInput& input) {
  PageBlock block = {"time", "Where time goes",
                     "All core time, split so that it adds up: nothing is left out and nothing is counted twice.", "",
                     ""};
  block.html = BudgetCard(input.measurement) + EventsCard(input) + PhasesCard(input.measurement) + SectionsCard(input) +
               FunctionsCard(input) + MemoryCard(input) + ChartCards(input, block.id);
  if (!input.measurement.sections.empty()) block.data = DataScript("icicle-data", IcicleData(input.measurement));
  if (input.flames != nullptr) block.data += DataScript("flame-data", *input.flames);
  return block;
}

}  // namespace crema
