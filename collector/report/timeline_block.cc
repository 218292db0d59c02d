// The timeline: what each thread did, chunk by chunk, under how many threads were busy.
#include <algorithm>

#include "collector/appearance/human_numbers.h"
#include "collector/charts/time_lines.h"
#include "collector/insight/grouped_verdicts.h"
#include "collector/insight/short_name.h"
#include "collector/measurement/measurement_json.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestName = 200;  // bytes, on a card that follows the mouse

std::string Short(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  return name.substr(0, kLongestName / 2) + "…" + name.substr(name.size() - kLongestName / 2);
}

/// Fine enough to distinguish neighbours, coarse enough for few digits.
double UnitOf(double seconds) { return seconds < 1000 ? 1e-6 : seconds < 10'000 ? 1e-5 : 1e-4; }

/// Names by number, only those that are used.
class UsedNames {
 public:
  explicit UsedNames(const std::vector<std::string>& names) : names_(names) {}
  size_t Number(uint32_t index) {
    const auto [at, is_new] = numbers_.try_emplace(index, used_.size());
    if (is_new) used_.push_back(Short(names_[index]));
    return at->second;
  }
  const Json& used() const { return used_; }

 private:
  const std::vector<std::string>& names_;
  std::map<uint32_t, size_t> numbers_;
  Json used_ = Json::array();
};

int WaitingPercent(const DetailAttempt& attempt) {
  if (!attempt.duration_ns.has_value() || *attempt.duration_ns <= 0 || !attempt.cpu_ns.has_value()) return -1;
  const double cpu = static_cast<double>(std::min(*attempt.cpu_ns, *attempt.duration_ns));
  return static_cast<int>(std::lround(100 * (1 - cpu / static_cast<double>(*attempt.duration_ns))));
}

Json Attempts(const PageInput& input, double unit, UsedNames* files, UsedNames* errors, UsedNames* notes) {
  const RunDetail& detail = input.detail;
  Json row = Json::array(), start = Json::array(), duration = Json::array(), dataset = Json::array(),
       file = Json::array(), state = Json::array(), turn = Json::array(), events = Json::array(),
       waiting = Json::array(), error = Json::array(), note = Json::array(), number = Json::array(),
       expected = Json::array(), sections = Json::array();
  int64_t last_start = 0;
  const auto units = [unit](double seconds) { return std::llround(seconds / unit); };
  for (const DetailAttempt& attempt : detail.attempts) {
    const int64_t at = units(attempt.start_ns / 1e9);
    row.push_back(attempt.row);
    start.push_back(at - last_start);
    last_start = at;
    duration.push_back(attempt.duration_ns.has_value() ? units(*attempt.duration_ns / 1e9) : -1);
    dataset.push_back(SlotOf(detail, attempt.dataset));
    file.push_back(files->Number(attempt.file));
    state.push_back(static_cast<int>(attempt.state));
    turn.push_back(attempt.attempt);
    events.push_back(attempt.events.value_or(-1));
    waiting.push_back(WaitingPercent(attempt));
    error.push_back(errors->Number(attempt.error));
    if (detail.notes.size() > 1) note.push_back(notes->Number(attempt.notes));
    number.push_back(attempt.entry_start.value_or(-1));
    expected.push_back(attempt.expected_seconds.has_value() ? units(*attempt.expected_seconds) : -1);
    if (!input.limits.sections_of_chunks) continue;
    Json parts = Json::array();
    for (const auto& [section, ns] : attempt.sections) {
      parts.push_back(section);
      parts.push_back(units(ns / 1e9));
    }
    sections.push_back(std::move(parts));
  }
  return {{"row", std::move(row)},           {"start", std::move(start)},      {"dur", std::move(duration)},
          {"ds", std::move(dataset)},        {"file", std::move(file)},        {"state", std::move(state)},
          {"turn", std::move(turn)},         {"events", std::move(events)},    {"wait", std::move(waiting)},
          {"error", std::move(error)},       {"note", std::move(note)},        {"entry", std::move(number)},
          {"expected", std::move(expected)}, {"sections", std::move(sections)}};
}

/// Five numbers a run: row, bins since the run before ended, bins, slot, busy x 16 + waiting; failed is negative.
Json Runs(const RunDetail& detail) {
  Json runs = Json::array();
  uint32_t row = 0;
  uint32_t at = 0;
  for (const DetailRun& run : detail.runs) {
    if (run.row != row) at = 0;
    const int look = run.busy * 16 + run.waiting + 1;
    runs.push_back(run.row - row);
    runs.push_back(run.first_bin - at);
    runs.push_back(run.bins);
    runs.push_back(run.slot);
    runs.push_back(run.has_failed ? -look : look);
    row = run.row;
    at = run.first_bin + run.bins;
  }
  return runs;
}

/// Rounded to four digits: they are drawn, and stand in tables elsewhere.
Json Rounded(const std::vector<double>& values) {
  Json rounded = Json::array();
  for (const double value : values) {
    const double scale = value == 0 ? 1 : std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
    const double near = std::round(value * scale) / scale;
    if (near == std::floor(near) && std::abs(near) < 1e15) {
      rounded.push_back(static_cast<int64_t>(near));
    } else {
      rounded.push_back(near);
    }
  }
  return rounded;
}

/// Five numbers a task: row, start since the task before on this row, duration, prefix, 2 x has a chunk + failed.
Json Tasks(const RunDetail& detail, double unit) {
  Json tasks = Json::array();
  const auto units = [unit](int64_t ns) { return std::llround(ns / 1e9 / unit); };
  uint32_t row = 0;
  int64_t last = 0;
  for (const DetailTask& task : detail.tasks) {
    if (task.row != row) last = 0;
    const int64_t start = units(task.start_ns);
    tasks.push_back(task.row - row);
    tasks.push_back(start - last);
    tasks.push_back(units(task.stop_ns - task.start_ns));
    tasks.push_back(task.prefix);
    tasks.push_back(2 * static_cast<int>(task.has_chunk) + static_cast<int>(task.failed));
    row = task.row;
    last = start;
  }
  return tasks;
}

/// From when to when each worker was there; null: not known.
Json Lives(const RunDetail& detail) {
  Json lives = Json::array();
  for (const DetailWorker& worker : detail.workers) {
    // the last says why it was lost; false: it was not
    Json life = Json::array({nullptr, nullptr, worker.is_lost ? Json(worker.left_reason) : Json(false)});
    if (worker.start_seconds.has_value()) life[0] = *worker.start_seconds;
    if (worker.stop_seconds.has_value()) life[1] = *worker.stop_seconds;
    lives.push_back(std::move(life));
  }
  return lives;
}

/// The worst spell, where it is of a worker or of all.
void AddSpellBox(const Measurement& measurement, size_t number, const RunDetail& detail, Json& boxes) {
  if (measurement.slow_spells.empty()) return;
  const SlowSpellRow& worst = measurement.slow_spells.front();
  Json box = {{"n", number},
              {"text", "slow spell"},
              {"from", JsonOf(worst.start)},
              {"to", JsonOf(worst.stop)},
              {"worker", nullptr}};
  for (uint32_t worker = 0; worst.by == "worker" && worker < detail.workers.size(); ++worker) {
    if (worst.name == detail.workers[worker].name) box["worker"] = worker;
  }
  boxes.push_back(std::move(box));
}

/// The dashed boxes of one verdict, with the number of its finding.
void AddBoxes(const Measurement& measurement, const VerdictRow& verdict, size_t number, const RunDetail& detail,
              Json& boxes) {
  const Text& id = verdict.id;
  if (id == "slow-spell") AddSpellBox(measurement, number, detail, boxes);
  if (id == "long-tail" && detail.tail_start_seconds.has_value()) {
    boxes.push_back(
        {{"n", number}, {"text", "tail"}, {"from", *detail.tail_start_seconds}, {"to", nullptr}, {"worker", nullptr}});
  }
  if (id != "slow-worker") return;
  for (uint32_t worker = 0; worker < detail.workers.size(); ++worker) {
    if (!NamesIt(verdict.sentence, detail.workers[worker].name)) continue;
    boxes.push_back({{"n", number}, {"text", "slow worker"}, {"from", nullptr}, {"to", nullptr}, {"worker", worker}});
  }
}

/// Dashed boxes: the stretch of time, and the rows where it is not all of them, that a finding speaks of.
Json Boxes(const PageInput& input) {
  Json boxes = Json::array();
  size_t number = 0;
  for (const VerdictGroup& group : GroupVerdicts(input.measurement)) {
    ++number;
    AddBoxes(input.measurement, *group.cause, number, input.detail, boxes);
    for (const VerdictRow* symptom : group.symptoms) AddBoxes(input.measurement, *symptom, number, input.detail, boxes);
  }
  return boxes;
}

/// What the timeline's script (page/timeline.js) draws: columns of integers, names interned. Times are integers in
/// units of `unit` seconds; starts of attempts are differences to the one before. -1: not measured.
Json TimelineData(const PageInput& input) {
  const RunDetail& detail = input.detail;
  const double end = std::max(detail.seconds, detail.timeline_start_seconds + detail.bins * detail.bin_seconds);
  const double unit = UnitOf(end - detail.timeline_start_seconds);
  UsedNames files(detail.files);
  UsedNames errors(detail.errors);
  UsedNames notes(detail.notes);
  errors.Number(0);
  Json data;
  data["unit"] = unit;
  data["from"] = detail.timeline_start_seconds;
  data["to"] = end;
  data["exact"] = detail.timeline_is_exact;
  Json workers = Json::array();
  for (const DetailWorker& worker : detail.workers) workers.push_back(Short(worker.name));
  data["workers"] = std::move(workers);
  Json rows = Json::array();
  const WorkerNames names = NamesOfWorkers(input.measurement);
  for (const DetailRow& row : detail.rows) {
    const bool is_worker = row.lanes == 1 || detail.row_kind == "worker";
    rows.push_back(
        {row.worker, row.lane, Short(row.label), row.lanes, Short(is_worker ? names.Of(row.label) : row.label)});
  }
  data["rows"] = std::move(rows);
  data["row"] = detail.row_kind != "thread" ? "" : detail.rows_are_threads ? "thread" : "lane";
  int64_t lanes = 0;
  for (const DetailWorker& worker : detail.workers) lanes += worker.lanes;
  data["lanes"] = lanes;
  Json datasets = Json::array();
  for (uint32_t slot = 0; slot < SlotCount(detail); ++slot) datasets.push_back(Short(SlotName(detail, slot)));
  data["datasets"] = std::move(datasets);
  Json sections = Json::array();
  for (const std::string& section : detail.sections) sections.push_back(Short(section));
  data["sections"] = std::move(sections);
  data["median"] = ValueOf(input.measurement, "chunk_duration_p50");
  data["a"] = Attempts(input, unit, &files, &errors, &notes);
  data["files"] = files.used();
  data["errors"] = errors.used();
  data["notes"] = notes.used();
  data["bin"] = detail.bin_seconds;
  data["runs"] = Runs(detail);
  data["busy"] = {{"from", detail.over_time.start_seconds}, {"bin", detail.over_time.bin_seconds}};
  std::vector<double> busy;
  for (const double seconds : detail.over_time.busy_seconds) busy.push_back(seconds / detail.over_time.bin_seconds);
  data["busy"]["values"] = Rounded(busy);
  data["busy"]["available"] = Rounded(detail.over_time.lanes_available);
  Json tracks = Json::array();
  for (const TimeTrack& track : detail.tracks) {
    tracks.push_back({{"name", track.name},
                      {"unit", track.unit},
                      {"source", track.source},
                      {"values", Rounded(track.values)},
                      {"limit", Rounded(track.limit)},
                      {"limitName", track.limit_name}});
  }
  data["tracks"] = std::move(tracks);
  data["lives"] = Lives(detail);
  data["tasks"] = input.limits.tasks ? Tasks(detail, unit) : Json::array();
  Json prefixes = Json::array();
  for (const std::string& prefix : detail.task_prefixes) prefixes.push_back(Short(prefix));
  data["prefixes"] = std::move(prefixes);
  data["boxes"] = Boxes(input);
  return data;
}

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
  std::string text =
      fmt::format("{} on {} of {} over {}; {} failed or lost.", Counted(detail.attempts_seen, "attempt", "attempts"),
                  Counted(lanes, "thread", "threads"), Counted(detail.workers.size(), "worker", "workers"),
                  HumanDuration(detail.seconds), HumanCount(failed));
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
    text += fmt::format("; {} tasks, too many to draw", ExactCount(detail.tasks_left_out));
  }
  if (detail.tasks_elsewhere > 0) {
    text += fmt::format("; {} tasks on threads without a chunk are not drawn", ExactCount(detail.tasks_elsewhere));
  }
  return text;
}

std::string HowDrawn(const RunDetail& detail) {
  const std::string attempts = ExactCount(detail.attempts_seen);
  const std::string_view shared = SharesRows(detail) ? "; threads of one process that never overlap share a row" : "";
  const std::string tasks = TasksNotDrawn(detail);
  if (detail.timeline_is_exact)
    return fmt::format("{} attempts drawn exactly, nothing merged{}{}", attempts, shared, tasks);
  std::string text = fmt::format("{} attempts drawn as {} runs of {} each", attempts, ExactCount(detail.runs.size()),
                                 HumanDuration(detail.bin_seconds));
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
    const double busy = row.busy_ns / 1e9;
    const double share = detail.seconds > 0 ? busy / (detail.seconds * std::max(1, row.lanes)) : 0;
    std::vector<HtmlCell> cells = {{Name(row.label, 40)}};
    if (is_thread) cells.push_back({std::to_string(row.lane), row.lane});
    const auto count = [](int64_t number) {
      return HtmlCell{Escaped(HumanCount(number)), static_cast<double>(number)};
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
    return block;
  }
  block.intro = fmt::format(
      "{}, {}{}. Between bars cores were <a href=\"#time\">idle or did other work</a>. <span class=\"js\">Drag to "
      "select a time, and read below what ran in it; hover a bar for its sections; click a dataset to hide it.</span>",
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
      "</div>\n<canvas class=\"js\" id=\"timeline-canvas\" tabindex=\"0\" role=\"img\" aria-label=\"{} Plus and minus "
      "zoom, arrow keys move, 0 shows all, Enter shows a chunk.\"></canvas>\n"
      "<div id=\"timeline-range\" class=\"js\" aria-live=\"polite\" hidden></div>\n"
      "<p class=\"nojs\">The picture needs scripting; the table has its figures.</p>\n"
      "<details><summary>{} · show as table</summary>{}</details>\n</section>\n",
      Escaped(Summary(detail)), Escaped(HowDrawn(detail)), RowsTable(detail, input.limits.table_rows));
  block.html += ChartCards(input, block.id);
  block.data = DataScript("timeline-data", TimelineData(input));
  return block;
}

}  // namespace crema
