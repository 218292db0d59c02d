// Where the core-seconds went: the budget, which adds up, the phases, and the sections inside the chunks.

#include "collector/charts/time_charts.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/report/html.h"
#include "collector/report/page_block.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

BudgetGroupKind GroupOf(std::string_view name) {
  const BudgetGroupKind* known = FindBudgetGroup(name);
  return known == nullptr ? BudgetGroupKind{name, "unknown", ""} : *known;
}

/// What a section outside chunks took is wall time, so that it is not a share of the cores'.
std::string OutsideRows(const Measurement& measurement) {
  std::string html;
  for (const OutsideSection& section : LongestOutsideChunks(measurement)) {
    html +=
        fmt::format("<tr class=\"part\"><th scope=\"row\">section {}</th><td class=\"n\">{} wall</td><td></td></tr>\n",
                    Escaped(section.path), Escaped(HumanDuration(section.self)));
  }
  return html;
}

/// What the blocked part was spent on, as far as samples show it.
std::string WaitRows(const Measurement& measurement, const BudgetPart& part) {
  std::string html;
  if (part.part != "blocked") return html;
  for (const WaitShare& wait : WaitShares(measurement)) {
    const double share = wait.share * part.share;
    if (!kWaitShown.Holds(share)) break;
    html += fmt::format(
        "<tr class=\"part\"><th scope=\"row\">blocked: {}</th><td class=\"n\">≈ {}</td><td class=\"n\">{}</td></tr>\n",
        Escaped(wait.kind), Escaped(HumanDuration(wait.share * part.core_seconds)), Escaped(HumanPercent(share, 1)));
  }
  return html;
}

std::string BudgetTable(const Measurement& measurement, const BudgetRows& budget) {
  std::string html =
      "<div class=\"scroll\"><table class=\"budget\"><caption>Core-seconds by what they were used "
      "for</caption>\n<thead><tr><th scope=\"col\">Share of all core time</th><th scope=\"col\" class=\"n\">core "
      "time</th><th scope=\"col\" class=\"n\">share</th></tr></thead>\n<tbody>\n";
  for (const BudgetGroup& group : budget.groups) {
    const BudgetGroupKind known = GroupOf(group.group);
    const std::string value =
        group.core_seconds.has_value()
            ? fmt::format("<td class=\"n\">{}</td><td class=\"n share\">{}</td>",
                          Escaped(HumanDuration(*group.core_seconds)),
                          Figure("group." + group.group, group.share, HumanPercent(group.share, 1)))
            : std::string("<td class=\"n\">–</td><td class=\"n\">–</td>");
    html += fmt::format(
        "<tr class=\"group\"><th scope=\"row\"><span class=\"key {}\"></span> {} <small>{}</small></th>{}</tr>\n",
        known.colour, Escaped(group.group), Escaped(known.what), value);
    if (FindBudgetPart("process_cpu")->group == group.group) html += OutsideRows(measurement);
    std::vector<const BudgetPart*> parts = PlacesWhere(
        budget.parts, [&](const BudgetPart& part) { return part.group == group.group && part.core_seconds > 0; });
    const bool shows_parts = parts.size() > 1 || group.group == "Idle";
    for (const BudgetPart* part : parts) {
      if (shows_parts) {
        html += fmt::format(
            "<tr class=\"part\"><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            Escaped(part->name()), Escaped(HumanDuration(part->core_seconds)),
            Figure("part." + part->part, part->share, HumanPercent(part->share, 1)));
      }
      html += WaitRows(measurement, *part);
    }
  }
  std::string total = "Total";
  const std::optional<double> cores = measurement.Metric("total_cores");
  if (const std::optional<double> wall = measurement.Metric("wall_time"); cores.has_value() && wall.has_value()) {
    total = fmt::format("Total = {} × {}", Counted(*cores, "core", "cores"), HumanDuration(*wall));
  }
  html += fmt::format(
      "</tbody><tfoot><tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td></tr></tfoot></table></div>\n",
      Escaped(total), Escaped(HumanDuration(budget.core_seconds)), Figure("budget.total", 1, "100 %"));
  return html;
}

std::string BudgetCard(const Measurement& measurement) {
  const std::optional<BudgetRows> budget = ReadBudget(measurement);
  if (!budget.has_value()) {
    return "<section class=\"card\">" + Absent("The budget", measurement.WhyNotMeasured("core_seconds")) +
           "</section>\n";
  }
  std::vector<ColouredShare> shares = Mapped<ColouredShare>(budget->groups, [](const BudgetGroup& group) {
    return ColouredShare{group.group, GroupOf(group.group).colour, group.share};
  });
  std::string html = "<section class=\"card\">\n" + SplitBar(shares) + BudgetTable(measurement, *budget);
  const std::optional<double> oversubscribed = measurement.Metric("oversubscribed_core_seconds");
  if (oversubscribed.value_or(0) > 0) {
    html += fmt::format(
        "<p class=\"more\">Threads beyond the number of cores waited for {} more; this is not time of a core.</p>\n",
        Escaped(HumanDuration(*oversubscribed)));
  }
  return html + "</section>\n";
}

std::string PhasesCard(const Measurement& measurement) {
  const std::vector<PhaseRow>& phases = measurement.phases;
  if (phases.empty() && !measurement.run.engine.has_value()) return "";
  if (phases.empty()) return "<div id=\"phases\">" + Absent("Phases", WhyNoRows("phases", measurement)) + "</div>\n";
  if (phases.size() == 1) return "";  // it is the run
  return "<section class=\"card\" id=\"phases\"><h3>Phases</h3>\n" +
         DocumentHtmlTable(CellsOf(phases), {"phases", "Phases of the run", "", 50, "wall_time"}) + "</section>\n";
}

/// What a section mostly did, as the icicle paints it.
std::string_view KindOf(const SectionRow& section) {
  const double total = section.total.value_or(0);
  if (!section.cpu.has_value() || total <= 0) return "unknown";
  return kMostlyWaits.Holds(*section.cpu / total) ? "wait" : "cpu";
}

/// A node of the icicle: sections of the chunk's own thread, as a tree of paths.
Json IcicleData(const Measurement& measurement) {
  Json rows = Json::array();
  for (const SectionRow& section : measurement.sections) {
    if (section.helper.value_or(false) || section.path == "(other)") continue;
    rows.push_back(
        {section.path.str(), JsonOf(section.total), JsonOf(section.cpu), JsonOf(section.count), KindOf(section)});
  }
  return {{"busy", ValueOf(measurement, "busy_time")},
          {"cpu", ValueOf(measurement, "chunk_cpu_time")},
          {"chunks", ValueOf(measurement, "num_attempts")},
          {"rows", std::move(rows)}};
}

std::string SectionsCard(const PageInput& input) {
  const std::vector<SectionRow>& sections = input.measurement.sections;
  std::string html =
      "<section class=\"card\" id=\"sections\"><div class=\"card-head\"><div><h3>Sections inside a chunk</h3>";
  if (sections.empty()) {
    return html + "</div></div>" + Absent("Sections", "no chunk recorded a section (TrackSection)") + "</section>\n";
  }
  html +=
      "<p class=\"sub\">Width = time. A section's own time is the part with nothing below it. <span class=\"key "
      "cpu\"></span> mostly computing, <span class=\"key wait\"></span> mostly waiting, <span class=\"key "
      "unknown\"></span> CPU not measured, <span class=\"key idle\"></span> outside every section.</p></div><div "
      "class=\"switch js\" role=\"group\" aria-label=\"Width of the sections\" id=\"icicle-units\"><button "
      "type=\"button\" data-unit=\"1\" aria-pressed=\"true\">time</button>";
  if (absl::c_any_of(sections, [](const SectionRow& section) { return section.cpu.has_value(); })) {
    html += "<button type=\"button\" data-unit=\"2\" aria-pressed=\"false\">CPU</button>";
  }
  html +=
      "<button type=\"button\" data-unit=\"3\" aria-pressed=\"false\">calls</button></div></div>\n"
      "<canvas class=\"js\" id=\"icicle\" tabindex=\"0\" role=\"img\" aria-label=\"Sections by time, as in the table "
      "below. Arrow keys choose a section, Enter zooms in, 0 zooms out.\"></canvas>\n";
  html += DocumentHtmlTable(CellsOf(sections), {"sections", "Sections by own time", "self", input.limits.table_rows,
                                                "share", 6, [&sections](size_t row) { return KindOf(sections[row]); }});
  if (const std::optional<double> coverage = input.measurement.Metric("section_coverage"); coverage.has_value()) {
    html += fmt::format("<p class=\"more\">Sections cover {} of the chunks' time; rows of helpers do not count.</p>\n",
                        Figure("metrics.section_coverage", *coverage, HumanPercent(*coverage, 1)));
  }
  const std::string wait = WaitInsideSections(input.measurement);
  if (!wait.empty()) html += fmt::format("<p class=\"more\">{}</p>\n", Escaped(wait));
  return html + "</section>\n";
}

std::string FunctionsCard(const PageInput& input) {
  if (input.measurement.functions.empty()) return "";
  std::string html =
      "<section class=\"card\" id=\"functions\"><div class=\"card-head\"><div><h3>Functions inside the sections</h3><p "
      "class=\"sub\">Share of the section’s samples, each with half of its 95 % range. <span class=\"js\">Click a "
      "section above to see its functions.</span></p></div>";
  if (input.flames != nullptr) {
    html +=
        "<label class=\"find js\">Dataset <select id=\"flame-dataset\"><option "
        "value=\"\">all</option></select></label></div>\n<p class=\"sub js\">Width = samples, in equal steps of CPU "
        "time. What a function called is under it.<span id=\"flame-left-out\"></span></p>\n"
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
                     "The time of the cores (cores × elapsed time), split so that each core-second is in one row."};
  block.html = BudgetCard(input.measurement) + EventsCard(input) + PhasesCard(input.measurement) + SectionsCard(input) +
               FunctionsCard(input);
  block.html += TableCard(CellsOf(input.measurement.memory_sections), "memory-sections",
                          "RSS delta: what the process gained or gave back while the guard was open, other threads "
                          "included.",
                          {"memory_sections", "Memory by section", "delta_bytes", input.limits.table_rows, ""});
  block.html += ChartCards(input, block.id);
  if (!input.measurement.sections.empty()) block.data = DataScript("icicle-data", IcicleData(input.measurement));
  if (input.flames != nullptr) block.data += DataScript("flame-data", *input.flames);
  return block;
}

// The timeline: what each thread did, chunk by chunk, under how many threads were busy.

namespace {

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
    for (const auto& [section, ns] : attempt.sections) parts.insert(parts.end(), {section, units(ns / 1e9)});
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
  uint32_t row = 0, at = 0;
  for (const DetailRun& run : detail.runs) {
    if (run.row != row) at = 0;
    const int look = run.busy * 16 + run.waiting + 1;
    runs.insert(runs.end(), {run.row - row, run.first_bin - at, run.bins, run.slot, run.has_failed ? -look : look});
    row = run.row;
    at = run.first_bin + run.bins;
  }
  return runs;
}

/// Rounded to four digits: they are drawn, and are in tables elsewhere.
Json Rounded(const std::vector<double>& values) {
  return Mapped<Json>(values, [](const double value) {
    const double scale = value == 0 ? 1 : std::pow(10, 3 - std::floor(std::log10(std::abs(value))));
    const double near = std::round(value * scale) / scale;
    return near == std::floor(near) && std::abs(near) < 1e15 ? Json(static_cast<int64_t>(near)) : Json(near);
  });
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
    tasks.insert(tasks.end(), {task.row - row, start - last, units(task.stop_ns - task.start_ns), task.prefix,
                               2 * static_cast<int>(task.has_chunk) + static_cast<int>(task.failed)});
    row = task.row;
    last = start;
  }
  return tasks;
}

/// From when to when each worker was there; null: not known.
Json Lives(const RunDetail& detail) {
  return Mapped<Json>(detail.workers, [](const DetailWorker& worker) {
    // the last says why it was lost; false: it was not
    Json life = Json::array({nullptr, nullptr, worker.is_lost ? Json(worker.left_reason) : Json(false)});
    if (worker.start_seconds.has_value()) life[0] = *worker.start_seconds;
    if (worker.stop_seconds.has_value()) life[1] = *worker.stop_seconds;
    return life;
  });
}

/// A dashed box: the stretch of time, and the rows where it is not all of them, that a finding speaks of.
Json Box(size_t number, std::string_view text, Json from, Json to, Json worker) {
  return {
      {"n", number}, {"text", text}, {"from", std::move(from)}, {"to", std::move(to)}, {"worker", std::move(worker)}};
}

/// The boxes of one verdict, with the number of its finding.
void AddBoxes(const PageInput& input, const VerdictRow& verdict, size_t number, Json* boxes) {
  const Text& id = verdict.id;
  const std::vector<DetailWorker>& workers = input.detail.workers;
  const std::vector<SlowPeriodRow>& periods = input.measurement.slow_spells;
  if (id == "slow-spell" && !periods.empty()) {
    const SlowPeriodRow& worst = periods.front();  // of a worker, or of all
    Json box = Box(number, "slow spell", JsonOf(worst.start), JsonOf(worst.stop), nullptr);
    for (uint32_t worker = 0; worst.by == "worker" && worker < workers.size(); ++worker) {
      if (worst.name == workers[worker].name) box["worker"] = worker;
    }
    boxes->push_back(std::move(box));
  }
  if (id == "long-tail" && input.detail.tail_start_seconds.has_value()) {
    boxes->push_back(Box(number, "tail", *input.detail.tail_start_seconds, nullptr, nullptr));
  }
  for (uint32_t worker = 0; id == "slow-worker" && worker < workers.size(); ++worker) {
    if (!NamesIt(verdict.sentence, workers[worker].name)) continue;
    boxes->push_back(Box(number, "slow worker", nullptr, nullptr, worker));
  }
}

Json Boxes(const PageInput& input) {
  Json boxes = Json::array();
  size_t number = 0;
  for (const VerdictGroup& group : GroupVerdicts(input.measurement)) {
    ++number;
    AddBoxes(input, *group.cause, number, &boxes);
    for (const VerdictRow* symptom : group.symptoms) AddBoxes(input, *symptom, number, &boxes);
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
  data["workers"] = Mapped<Json>(detail.workers, [](const DetailWorker& worker) { return Short(worker.name); });
  const WorkerNames names = NamesOfWorkers(input.measurement);
  data["rows"] = Mapped<Json>(detail.rows, [&](const DetailRow& row) {
    const bool is_worker = row.lanes == 1 || detail.row_kind == "worker";
    return Json::array(
        {row.worker, row.lane, Short(row.label), row.lanes, Short(is_worker ? names.Of(row.label) : row.label)});
  });
  data["row"] = detail.row_kind != "thread" ? "" : detail.rows_are_threads ? "thread" : "lane";
  data["lanes"] = SumOf<int64_t>(detail.workers, &DetailWorker::lanes);
  Json datasets = Json::array();
  for (uint32_t slot = 0; slot < SlotCount(detail); ++slot) datasets.push_back(Short(SlotName(detail, slot)));
  data["datasets"] = std::move(datasets);
  data["sections"] = Mapped<Json>(detail.sections, Short);
  data["median"] = ValueOf(input.measurement, "chunk_duration_p50");
  data["longFrom"] = kFarAboveMedian.value;
  data["paleAbove"] = kPaleWaiting.value;
  data["a"] = Attempts(input, unit, &files, &errors, &notes);
  data["files"] = files.used();
  data["errors"] = errors.used();
  data["notes"] = notes.used();
  data["bin"] = detail.bin_seconds;
  data["runs"] = Runs(detail);
  data["busy"] = {{"from", detail.over_time.start_seconds}, {"bin", detail.over_time.bin_seconds}};
  data["busy"]["values"] = Rounded(Mapped<double>(
      detail.over_time.busy_seconds, [&](const double seconds) { return seconds / detail.over_time.bin_seconds; }));
  data["busy"]["available"] = Rounded(detail.over_time.lanes_available);
  data["tracks"] = Mapped<Json>(detail.tracks, [](const TimeTrack& track) {
    return Json{{"name", track.name},
                {"unit", track.unit},
                {"source", track.source},
                {"values", Rounded(track.values)},
                {"limit", Rounded(track.limit)},
                {"limitName", track.limit_name}};
  });
  data["lives"] = Lives(detail);
  data["tasks"] = input.limits.tasks ? Tasks(detail, unit) : Json::array();
  data["prefixes"] = Mapped<Json>(detail.task_prefixes, Short);
  data["boxes"] = Boxes(input);
  return data;
}

/// Whether a worker came or left while the run went on, so that a part of its rows is blank.
bool AnyAbsent(const RunDetail& detail) {
  const double slack = 0.01 * detail.seconds;
  return absl::c_any_of(detail.workers, [&](const DetailWorker& worker) {
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
        "<li><span class=\"key around\"></span> task, around its chunk</li><li><span class=\"key task\"></span> task "
        "without a chunk</li>";
  }
  if (AnyAbsent(detail)) html += "<li><span class=\"key gone\"></span> worker not there</li>";
  html += fmt::format("<li class=\"of-dataset\"><span class=\"key pale\"></span> pale = waiting ({})</li>",
                      Escaped("> " + HumanPercent(kPaleWaiting.value)));
  html +=
      "<li class=\"of-waiting\">waiting 0 % <span class=\"key scale\"></span> 100 %</li><li class=\"of-rate\">"
      "events/s 0 <span class=\"key scale\"></span> <span id=\"timeline-fastest\"></span></li><li class=\"of-waiting "
      "of-rate\"><span class=\"key unmeasured\"></span> not measured</li><li class=\"of-attempt\"><span class=\"key "
      "cpu\"></span> first attempt</li><li class=\"of-attempt\"><span class=\"key wait\"></span> later attempt</li>";
  return html + "<li class=\"failed\"><span aria-hidden=\"true\">✕</span> failed or lost</li></ul>\n";
}

/// What the picture shows, in a sentence: it is all that a screen reader gets of it.
std::string Summary(const RunDetail& detail) {
  const auto failed = SumOf<int64_t>(detail.rows, &DetailRow::failed);
  auto lanes = SumOf<int32_t>(detail.workers, &DetailWorker::lanes);
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
  table.caption = fmt::format("The {}s of the timeline", detail.row_kind);
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
    cells.push_back(NumberCell(row.attempts, HumanCount));
    cells.push_back(NumberCell(row.failed, HumanCount));
    cells.push_back(NumberCell(busy, HumanDuration));
    cells.push_back({Bar(share, "cpu") + Escaped(HumanPercent(share)), share});
    cells.push_back(NumberCell(row.events, HumanCount));
    table.rows.push_back(std::move(cells));
  }
  table.left_out = detail.rows.size() - table.rows.size();
  return Render(table);
}

}  // namespace

PageBlock TimelineBlock(const PageInput& input) {
  const RunDetail& detail = input.detail;
  PageBlock block = {"timeline", "Timeline"};
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
  block.html =
      "<section class=\"card\">\n<div class=\"card-head\">" + Legend(input) +
      "<div class=\"switch js\" role=\"group\" aria-label=\"Colour of the bars\" id=\"timeline-colours\"><button "
      "type=\"button\" data-mode=\"dataset\" aria-pressed=\"true\">dataset</button><button type=\"button\" "
      "data-mode=\"waiting\" aria-pressed=\"false\">waiting</button>";
  if (detail.timeline_is_exact) {
    block.html +=
        "<button type=\"button\" data-mode=\"rate\" aria-pressed=\"false\">events/s</button><button type=\"button\" "
        "data-mode=\"attempt\" aria-pressed=\"false\">attempt</button>";
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
