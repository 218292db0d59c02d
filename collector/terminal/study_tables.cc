#include "collector/format/human_numbers.h"
#include "collector/history/run_history.h"
#include "collector/measurement/budget_parts.h"
#include "collector/prediction/prediction.h"
#include "collector/scaling/scaling_study.h"
#include "collector/terminal/terminal.h"

namespace crema {
namespace {

/// `12 (10 to 15)`, `12 (10 or more)`, `none (40 or more)`.
std::string Range(const FittedNumber& number, std::string (*text)(double)) {
  const auto& [value, low, high] = number;
  if (!value.has_value() && !low.has_value()) return "none";
  return fmt::format("{} ({})", value.has_value() ? text(*value) : "none",
                     high.has_value() ? fmt::format("{} to {}", text(low.value_or(0)), text(*high))
                                      : text(low.value_or(0)) + " or more");
}

CellTable FitCells(const std::vector<ScalingLaw>& laws) {
  CellTable cells = {{{"", "fit", Kind::kText},
                      {"", "serial or queued", Kind::kText},
                      {"", "each pair of cores", Kind::kText},
                      {"", "fastest at", Kind::kText},
                      {"", "last worthwhile core", Kind::kText},
                      {"", "error of a run", Kind::kShare, 1}},
                     {}};
  for (const ScalingLaw& law : laws) {
    const bool is_usl = law.law == "usl";
    cells.rows.push_back({std::string(is_usl ? "USL" : "Amdahl"), Range(law.sigma, HumanPercent),
                          is_usl ? Range(law.kappa, HumanPercent) : "–", is_usl ? Range(law.fastest, HumanCount) : "–",
                          Range(law.worthwhile, HumanCount), CellOf(law.error)});
  }
  return cells;
}

/// The changes that have an answer.
CellTable PredictedCells(const Prediction& prediction) {
  const bool is_of_events = !prediction.basis.empty();
  CellTable cells = {{{"", "with", Kind::kText},
                      {"", "chunks at once", Kind::kCount, 0, true},
                      {"", "wall time", Kind::kDuration},
                      {"", "change", Kind::kText},
                      {"", is_of_events ? "range" : "90 % of runs", Kind::kText},
                      {"", "limited by", Kind::kText, 0, true},
                      {"", "core time", Kind::kDuration, 1},
                      {"", "CPU efficiency", Kind::kShare, 1},
                      {"", is_of_events ? "tasks at work" : "chunks open", Kind::kShare, 2}},
                     {}};
  for (const PredictedRow& row : prediction.rows) {
    if (!row.has_answer()) continue;
    const PredictedValue& time = row.wall_time;
    cells.rows.push_back({row.change, CellOf(row.lanes), time.value,
                          prediction.measured > 0 ? HumanChange(time.value / prediction.measured - 1) : "",
                          HumanDurationRange(time.low, time.high), CellOf(Text::OrNull(row.limited_by)),
                          row.core_seconds.value, CellOf(row.cpu_known ? Number(row.efficiency.value) : Number()),
                          row.BusyShare()});
  }
  return cells;
}

constexpr size_t kShownReasons = 5;

/// `2026-11-24 02:34`
std::string Day(const HistoryRun& run) { return absl::StrReplaceAll(run.Start().substr(0, 16), {{"T", " "}}); }

std::string ChangeText(const RunHistory& history, double change) {
  return history.is_relative ? HumanChange(change) : history.Written(change);
}

Cell ShortCommitCell(const HistoryRun& run) { return CellOf(Text::OrNull(ShortCommit(run.commit))); }

/// The latest `rows`.
CellTable RunCells(const RunHistory& history, size_t rows) {
  CellTable cells = {{{"", "began (UTC)", Kind::kText},
                      {"", "run", Kind::kPath},
                      {"", "commit", Kind::kText},
                      {"", "value", Kind::kText},
                      {"", "change", Kind::kText}},
                     {}};
  for (size_t i = history.runs.size() - std::min(rows, history.runs.size()); i < history.runs.size(); ++i) {
    const HistoryRun& run = history.runs[i];
    std::string mark;
    for (const HistoryLevel& level : history.levels) {
      if (i > 0 && level.place.begin == i) mark = ChangeText(history, level.since_before.change);
    }
    cells.rows.push_back({Day(run), run.directory, ShortCommitCell(run), history.Written(history.ValueOf(i)), mark});
  }
  return cells;
}

CellTable LevelCells(const RunHistory& history) {
  CellTable cells = {{{"", "since (UTC)", Kind::kText},
                      {"", "runs", Kind::kCount},
                      {"", "level", Kind::kText},
                      {"", "change", Kind::kText},
                      {"", "range", Kind::kText},
                      {"", "first with", Kind::kText}},
                     {}};
  for (const HistoryLevel& level : history.levels) {
    const HistoryRun& first = history.runs[level.place.begin];
    cells.rows.push_back({Day(first), Number(level.place.size()), history.Written(level.value), {}, {}, {}});
    if (level.place.begin == 0) continue;
    const auto& [change, low, high] = level.since_before;
    std::vector<Cell>& row = cells.rows.back();
    row[3] = ChangeText(history, change);
    row[4] = fmt::format("{} to {}", ChangeText(history, low), ChangeText(history, high));
    row[5] = ShortCommitCell(first);
  }
  return cells;
}

/// Shown whether they changed or not.
const std::set<std::string_view> kKeyFigures = {
    "wall_time",           "busy_time",         "chunk_cpu_time",      "num_chunks",        "total_events",
    "event_rate_wall_khz", "overall_rate_mbs",  "cpu_efficiency",      "core_efficiency",   "io_overhead_pct",
    "total_cores",         "peak_memory_bytes", "num_failed_attempts", "chunk_duration_p50"};

/// A change smaller than this is shown with the rest of the document only (`--json`): two runs always differ a little.
constexpr double kLeastShownChange = 0.02;

/// Rows of a table beyond these are left out, and counted.
constexpr size_t kMostStudyRows = 20;

std::string ChangeText(const ComparedValue& value, size_t at) {
  const std::optional<double>& change = value.changes[at];
  if (change.has_value() && *change == 0) return "=";
  if (change.has_value()) {
    // beyond a factor of ten, the factor says more than the per cent
    if (*change > 9) return fmt::format("x {}", HumanFactor(1 + *change));
    return HumanChange(*change);
  }
  if (!value.values.front().has_value() && !value.values[at].has_value()) return "–";
  if (!value.values.front().has_value()) return "new";
  if (!value.values[at].has_value()) return "gone";
  return "from 0";
}

std::string ValueText(const ComparedValue& value, size_t at) {
  if (!value.values[at].has_value()) return "–";
  // a ratio that exceeds 1 is a speed-up or a compression: per cent would mislead
  return MetricText(value.key, *value.values[at], value.unit);
}

std::string ExactValueText(const ComparedValue& value, size_t at) {
  return value.values[at].has_value() ? ExactNumber(*value.values[at]) : "–";
}

void AddValueColumns(const Comparison& comparison, TextTable* table) {
  for (size_t at = 0; at < comparison.runs.size(); ++at) {
    table->columns.push_back({comparison.runs[at].name, Align::kRight, 0, true});
    if (at > 0) table->columns.push_back({"change", Align::kRight, 0});
  }
}

void AddValueCells(const ComparedValue& value, std::string (*cell)(const ComparedValue&, size_t), PaintedLine* line) {
  for (size_t at = 0; at < value.values.size(); ++at) {
    line->push_back({cell(value, at)});
    if (at > 0) line->push_back({ChangeText(value, at)});
  }
}

void AddUnequal(const Comparison& comparison, const TerminalStyle& style, std::string* text) {
  const std::vector<ComparedValue> unequal = comparison.Unequal();
  if (unequal.empty()) {
    AddNote(
        comparison.should_be_equal.empty()
            ? "no events and no cuts were recorded: whether the runs did the same is not known"
            : fmt::format("equal, as they should be: {} values of events and cuts", comparison.should_be_equal.size()),
        style, text);
    return;
  }
  AddTitle("should be equal and is not", style, text);
  DocumentTable table;
  table.text.columns.push_back({"what", Align::kLeft, 0, true});
  AddValueColumns(comparison, &table.text);
  for (size_t at = 0; at < std::min(unequal.size(), kMostStudyRows); ++at) {
    PaintedLine line = {{unequal[at].label, Paint::kBad}};
    AddValueCells(unequal[at], ExactValueText, &line);
    table.text.rows.push_back(std::move(line));
  }
  AddTable(table, style, text);
  if (unequal.size() > kMostStudyRows)
    AddNote(fmt::format("{} more: see --json", unequal.size() - kMostStudyRows), style, text);
}

/// The median says the most about a distribution of chunks. Some rates are there in two units.
bool IsDetail(std::string_view key) {
  if (key == "event_rate_core_khz" || key == "overall_rate_gbps") return true;
  constexpr std::string_view kEndings[] = {"_min", "_max", "_mean", "_std", "_p90", "_p95", "_p99"};
  return key.substr(0, 6) == "chunk_" && absl::c_any_of(kEndings, [key](std::string_view ending) {
           return key.size() > ending.size() && key.substr(key.size() - ending.size()) == ending;
         });
}

bool IsWorthShowing(const ComparedValue& value) {
  return !IsDetail(value.key) && absl::c_any_of(value.changes, [](const std::optional<double>& change) {
    return !change.has_value() || std::fabs(*change) >= kLeastShownChange;
  });
}

void AddMetricChanges(const Comparison& comparison, const TerminalStyle& style, std::string* text) {
  DocumentTable table;
  table.text.columns.push_back({"metric", Align::kLeft, 0});
  AddValueColumns(comparison, &table.text);
  size_t left_out = 0;
  for (const bool key_figures : {true, false}) {
    for (const ComparedValue& value : comparison.metrics) {
      if ((kKeyFigures.count(value.key) > 0) != key_figures) continue;
      if (!key_figures && !IsWorthShowing(value)) {
        if (value.differs()) ++left_out;
        continue;
      }
      PaintedLine line = {{value.key}};
      AddValueCells(value, ValueText, &line);
      table.text.rows.push_back(std::move(line));
    }
  }
  AddTitle("metrics", style, text);
  if (table.text.rows.empty()) {
    AddNote("none was measured", style, text);
    return;
  }
  AddTable(table, style, text);
  if (left_out > 0) {
    AddNote(fmt::format("{} more, of distributions or changed by less than {}: see --json",
                        Counted(left_out, "metric", "metrics"), HumanPercent(kLeastShownChange)),
            style, text);
  }
}

/// The fields a person looks for, one line each: `ttbar  busy  12 s  13 s  +8 %`.
void AddRowsOf(const std::vector<ComparedRow>& rows, std::string_view title, const std::set<std::string_view>& fields,
               const Comparison& comparison, const TerminalStyle& style, std::string* text) {
  if (rows.empty()) return;
  AddTitle(title, style, text);
  DocumentTable table;
  table.text.columns = {{"name", Align::kLeft, 0, true}, {"of", Align::kLeft, 0}};
  AddValueColumns(comparison, &table.text);
  for (size_t at = 0; at < std::min(rows.size(), kMostStudyRows); ++at) {
    std::string name = rows[at].name;
    for (const ComparedValue& value : rows[at].fields) {
      if (fields.count(value.key) == 0) continue;
      PaintedLine line = {{name}, {value.key, Paint::kDim}};
      AddValueCells(value, ValueText, &line);
      table.text.rows.push_back(std::move(line));
      name.clear();
    }
  }
  AddTable(table, style, text);
  if (rows.size() > kMostStudyRows)
    AddNote(fmt::format("{} more: see --json", rows.size() - kMostStudyRows), style, text);
}

/// Names may hold anything: none of it is taken for markup.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char sign : PlainLine(text)) {
    if (std::string_view("\\`*_[]|#~!>").find(sign) != std::string_view::npos) plain += '\\';
    plain += sign;
  }
  return absl::StrReplaceAll(plain, {{"<", "&lt;"}, {"&", "&amp;"}});
}

void AddMore(size_t all, std::string* text) {
  if (all > kMostStudyRows) *text += fmt::format("\n{} more: see `--json`.\n", all - kMostStudyRows);
}

void AddEffects(const PairedChange& change, const std::string& name, std::string* text) {
  if (change.effects.empty()) return;
  *text += fmt::format("\n| section | adds in {}, of the whole {} | 90 % range | sure |\n|---|---:|---:|---|\n",
                       Plain(name), change.is_of_work ? "work in chunks" : "time in chunks");
  for (size_t i = 0; i < std::min(kMostStudyRows, change.effects.size()); ++i) {
    const ChangeEffect& effect = change.effects[i];
    *text += fmt::format("| {} | {} | {} to {} | {} |\n", Plain(effect.what), HumanChange(effect.change),
                         HumanChange(effect.low), HumanChange(effect.high), effect.is_sure ? "yes" : "no");
  }
  *text += fmt::format("| **all** | **{}** | {} to {} | {} |\n", HumanChange(change.change), HumanChange(change.low),
                       HumanChange(change.high), Plain(ToString(change.conclusion)));
  AddMore(change.effects.size(), text);
}

void AddElapsed(const ElapsedChange& change, std::string* text) {
  if (change.parts.empty()) return;
  *text += "\n| part of the elapsed time | difference, per core |\n|---|---:|\n";
  for (const ElapsedPart& part : change.parts) {
    if (part.difference.seconds == 0) continue;
    const BudgetPartKind* kind = FindBudgetPart(part.part);
    *text += fmt::format("| {} | {} |\n", kind != nullptr ? std::string(kind->name) : Plain(part.part),
                         HumanTimeChange(part.difference.seconds));
  }
  *text += fmt::format("| **all** | **{}** |\n", HumanTimeChange(change.difference.seconds));
}

void AddUnequal(const Comparison& comparison, std::string* text) {
  const std::vector<ComparedValue> unequal = comparison.Unequal();
  if (unequal.empty()) return;
  *text += "\n| should be equal and is not |";
  for (const ComparedRun& run : comparison.runs) *text += fmt::format(" {} |", Plain(run.name));
  *text += "\n|---|" + Repeated("---:|", static_cast<int>(comparison.runs.size())) + "\n";
  for (size_t i = 0; i < std::min(kMostStudyRows, unequal.size()); ++i) {
    *text += fmt::format("| {} |", Plain(unequal[i].label));
    for (size_t at = 0; at < comparison.runs.size(); ++at)
      *text += fmt::format(" {} |", ExactValueText(unequal[i], at));
    *text += "\n";
  }
  AddMore(unequal.size(), text);
}

/// For an attribute in double quotes.
std::string Quoted(const std::string& text) {
  return absl::StrReplaceAll(PlainLine(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

std::string RenderScaling(const ScalingStudy& scaling, const TerminalStyle& style) {
  std::string text;
  AddNote(ScalingSentence(scaling), style, &text);
  if (!scaling.points.empty()) AddTable(TableOf(CellsOf(scaling.points)), style, &text);
  if (!scaling.laws.empty()) {
    AddTitle("fits, with 90 % intervals", style, &text);
    AddTable(TableOf(FitCells(scaling.laws)), style, &text);
  } else if (!scaling.points.empty() && !scaling.why_no_law.empty()) {
    AddNote("no fit: " + scaling.why_no_law, style, &text);
  }
  for (const std::string& note : scaling.notes) AddNote("note: " + note, style, &text);
  const auto left_out = Mapped<std::string>(
      scaling.left_out, [](const LeftOutRun& run) { return fmt::format("{}: {}", run.name.str(), run.reason.str()); });
  if (!left_out.empty()) AddNote(fmt::format("left out: {}", fmt::join(left_out, "; ")), style, &text);
  return text;
}

std::string RenderPrediction(const Prediction& prediction, const TerminalStyle& style) {
  std::string text;
  if (!prediction.refused.empty()) {
    AddNote("nothing is predicted from this run: " + prediction.refused, style, &text);
    return text;
  }
  AddNote(fmt::format("The run took {}. {}", HumanDuration(prediction.measured),
                      prediction.basis.empty() ? fmt::format("Its chunks, replayed with nothing changed, take {}.",
                                                             HumanDuration(prediction.replayed))
                                               : prediction.basis),
          style, &text);
  if (prediction.blocked_slope > 0) {
    AddNote("Chunks were blocked for longer while more of them were open. crema assumes the same for other lanes.",
            style, &text);
  }
  std::map<std::string, std::string> not_reported;  // changes, by why
  for (const PredictedRow& row : prediction.rows) {
    if (row.has_answer()) continue;
    std::string& changes = not_reported[row.why_not];
    changes += (changes.empty() ? "" : ", ") + row.change;
  }
  if (const CellTable cells = PredictedCells(prediction); !cells.rows.empty()) AddTable(TableOf(cells), style, &text);
  if (absl::c_any_of(prediction.rows, [](const auto& row) { return row.change == "--without-waiting"; }))
    AddNote("--without-waiting: nothing blocks chunks, but they still wait for GPUs and for a CPU that others use",
            style, &text);
  if (!prediction.not_known.empty()) AddNote(prediction.not_known, style, &text);
  for (const auto& [why, changes] : not_reported) AddNote("not predicted for " + changes + ": " + why, style, &text);
  return text;
}

std::string RenderHistory(const RunHistory& history, size_t rows, const TerminalStyle& style) {
  std::string text;
  for (const std::string& sentence : HistorySentences(history)) AddNote(sentence, style, &text);
  const size_t runs = history.runs.size();
  if (rows > 0) {
    AddTitle(rows < runs ? fmt::format("{} of the latest {} of {} runs", history.metric, rows, runs)
                         : fmt::format("{} of {}", history.metric, Counted(runs, "run", "runs")),
             style, &text);
    AddTable(TableOf(RunCells(history, rows)), style, &text);
  }
  if (history.levels.size() > 1) {
    AddTitle("levels, with 90 % ranges", style, &text);
    AddTable(TableOf(LevelCells(history)), style, &text);
  }
  for (const std::string& note : history.notes) AddNote("note: " + note, style, &text);
  const size_t left_out = history.left_out.size();
  for (size_t i = 0; i < std::min(kShownReasons, left_out); ++i) {
    AddNote(fmt::format("left out: {}: {}", history.left_out[i].directory, history.left_out[i].reason), style, &text);
  }
  if (left_out > kShownReasons) {
    AddNote(fmt::format("left out: {} more (--json)", left_out - kShownReasons), style, &text);
  }
  return text;
}

std::string RenderComparison(const Comparison& comparison, const std::vector<JudgedGate>& gates,
                             const TerminalStyle& style) {
  std::string text;
  for (const std::string& sentence : comparison.sentences) AddNote(sentence, style, &text);
  for (const JudgedGate& gate : gates) {
    if (!gate.result.fell) AddNote(fmt::format("gate {} passed: {}", gate.text, gate.result.sentence), style, &text);
  }
  AddUnequal(comparison, style, &text);
  AddMetricChanges(comparison, style, &text);
  AddRowsOf(comparison.datasets, "datasets", {"events", "duration_sum", "cpu_sum", "event_rate", "failed"}, comparison,
            style, &text);
  AddRowsOf(comparison.sections, "sections", {"self", "count", "mean"}, comparison, style, &text);
  AddRowsOf(comparison.waits, "waits", {"seconds"}, comparison, style, &text);
  return text;
}

std::string ComparisonAsMarkdown(const Comparison& comparison, const std::vector<JudgedGate>& gates) {
  std::string text;
  for (size_t i = 0; i < comparison.sentences.size(); ++i) {
    text += fmt::format("{}{}\n", i > 0 ? "\n" : "", Plain(comparison.sentences[i]));
    if (i < comparison.paired.size()) AddEffects(comparison.paired[i], comparison.runs[i + 1].name, &text);
    if (i < comparison.elapsed.size()) AddElapsed(comparison.elapsed[i], &text);
  }
  AddUnequal(comparison, &text);
  if (!gates.empty()) text += "\n| gate | |\n|---|---|\n";
  for (const JudgedGate& gate : gates) {
    text += fmt::format("| {} | {}: {} |\n", Plain(gate.text), gate.result.fell ? "**failed**" : "passed",
                        Plain(gate.result.sentence));
  }
  return text;
}

std::string GatesAsJunit(const std::vector<JudgedGate>& gates) {
  const auto fell = absl::c_count_if(gates, [](const JudgedGate& gate) { return gate.result.fell; });
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", gates.size(), fell);
  std::string xml =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n {1} {0}>\n", counts, kSuiteOfGates);
  for (const JudgedGate& gate : gates) {
    const std::string words = Quoted(gate.result.sentence);
    xml += fmt::format("  <testcase classname=\"crema.compare\" name=\"{}\">\n", Quoted(gate.text));
    xml += gate.result.fell ? fmt::format("   <failure message=\"{0}\">{0}</failure>\n", words)
                            : fmt::format("   <system-out>{}</system-out>\n", words);
    xml += "  </testcase>\n";
  }
  return xml + " </testsuite>\n</testsuites>\n";
}

}  // namespace crema
