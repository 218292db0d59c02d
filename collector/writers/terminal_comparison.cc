#include <algorithm>

#include "absl/strings/str_replace.h"
#include "collector/appearance/human_numbers.h"
#include "collector/measurement/budget_parts.h"
#include "collector/writers/display_text.h"
#include "collector/writers/document_table.h"
#include "collector/writers/terminal.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// Shown whether they changed or not.
const std::set<std::string_view> kKeyFigures = {
    "wall_time",           "busy_time",         "chunk_cpu_time",      "num_chunks",        "total_events",
    "event_rate_wall_khz", "overall_rate_mbs",  "cpu_efficiency",      "core_efficiency",   "io_overhead_pct",
    "total_cores",         "peak_memory_bytes", "num_failed_attempts", "chunk_duration_p50"};

/// A change smaller than this is shown with the rest of the document only (`--json`): two runs always differ a little.
constexpr double kLeastShownChange = 0.02;

/// Rows of a table beyond these are left out, and counted.
constexpr size_t kMostRows = 20;

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
  if (!value.values[at].has_value()) return "–";
  return ExactNumber(*value.values[at]);
}

using TextOfCell = std::string (*)(const ComparedValue& value, size_t at);

void AddValueColumns(const Comparison& comparison, TextTable* table) {
  for (size_t at = 0; at < comparison.runs.size(); ++at) {
    TableColumn column{comparison.runs[at].name, Align::kRight, 0};
    column.is_elastic = true;
    table->columns.push_back(column);
    if (at > 0) table->columns.push_back({"change", Align::kRight, 0});
  }
}

void AddValueCells(const ComparedValue& value, TextOfCell cell, PaintedLine* line) {
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
  for (size_t at = 0; at < std::min(unequal.size(), kMostRows); ++at) {
    PaintedLine line = {{unequal[at].label, Paint::kBad}};
    AddValueCells(unequal[at], ExactValueText, &line);
    table.text.rows.push_back(std::move(line));
  }
  AddTable(table, style, text);
  if (unequal.size() > kMostRows) AddNote(fmt::format("{} more: see --json", unequal.size() - kMostRows), style, text);
}

/// Mean, p50, p99 and max say the most about the distributions of chunks.
bool IsDetail(std::string_view key) {
  if (key.substr(0, 6) != "chunk_") return false;
  for (std::string_view ending : {"_min", "_std", "_p90", "_p95"}) {
    if (key.size() > ending.size() && key.substr(key.size() - ending.size()) == ending) return true;
  }
  return false;
}

bool IsWorthShowing(const ComparedValue& value) {
  if (IsDetail(value.key)) return false;
  return std::any_of(value.changes.begin(), value.changes.end(), [](const std::optional<double>& change) {
    return !change.has_value() || std::fabs(*change) >= kLeastShownChange;
  });
}

void AddMetrics(const Comparison& comparison, const TerminalStyle& style, std::string* text) {
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
    AddNote(fmt::format("{} more changed by less than {}: see --json", Counted(left_out, "metric", "metrics"),
                        HumanPercent(kLeastShownChange)),
            style, text);
  }
}

/// The fields a person looks for, one line each: `ttbar  busy  12 s  13 s  +8 %`.
void AddRowsOf(const std::vector<ComparedRow>& rows, std::string_view title, const std::set<std::string_view>& fields,
               const Comparison& comparison, const TerminalStyle& style, std::string* text) {
  if (rows.empty()) return;
  AddTitle(title, style, text);
  DocumentTable table;
  table.text.columns.push_back({"name", Align::kLeft, 0, true});
  table.text.columns.push_back({"of", Align::kLeft, 0});
  AddValueColumns(comparison, &table.text);
  for (size_t at = 0; at < std::min(rows.size(), kMostRows); ++at) {
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
  if (rows.size() > kMostRows) AddNote(fmt::format("{} more: see --json", rows.size() - kMostRows), style, text);
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

std::string SignedTime(double seconds) {
  return fmt::format("{}{}", seconds < 0 ? "-" : "+", HumanDuration(std::fabs(seconds)));
}

void AddMore(size_t all, std::string* text) {
  if (all > kMostRows) *text += fmt::format("\n{} more: see `--json`.\n", all - kMostRows);
}

void AddEffects(const PairedChange& change, const std::string& name, std::string* text) {
  if (change.effects.empty()) return;
  *text +=
      fmt::format("\n| section | {}, of the time in chunks | 90 % range | sure |\n|---|---:|---:|---|\n", Plain(name));
  const size_t shown = std::min(kMostRows, change.effects.size());
  for (size_t i = 0; i < shown; ++i) {
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
  *text += "\n| part of the elapsed time | difference |\n|---|---:|\n";
  for (const ElapsedPart& part : change.parts) {
    if (part.difference.seconds == 0) continue;
    const BudgetPartKind* kind = FindBudgetPart(part.part);
    *text += fmt::format("| {} | {} |\n", kind != nullptr ? std::string(kind->name) : Plain(part.part),
                         SignedTime(part.difference.seconds));
  }
  *text += fmt::format("| **all** | **{}** |\n", SignedTime(change.difference.seconds));
}

void AddUnequal(const Comparison& comparison, std::string* text) {
  const std::vector<ComparedValue> unequal = comparison.Unequal();
  if (unequal.empty()) return;
  *text += "\n| should be equal and is not |";
  for (const ComparedRun& run : comparison.runs) *text += fmt::format(" {} |", Plain(run.name));
  *text += "\n|---|";
  for (size_t i = 0; i < comparison.runs.size(); ++i) *text += "---:|";
  *text += "\n";
  for (size_t i = 0; i < std::min(kMostRows, unequal.size()); ++i) {
    *text += fmt::format("| {} |", Plain(unequal[i].label));
    for (const std::optional<double>& value : unequal[i].values) {
      *text += fmt::format(" {} |", value.has_value() ? ExactNumber(*value) : "–");
    }
    *text += "\n";
  }
  AddMore(unequal.size(), text);
}

/// For an attribute in double quotes.
std::string Quoted(const std::string& text) {
  return absl::StrReplaceAll(PlainLine(text), {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

std::string RenderComparison(const Comparison& comparison, const TerminalStyle& style) {
  std::string text;
  for (const std::string& sentence : comparison.sentences) AddNote(sentence, style, &text);
  AddUnequal(comparison, style, &text);
  AddMetrics(comparison, style, &text);
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
    text += fmt::format("| {} | {}: {} |\n", Plain(gate.text), gate.result.fell ? "**fell**" : "passed",
                        Plain(gate.result.sentence));
  }
  return text;
}

std::string GatesAsJunit(const std::vector<JudgedGate>& gates) {
  const auto fell = std::count_if(gates.begin(), gates.end(), [](const JudgedGate& gate) { return gate.result.fell; });
  const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", gates.size(), fell);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n <testsuite name=\"crema compare\" {0}>\n",
      counts);
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
