// The tables of `crema show --table`: those of the measurement, and the few that are not plain rows.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/trust_items.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/cells.h"
#include "collector/records/section_path.h"
#include "collector/writers/display_text.h"
#include "collector/writers/document_table.h"
#include "collector/writers/labelled_lines.h"
#include "collector/writers/metric_text.h"
#include "collector/writers/table_text.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "collector/writers/text_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kMemoryMetrics[] = {
    "peak_memory_bytes",   "peak_total_memory_bytes", "avg_memory_per_worker_bytes", "process_peak_rss_bytes",
    "tree_peak_rss_bytes", "tree_peak_pss_bytes",     "tree_peak_swap_bytes"};

void AddRun(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  const RunFacts& run = measurement.run;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Column& column : RunFacts::Columns()) {
    if (column.key == "spans" || column.key == "never_began") continue;
    const std::vector<std::string>* words = nullptr;
    if (column.key == "command" && run.command.has_value()) words = &*run.command;
    if (column.key == "run_ids") words = &run.run_ids;
    pairs.emplace_back(column.key, words != nullptr ? ExactText(*words) : ExactText(column.cell(&run)));
  }
  for (const std::string_view key :
       {"wall_time", "core_seconds", "total_cores", "allocated_cores", "num_chunks", "total_events"}) {
    const MetricValue* value = measurement.metrics.Find(key);
    pairs.emplace_back(key, MetricText(key, value == nullptr ? MetricValue() : *value, FindMetric(key)->unit));
  }
  *text += LabelledLines(pairs, 0, style);
  const auto add = [&](std::string_view title, const CellTable& cells) {
    if (cells.rows.empty()) return;
    AddTitle(title, style, text);
    AddTable(TableOf(cells), style, text);
  };
  add("jobs that never began", CellsOf(run.never_began));
  add("spans", CellsOf(run.spans));
}

/// Paths become a tree: a row is indented under its parent and shows its own name only. One that does not follow its
/// parent (a helper's, whose rows come last) shows its whole path.
std::vector<SectionRow> AsTree(std::vector<SectionRow> sections) {
  std::vector<std::string> open;  // the path of the row before, and of those it stands under
  for (SectionRow& section : sections) {
    const std::string path = section.path;
    const bool is_helper = section.helper.value_or(false);
    const size_t slash = path.rfind('/');
    const std::string end = is_helper ? "\n" : "";  // no path ends in a newline
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash) + end;
    while (!open.empty() && open.back() != parent) open.pop_back();
    const std::string name = NameOfPathPart(open.empty() ? path : path.substr(slash + 1));
    section.path = std::string(2 * open.size(), ' ') + name + (is_helper ? " (helper)" : "");
    open.push_back(path + end);
  }
  return sections;
}

/// A table of the measurement, or why it has no rows.
void AddPlain(std::string_view name, const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  CellTable cells = name == "sections"           ? CellsOf(AsTree(measurement.sections))
                    : name == "process_sections" ? CellsOf(AsTree(measurement.process_sections))
                                                 : CellsOf(*FindTable(name), measurement);
  for (std::vector<Cell>& row : cells.rows) {  // of the resources, memory is in bytes
    if (name != "resource_advice" || CellText(row.front(), Kind::kText) != "memory") continue;
    for (size_t i = 1; i < row.size(); ++i) {
      const std::optional<double> bytes = NumberOf(row[i]);
      if (bytes.has_value() && cells.columns[i].kind == Kind::kNumber) row[i] = HumanMemory(*bytes);
    }
  }
  AddRows(cells, WhyNoRows(name, measurement), style, text);
}

/// The distributions, one row each, from the keys of `metrics`.
void AddChunks(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  struct Quantity {
    std::string_view key;
    Kind kind;
  };
  constexpr std::array<Quantity, 9> kQuantities = {{{"chunk_duration", Kind::kDuration},
                                                    {"chunk_cpu", Kind::kDuration},
                                                    {"chunk_cpu_wait", Kind::kDuration},
                                                    {"chunk_blocked", Kind::kDuration},
                                                    {"chunk_events", Kind::kCount},
                                                    {"chunk_time_per_event", Kind::kDuration},
                                                    {"chunk_rss_delta", Kind::kMemory},
                                                    {"chunk_rss_delta_per_event", Kind::kMemory},
                                                    {"chunk_event_rate", Kind::kRate}}};
  constexpr std::array<std::string_view, 8> kStatistics = {"mean", "std", "min", "p50", "p90", "p95", "p99", "max"};
  DocumentTable table;
  table.text.columns.push_back({"of ok attempts", Align::kLeft});
  for (std::string_view statistic : kStatistics) {
    const bool always = statistic == "mean" || statistic == "p50" || statistic == "max";
    table.text.columns.push_back({std::string(statistic), Align::kRight, always ? 0 : 1});
  }
  for (const Quantity& quantity : kQuantities) {
    std::string name(quantity.key.substr(6));
    std::replace(name.begin(), name.end(), '_', ' ');
    PaintedLine row = {{name}};
    for (std::string_view statistic : kStatistics) {
      const Number value = measurement.Metric(fmt::format("{}_{}", quantity.key, statistic));
      row.push_back({CellText(CellOf(value), quantity.kind)});
    }
    table.text.rows.push_back(std::move(row));
  }
  AddTable(table, style, text);
  AddTitle("stragglers", style, text);
  AddPlain("stragglers", measurement, style, text);
}

void AddSections(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  AddPlain("sections", measurement, style, text);
  if (measurement.process_sections.empty()) return;
  AddTitle("outside chunks", style, text);
  AddPlain("process_sections", measurement, style, text);
}

void AddMemory(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  std::vector<std::pair<std::string, std::string>> peaks;
  for (std::string_view key : kMemoryMetrics) {
    const std::optional<double> value = measurement.Metric(key);
    peaks.emplace_back(key, value.has_value() ? HumanMemory(*value) : "– " + measurement.WhyNotMeasured(key));
  }
  *text += LabelledLines(peaks, 0, style);
  AddTitle("memory sections (RSS delta)", style, text);
  AddPlain("memory_sections", measurement, style, text);
}

void AddMetrics(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  DocumentTable table;
  table.text.columns = {{"metric", Align::kLeft}, {"value", Align::kRight, 0, true}, {"label", Align::kLeft, 1, true}};
  for (const std::string_view key : KeysOf(measurement.metrics)) {
    const MetricDefinition& definition = *FindMetric(key);
    table.text.rows.push_back({{std::string(key)},
                               {MetricText(key, *measurement.metrics.Find(key), definition.unit)},
                               {definition.label, Paint::kDim}});
  }
  AddTable(table, style, text);
  AddTitle("your metrics", style, text);
  AddPlain("custom_metrics", measurement, style, text);
}

void AddQuality(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Column& column : Quality::Columns()) {
    const bool is_figure = !column.unit.empty();
    if (is_figure) pairs.emplace_back(column.key, ExactText(column.cell(&measurement.quality)));
  }
  *text += LabelledLines(pairs, 0, style);
  if (!measurement.quality.warnings.empty()) AddTitle("warnings", style, text);
  for (const std::string& warning : measurement.quality.warnings) {
    for (const std::string& line : Wrap(warning, std::max(20, style.width), style)) *text += line + "\n";
  }
  const std::vector<UnmeasuredFigures> unmeasured = FindUnmeasured(measurement);
  if (!unmeasured.empty()) AddTitle("not measured", style, text);
  for (const UnmeasuredFigures& figures : unmeasured) {
    const std::string keys = fmt::format("{}", fmt::join(figures.keys, ", "));
    const std::string line = figures.keys.size() == 1
                                 ? fmt::format("{}: {}", keys, figures.reason)
                                 : fmt::format("{} ({} figures): {}", figures.reason, figures.keys.size(), keys);
    for (const std::string& part : Wrap(line, std::max(20, style.width), style)) *text += part + "\n";
  }
}

/// Tables that are no plain rows, or more than that.
struct SpecialTable {
  std::string_view name;
  void (*add)(const Measurement& measurement, const TerminalStyle& style, std::string* text);
};

constexpr SpecialTable kSpecialTables[] = {
    {"run", AddRun},       {"quality", AddQuality}, {"metrics", AddMetrics},
    {"chunks", AddChunks}, {"memory", AddMemory},   {"sections", AddSections},
};

}  // namespace

absl::Span<const std::string_view> MemoryTableMetrics() { return kMemoryMetrics; }

std::vector<std::string_view> TableNames() {
  std::vector<std::string_view> names;
  for (const SpecialTable& table : kSpecialTables) names.push_back(table.name);
  for (const Table& table : Tables()) {
    if (std::find(names.begin(), names.end(), table.key) == names.end()) names.push_back(table.key);
  }
  return names;
}

absl::StatusOr<std::string> RenderTable(const Measurement& measurement, std::string_view table,
                                        const TerminalStyle& style) {
  std::string text;
  for (const SpecialTable& special : kSpecialTables) {
    if (special.name != table) continue;
    special.add(measurement, style, &text);
    return text;
  }
  if (FindTable(table) == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("no table '{}'; there are {}", DisplayText(table, style), fmt::join(TableNames(), ", ")));
  }
  AddPlain(table, measurement, style, &text);
  return text;
}

}  // namespace crema
