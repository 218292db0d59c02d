#include "collector/terminal/terminal.h"

#include "absl/strings/str_join.h"
#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/format/human_numbers.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/sequences.h"
#include "collector/measurement/catalog.h"
#include "collector/records/json_fields.h"

namespace crema {
namespace {

constexpr std::string_view kMemoryMetrics[] = {
    "peak_memory_bytes",      "peak_total_memory_bytes", "avg_memory_per_worker_bytes", "process_peak_rss_bytes",
    "tree_peak_memory_bytes", "tree_peak_rss_bytes",     "tree_peak_pss_bytes",         "tree_peak_swap_bytes"};

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
  std::vector<std::string> open;  // the path of the row before, and of those it is under
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
                    : name == "budget"           ? CellsOf(KnownBudget(measurement))
                                                 : CellsOf(*FindTable(name), measurement);
  for (std::vector<Cell>& row : cells.rows) {  // of the resources, memory is in bytes
    if (name != "resource_advice" || CellText(row.front(), Kind::kText) != "memory") continue;
    for (size_t i = 1; i < row.size(); ++i) {
      const std::optional<double> bytes = NumberOf(row[i]);
      if (bytes.has_value() && cells.columns[i].kind == Kind::kNumber) row[i] = HumanMemory(*bytes);
    }
  }
  if (cells.rows.empty()) return AddNote(WhyNoRows(name, measurement), style, text);
  AddTable(TableOf(cells), style, text);
  const auto has_no_fit = [](const ChunkFitRow& row) { return !row.fixed_seconds.has_value(); };
  if (name == "chunk_fits" && absl::c_any_of(measurement.chunk_fits, has_no_fit))
    AddNote("a fit needs chunks with different numbers of events (SetEvents)", style, text);
}

/// The distributions, one row each, from the keys of `metrics`.
void AddChunks(const Measurement& measurement, const TerminalStyle& style, std::string* text) {
  if (!measurement.HasChunks()) return AddNote(kNoChunk, style, text);
  DocumentTable table;
  table.text.columns.push_back({"of ok attempts", Align::kLeft});
  for (std::string_view statistic : kShownStatistics) {
    const bool always = statistic == "mean" || statistic == "p50" || statistic == "max";
    table.text.columns.push_back({std::string(statistic), Align::kRight, always ? 0 : 1});
  }
  for (const ChunkQuantity& quantity : ChunkQuantities()) {
    std::string name(quantity.key.substr(6));
    absl::c_replace(name, '_', ' ');
    PaintedLine row = {{name}};
    for (std::string_view statistic : kShownStatistics) {
      const Number value = measurement.Metric(fmt::format("{}_{}", quantity.key, statistic));
      row.push_back({CellText(CellOf(value), quantity.kind())});
    }
    table.text.rows.push_back(std::move(row));
  }
  AddTable(table, style, text);
  if (!measurement.Metric("chunk_duration_mean")) AddNote(WhyNoRows("chunk_fits", measurement), style, text);
  AddTitle("stragglers", style, text);
  AddPlain("stragglers", measurement, style, text);
  if (measurement.attributes.empty()) return;
  AddTitle("attributes", style, text);
  AddPlain("attributes", measurement, style, text);
  AddNote("crema show --table chunks --top 10 has those of single chunks, crema export --to chunks those of all", style,
          text);
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
    if (!column.unit.empty()) pairs.emplace_back(column.key, ExactText(column.cell(&measurement.quality)));
  }
  *text += LabelledLines(pairs, 0, style);
  if (!measurement.quality.warnings.empty()) AddTitle("warnings", style, text);
  for (const std::string& warning : measurement.quality.warnings) AddLines(warning, 0, Paint::kPlain, style, text);
  const std::vector<UnmeasuredFigures> unmeasured = FindUnmeasured(measurement);
  const std::vector<std::string> of_reading =
      QuotedAttribute(AttributeRow::kReading, measurement.attributes, measurement.quality);
  if (!unmeasured.empty() || !of_reading.empty()) AddTitle("not measured", style, text);
  for (const UnmeasuredFigures& figures : unmeasured) {
    const std::string keys = absl::StrJoin(figures.keys, ", ");
    const std::string line = figures.keys.size() == 1
                                 ? fmt::format("{}: {}", keys, figures.reason)
                                 : fmt::format("{} ({} figures): {}", figures.reason, figures.keys.size(), keys);
    AddLines(line, 0, Paint::kPlain, style, text);
  }
  for (const std::string& line : of_reading) AddLines(line, 0, Paint::kPlain, style, text);
}

/// Tables that are not plain rows, or more than that.
struct SpecialTable {
  std::string_view name;
  void (*add)(const Measurement& measurement, const TerminalStyle& style, std::string* text);
};

constexpr SpecialTable kSpecialTables[] = {
    {"run", AddRun},       {"quality", AddQuality}, {"metrics", AddMetrics},
    {"chunks", AddChunks}, {"memory", AddMemory},   {"sections", AddSections},
};

/// A member of `run` that names where metrics came from.
struct SourceOfKeys {
  std::string_view field;
  Text RunFacts::*source;
  std::array<std::string_view, 4> keys;
};

/// All other metrics come from what was collected.
constexpr SourceOfKeys kSources[] = {
    {"boundary", &RunFacts::boundary, {"wall_time", "elapsed_time_seconds"}},
    {"bytes_source",
     &RunFacts::bytes_source,
     {"bytes_read_compressed", "overall_rate_gbps", "overall_rate_mbs", "data_rate_gbps"}},
    {"cpu_time_source", &RunFacts::cpu_time_source, {"chunk_cpu_time", "cpu_efficiency", "cpu_speedup"}},
    {"io_overhead_source", &RunFacts::io_overhead_source, {"io_overhead_pct", "io_overhead"}},
    {"cores_source", &RunFacts::cores_source, {"core_seconds", "total_cores", "peak_cores", "cores_per_worker"}},
    {"allocated_cores_source", &RunFacts::allocated_cores_source, {"allocated_cores"}},
};

std::string SourceText(const Measurement& measurement, std::string_view key) {
  for (const SourceOfKeys& source : kSources) {
    const std::string& text = measurement.run.*source.source;
    if (absl::c_linear_search(source.keys, key) && !text.empty()) return fmt::format("{} ({})", text, source.field);
  }
  const std::string text = absl::StrJoin(measurement.provenance.sources, ", ");
  return text.empty() ? "not named in the document" : text;
}

constexpr int kIndent = 4;

/// What failed attempts said, each text once and as a whole: the table cuts it off.
void AddErrors(const Json& rows, const TerminalStyle& style, std::string* text) {
  constexpr size_t kMost = 3;
  std::set<std::string> said;
  for (const Json& row : rows) {
    const Json& error = Field(row, "error");
    if (!error.is_string() || !said.insert(error.get<std::string>()).second || said.size() > kMost) continue;
    AddNote(fmt::format("chunk {}: {}", Field(row, "chunk").dump(), error.get<std::string>()), style, text);
  }
}

}  // namespace

absl::Span<const std::string_view> MemoryTableMetrics() { return kMemoryMetrics; }

std::vector<std::string_view> TableNames() {
  auto names = Mapped<std::string_view>(kSpecialTables, &SpecialTable::name);
  for (const Table& table : Tables()) {
    if (absl::c_find(names, table.key) == names.end()) names.push_back(table.key);
  }
  return names;
}

absl::StatusOr<std::string> RenderTable(const Measurement& measurement, std::string_view table,
                                        const TerminalStyle& style) {
  std::string text;
  if (const SpecialTable* special = FindBy(kSpecialTables, &SpecialTable::name, table)) {
    special->add(measurement, style, &text);
    return text;
  }
  if (FindTable(table) == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("no table '{}'; there are {}", DisplayText(table, style), fmt::join(TableNames(), ", ")));
  }
  AddPlain(table, measurement, style, &text);
  return text;
}

absl::StatusOr<std::string> RenderMetric(const Measurement& measurement, std::string_view key,
                                         const TerminalStyle& style) {
  const MetricDefinition* definition = FindMetric(key);
  const MetricValue* value = measurement.metrics.Find(key);
  if (definition == nullptr || value == nullptr) {
    const std::string near = DidYouMean(key, KeysOf(measurement.metrics));
    return absl::NotFoundError(
        DisplayText(fmt::format("no metric '{}'{}; crema show --table metrics lists all", key, near), style));
  }
  const std::string &label = definition->label, &unit = definition->unit;
  const bool is_null = std::holds_alternative<std::monostate>(*value);

  std::string text = Painted({DisplayText(key, style), Paint::kBold}, style);
  text += label.empty() ? "\n" : "  " + DisplayText(label, style) + "\n";
  std::string value_text = "null: " + measurement.WhyNotMeasured(key);
  if (!is_null) {
    value_text = ExactText(*value);
    const std::string human = MetricText(key, *value, unit);
    if (human != value_text) value_text += fmt::format(" ({})", human);
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"value", value_text},
                                                            {"unit", unit.empty() ? "none" : unit}};
  if (definition->key != key) lines.emplace_back("alias of", definition->key);
  lines.emplace_back("definition", definition->text);
  if (!is_null) lines.emplace_back("source", SourceText(measurement, key));
  text += LabelledLines(lines, 2, style);
  return text;
}

std::string RenderChunkList(const ChunkListing& listing, const TerminalStyle& style) {
  std::string text;
  if (listing.summed > 0) {
    AddNote(Counted(listing.summed, "more chunk was summed, and is", "more chunks were summed, and are") +
                " not in this list",
            style, &text);
  }
  if (listing.seen == 0 && listing.summed > 0) return text;
  if (listing.rows.empty()) {
    AddNote(listing.seen == 0
                ? kNoChunk
                : fmt::format("none of {} meets the conditions{}", Counted(listing.seen, "attempt", "attempts"),
                              DisplayText(listing.near, style)),
            style, &text);
    return text;
  }
  Json rows = listing.rows;
  for (Json& row : rows) {
    Json& start_ns = row["start_ns"];
    // the difference in integers: a double holds Unix nanoseconds to 256 ns only
    if (!listing.run_start_ns.has_value()) {
      start_ns = nullptr;
    } else if (start_ns.is_number_integer()) {
      start_ns = (start_ns.get<int64_t>() - *listing.run_start_ns) / 1e9;
    }
    std::string attributes;
    for (const auto& [name, value] : Field(row, "attributes").items()) {
      if (value.is_string())
        absl::StrAppend(&attributes, attributes.empty() ? "" : "; ", name, ": ", std::string(value));
    }
    if (!attributes.empty()) row["attributes"] = attributes;
  }
  AddTable(TableOf(CellsOf(rows, listing.columns)), style, &text);
  AddErrors(rows, style, &text);
  const std::string of_all =
      listing.matched == listing.seen
          ? ""
          : fmt::format(" that match{}, of {}", listing.matched == 1 ? "es" : "", ExactCount(listing.seen));
  AddNote(fmt::format("{} of {}{}, by {}", ExactCount(rows.size()), Counted(listing.matched, "attempt", "attempts"),
                      of_all, listing.sorted_by),
          style, &text);
  return text;
}

std::string RenderVerdicts(const std::string& headline, const std::vector<VerdictRow>& rows,
                           const TerminalStyle& style) {
  std::string text;
  AddLines(headline, 0, Paint::kBold, style, &text);
  for (const VerdictRow& row : rows) {
    const std::optional<Mark> mark = MarkOf(row);
    // sign and word, so that colour is never the only sign
    PaintedText severity = mark.has_value() ? MarkText(*mark) : PaintedText{"· info", Paint::kDim};
    severity.text = DisplayText(severity.text, style);
    text += "\n" + Painted(severity, style) + "  " + DisplayText(row.id, style);
    const std::string saving = SavingText(row);
    if (!saving.empty()) text += DisplayText("  " + saving + " to win", style);
    text += "\n";
    AddLines(row.sentence, kIndent, Paint::kPlain, style, &text);
    std::string evidence;
    for (const EvidenceRow& one : row.evidence) {
      if (!one.value.has_value()) continue;
      evidence += fmt::format("{}{} {}", evidence.empty() ? "" : ", ", one.key.str(), HumanNumber(*one.value));
    }
    if (!evidence.empty()) AddLines("evidence: " + evidence, kIndent, Paint::kDim, style, &text);
    AddLines(row.suggestion, kIndent, Paint::kPlain, style, &text);
  }
  return text;
}

}  // namespace crema
