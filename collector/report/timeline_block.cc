// The timeline: what each thread did, chunk by chunk, under how many threads were busy.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/appearance/human_numbers.h"
#include "collector/report/html.h"
#include "collector/report/html_table.h"
#include "collector/report/page_block.h"
#include "collector/report/timeline_data.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// Whether a worker came or left while the run went on, so that a part of its rows is blank.
bool AnyAbsent(const RunDetail& detail) {
  const double slack = 0.01 * detail.seconds;
  return std::any_of(detail.workers.begin(), detail.workers.end(), [&](const DetailWorker& worker) {
    return worker.start_seconds.value_or(0) > slack ||
           worker.stop_seconds.value_or(detail.seconds) < detail.seconds - slack;
  });
}

/// Whether tasks are drawn.
bool HasTasks(const PageInput& input) { return input.limits.tasks && !input.detail.tasks.empty(); }

std::string Legend(const PageInput& input) {
  const RunDetail& detail = input.detail;
  std::string html = "<ul class=\"legend\" id=\"timeline-legend\">";
  for (uint32_t slot = 0; slot < SlotCount(detail); ++slot) {
    html += fmt::format(
        "<li><button type=\"button\" data-slot=\"{0}\" aria-pressed=\"true\" title=\"show or hide\"><span class=\"key "
        "d{0}\"></span> {1}</button></li>",
        slot, Name(SlotName(detail, slot), 32));
  }
  if (HasTasks(input)) {
    html +=
        "<li><span class=\"key around\"></span> task, around its chunk</li>"
        "<li><span class=\"key task\"></span> task without a chunk</li>";
  }
  if (AnyAbsent(detail)) html += "<li><span class=\"key gone\"></span> worker not there</li>";
  html +=
      "<li class=\"of-dataset\"><span class=\"key pale\"></span> pale = waiting (&gt; 32 %)</li>"
      "<li class=\"of-waiting\">waiting 0 % <span class=\"key scale\"></span> 100 %</li>"
      "<li class=\"of-rate\">events/s 0 <span class=\"key scale\"></span> <span id=\"timeline-fastest\"></span></li>"
      "<li class=\"of-waiting of-rate\"><span class=\"key unmeasured\"></span> not measured</li>"
      "<li class=\"of-attempt\"><span class=\"key cpu\"></span> first attempt</li>"
      "<li class=\"of-attempt\"><span class=\"key wait\"></span> later attempt</li>";
  return html + "<li class=\"failed\"><span aria-hidden=\"true\">✕</span> failed or lost</li></ul>\n";
}

std::string_view PluralOf(std::string_view kind) {
  if (kind == "thread") return "threads";
  return kind == "worker" ? "workers" : "hosts";
}

/// What the picture shows, in a sentence: it is all that a screen reader gets of it.
std::string Summary(const RunDetail& detail) {
  int64_t failed = 0;
  int32_t lanes = 0;
  for (const DetailRow& row : detail.rows) failed += row.failed;
  for (const DetailWorker& worker : detail.workers) lanes += worker.lanes;
  if (detail.rows_are_threads) lanes = static_cast<int32_t>(detail.rows.size());
  std::string text = fmt::format("{} on {} of {} over {}; {} failed or lost.",
                                 Counted(static_cast<double>(detail.attempts_seen), "attempt", "attempts"),
                                 Counted(lanes, "thread", "threads"),
                                 Counted(static_cast<double>(detail.workers.size()), "worker", "workers"),
                                 HumanDuration(detail.seconds), HumanCount(static_cast<double>(failed)));
  if (detail.tail_start_seconds.has_value()) {
    text += fmt::format(" From {} on there was too little left to do for all of them.",
                        HumanDuration(std::max(0.0, *detail.tail_start_seconds)));
  }
  return text;
}

/// Rows are lanes: threads share them.
bool SharesRows(const RunDetail& detail) { return detail.row_kind == "thread" && !detail.rows_are_threads; }

std::string TasksNotDrawn(const RunDetail& detail) {
  std::string text;
  if (detail.tasks_left_out > 0) {
    text += fmt::format("; {} tasks, too many to draw", ExactCount(static_cast<double>(detail.tasks_left_out)));
  }
  if (detail.tasks_elsewhere > 0) {
    text += fmt::format("; {} tasks on threads without a chunk are not drawn",
                        ExactCount(static_cast<double>(detail.tasks_elsewhere)));
  }
  return text;
}

std::string HowDrawn(const RunDetail& detail) {
  const std::string attempts = ExactCount(static_cast<double>(detail.attempts_seen));
  const std::string_view shared = SharesRows(detail) ? "; threads of one process that never overlap share a row" : "";
  const std::string tasks = TasksNotDrawn(detail);
  if (detail.timeline_is_exact)
    return fmt::format("{} attempts drawn exactly, nothing merged{}{}", attempts, shared, tasks);
  std::string text =
      fmt::format("{} attempts drawn as {} runs of {} each", attempts,
                  ExactCount(static_cast<double>(detail.runs.size())), HumanDuration(detail.bin_seconds));
  text += shared;
  if (detail.row_kind != "thread") {
    text += fmt::format("; one row per {}, as there are too many threads", detail.row_kind);
  }
  text += tasks;
  return text + "; failed, repeated, slow and late ones exactly. All of them: crema export --to perfetto";
}

std::string RowsTable(const RunDetail& detail, size_t most_rows) {
  HtmlTable table;
  table.caption = fmt::format("The {} of the timeline", PluralOf(detail.row_kind));
  const bool is_thread = detail.row_kind == "thread";
  table.columns = {{is_thread ? "worker" : std::string(detail.row_kind), false}};
  if (is_thread) table.columns.push_back({detail.rows_are_threads ? "thread" : "lane", true});
  for (const char* header : {"attempts", "failed or lost", "busy", "busy share", "events"}) {
    table.columns.push_back({header, true});
  }
  for (const DetailRow& row : detail.rows) {
    if (table.rows.size() == most_rows) break;
    const double busy = static_cast<double>(row.busy_ns) / 1e9;
    const double share = detail.seconds > 0 ? busy / (detail.seconds * std::max(1, row.lanes)) : 0;
    std::vector<HtmlCell> cells = {{Name(row.label, 40)}};
    if (is_thread) cells.push_back({std::to_string(row.lane), row.lane});
    const auto count = [](int64_t number) {
      return HtmlCell{Escaped(HumanCount(static_cast<double>(number))), static_cast<double>(number)};
    };
    cells.push_back(count(row.attempts));
    cells.push_back(count(row.failed));
    cells.push_back({Escaped(HumanDuration(busy)), busy});
    cells.push_back({Bar(share, "cpu") + Escaped(HumanPercent(share)), share});
    cells.push_back(count(row.events));
    table.rows.push_back(std::move(cells));
  }
  table.left_out = detail.rows.size() - table.rows.size();
  return Render(table);
}

}  // namespace

PageBlock TimelineBlock(const PageInput& input) {
  const RunDetail& detail = input.detail;
  PageBlock block = {"timeline", "Timeline", "", "", ""};
  if (!detail.why_no_attempts.empty()) {
    block.intro = "What each thread did, chunk by chunk.";
    block.html = "<section class=\"card\">" + Absent("The timeline", detail.why_no_attempts) + "</section>\n";
    block.html += ChartCards(input, block.id);
    block.data = ChartData(input, block.id);
    return block;
  }
  block.intro = fmt::format(
      "{}, {}{}. Between bars cores were <a href=\"#time\">idle or did other work</a>. <span class=\"js\">Drag to "
      "select a "
      "time, and read below what ran in it; hover a bar for its sections; click a dataset to hide it.</span>",
      SharesRows(detail) ? "Threads of one process that never overlap share a row"
                         : fmt::format("One row per {}", detail.row_kind),
      detail.timeline_is_exact ? "one bar per chunk" : "coloured where it was busy, and how much",
      HasTasks(input) ? "; pale bars are tasks" : "");
  block.html = "<section class=\"card\">\n<div class=\"card-head\">" + Legend(input) +
               "<div class=\"switch js\" role=\"group\" aria-label=\"Colour of the bars\" id=\"timeline-colours\">"
               "<button type=\"button\" data-mode=\"dataset\" aria-pressed=\"true\">dataset</button>"
               "<button type=\"button\" data-mode=\"waiting\" aria-pressed=\"false\">waiting</button>";
  if (detail.timeline_is_exact) {
    block.html +=
        "<button type=\"button\" data-mode=\"rate\" aria-pressed=\"false\">events/s</button>"
        "<button type=\"button\" data-mode=\"attempt\" aria-pressed=\"false\">attempt</button>";
  }
  block.html += "</div>";
  if (detail.timeline_is_exact) {
    block.html +=
        "<label class=\"find js\">Find <input type=\"search\" id=\"timeline-find\" placeholder=\"file, dataset or "
        "worker\" autocomplete=\"off\" spellcheck=\"false\"> <output id=\"timeline-found\"></output></label>";
  }
  block.html += fmt::format(
      "</div>\n<canvas class=\"js\" id=\"timeline-canvas\" tabindex=\"0\" role=\"img\" aria-label=\"{} Plus and "
      "minus "
      "zoom, arrow keys move, 0 shows all, Enter tells of a chunk.\"></canvas>\n"
      "<div id=\"timeline-range\" class=\"js\" aria-live=\"polite\" hidden></div>\n"
      "<p class=\"nojs\">The picture needs scripting; the table has its figures.</p>\n"
      "<details><summary>{} · show as table</summary>{}</details>\n</section>\n",
      Escaped(Summary(detail)), Escaped(HowDrawn(detail)), RowsTable(detail, input.limits.table_rows));
  block.html += ChartCards(input, block.id);
  block.data = DataScript("timeline-data", TimelineData(input)) + ChartData(input, block.id);
  return block;
}

}  // namespace crema
