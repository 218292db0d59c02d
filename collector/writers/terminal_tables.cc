// The tables of `crema show --table`: one row of this file's table for each, and the few that are not plain rows.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/trust_items.h"
#include "collector/records/section_path.h"
#include "collector/writers/display_text.h"
#include "collector/writers/document_table.h"
#include "collector/writers/labelled_lines.h"
#include "collector/writers/metric_text.h"
#include "collector/writers/table_columns.h"
#include "collector/writers/table_text.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "collector/writers/text_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Kind = FieldKind;

constexpr std::string_view kMemoryMetrics[] = {
    "peak_memory_bytes",   "peak_total_memory_bytes", "avg_memory_per_worker_bytes", "process_peak_rss_bytes",
    "tree_peak_rss_bytes", "tree_peak_pss_bytes",     "tree_peak_swap_bytes"};

void AddRun(const Json& document, const TerminalStyle& style, std::string* text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [key, value] : Field(document, "run").items()) {
    if (key != "spans")
      pairs.emplace_back(key, FieldText(value.is_array() ? Json(ExactText(value)) : value, Kind::kText));
  }
  for (std::string_view key :
       {"wall_time", "core_seconds", "total_cores", "allocated_cores", "num_chunks", "total_events"}) {
    const Json& definition = Field(Field(document, "definitions"), key);
    pairs.emplace_back(key, MetricText(key, Field(Field(document, "metrics"), key), TextField(definition, "unit")));
  }
  *text += LabelledLines(pairs, 0, style);
  const Json& spans = ListField(Field(document, "run"), "spans");
  if (spans.empty()) return;
  AddTitle("spans", style, text);
  AddTable(TableOf(spans, {{"path", "span", Kind::kText},
                           {"start_ns", "start (Unix ns)", Kind::kText},
                           {"stop_ns", "stop (Unix ns)", Kind::kText}}),
           style, text);
}

void AddPhases(const Json& document, const TerminalStyle& style, std::string* text) {
  AddRows(ListField(document, "phases"), PhaseColumns(),
          "no phases: no span is named preprocess, process, reduce or postprocess", style, text);
}

/// The distributions, one row each, from the keys of `metrics`.
void AddChunks(const Json& document, const TerminalStyle& style, std::string* text) {
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
      row.push_back(
          {FieldText(Field(Field(document, "metrics"), fmt::format("{}_{}", quantity.key, statistic)), quantity.kind)});
    }
    table.text.rows.push_back(std::move(row));
  }
  AddTable(table, style, text);
  AddTitle("stragglers", style, text);
  AddRows(ListField(document, "stragglers"), StragglerColumns(), "none", style, text);
}

/// Paths become a tree: a row is indented under its parent and shows its own name only. One that does not follow its
/// parent (a helper's, whose rows come last) shows its whole path.
Json AsTree(const Json& sections) {
  Json rows = Json::array();
  std::vector<std::string> open;  // the path of the row before, and of those it stands under
  for (const Json& section : sections) {
    if (!section.is_object()) continue;
    Json row = section;
    const std::string path = TextField(section, "path");
    const Json& helper = Field(section, "helper");
    const bool is_helper = helper.is_boolean() && helper.get<bool>();
    const std::string key = path + (is_helper ? "\n" : "");  // no path ends in a newline
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash) + (is_helper ? "\n" : "");
    while (!open.empty() && open.back() != parent) open.pop_back();
    const std::string name = NameOfPathPart(open.empty() ? path : path.substr(slash + 1));
    row["path"] = std::string(2 * open.size(), ' ') + name + (is_helper ? " (helper)" : "");
    open.push_back(key);
    rows.push_back(std::move(row));
  }
  return rows;
}

void AddSections(const Json& document, const TerminalStyle& style, std::string* text) {
  AddRows(AsTree(ListField(document, "sections")), SectionColumns(), "no section was recorded", style, text);
  const Json& outside = ListField(document, "process_sections");
  if (outside.empty()) return;
  AddTitle("outside chunks", style, text);
  AddTable(TableOf(AsTree(outside), SectionColumns()), style, text);
}

void AddMemory(const Json& document, const TerminalStyle& style, std::string* text) {
  std::vector<std::pair<std::string, std::string>> peaks;
  for (std::string_view key : kMemoryMetrics) {
    const Json& value = Field(Field(document, "metrics"), key);
    peaks.emplace_back(key, value.is_null() ? "– " + WhyNotMeasured(document, key) : FieldText(value, Kind::kMemory));
  }
  *text += LabelledLines(peaks, 0, style);
  AddTitle("memory sections (RSS delta)", style, text);
  AddRows(ListField(document, "memory_sections"), MemorySectionColumns(), "none was recorded", style, text);
}

void AddMetrics(const Json& document, const TerminalStyle& style, std::string* text) {
  DocumentTable table;
  table.text.columns = {{"metric", Align::kLeft}, {"value", Align::kRight, 0, true}, {"label", Align::kLeft, 1, true}};
  for (const auto& [key, value] : Field(document, "metrics").items()) {
    const Json& definition = Field(Field(document, "definitions"), key);
    table.text.rows.push_back({{key},
                               {MetricText(key, value, TextField(definition, "unit"))},
                               {TextField(definition, "label"), Paint::kDim}});
  }
  AddTable(table, style, text);
  AddTitle("your metrics", style, text);
  AddRows(ListField(document, "custom_metrics"), CustomMetricColumns(), "none was recorded", style, text);
}

void AddCuts(const Json& document, const TerminalStyle& style, std::string* text) {
  AddRows(ListField(document, "cuts"), CutColumns(), "no cut was recorded", style, text);
}

void AddRequests(const Json& document, const TerminalStyle& style, std::string* text) {
  AddRows(ListField(document, "requests"), RequestColumns(), "no request to storage was recorded", style, text);
}

void AddFunctions(const Json& document, const TerminalStyle& style, std::string* text) {
  const bool were_asked = NumberField(Field(document, "quality"), "lost_samples").has_value();
  AddRows(ListField(document, "functions"), FunctionColumns(),
          were_asked ? "no stack was seen; crema show --table quality says what was lost"
                     : "no stacks were taken; crema run --stacks takes them",
          style, text);
}

void AddGpuKernels(const Json& document, const TerminalStyle& style, std::string* text) {
  AddRows(ListField(document, "gpu_kernels"), GpuKernelColumns(), "no kernel was counted; crema run --gpu counts them",
          style, text);
}

void AddFine(const Json& document, const TerminalStyle& style, std::string* text) {
  AddRows(ListField(document, "fine"), FineColumns(), "no activity was recorded, and no Dask scheduler was asked",
          style, text);
}

void AddBudgetRows(const Json& document, const TerminalStyle& style, std::string* text) {
  const std::string reason = "no budget: " + WhyNotMeasured(document, "core_seconds");
  AddRows(ListField(document, "budget"), BudgetColumns(), reason, style, text);
}

void AddQuality(const Json& document, const TerminalStyle& style, std::string* text) {
  const Json& quality = Field(document, "quality");
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [key, value] : quality.items()) {
    if (!value.is_structured()) pairs.emplace_back(key, ExactText(value));
  }
  *text += LabelledLines(pairs, 0, style);
  const Json& warnings = ListField(quality, "warnings");
  if (!warnings.empty()) AddTitle("warnings", style, text);
  for (const Json& warning : warnings) {
    for (const std::string& line : Wrap(ExactText(warning), std::max(20, style.width), style)) *text += line + "\n";
  }
  const std::vector<UnmeasuredFigures> unmeasured = FindUnmeasured(document);
  if (!unmeasured.empty()) AddTitle("not measured", style, text);
  for (const UnmeasuredFigures& figures : unmeasured) {
    std::string keys;
    for (const std::string& key : figures.keys) keys += (keys.empty() ? "" : ", ") + key;
    const std::string line = figures.keys.size() == 1
                                 ? fmt::format("{}: {}", keys, figures.reason)
                                 : fmt::format("{} ({} figures): {}", figures.reason, figures.keys.size(), keys);
    for (const std::string& part : Wrap(line, std::max(20, style.width), style)) *text += part + "\n";
  }
}

struct NamedTable {
  std::string_view name;
  void (*add)(const Json& document, const TerminalStyle& style, std::string* text);
};

constexpr std::array<NamedTable, 17> kTables = {{
    {"run", AddRun},
    {"phases", AddPhases},
    {"workers",
     [](const Json& document, const TerminalStyle& style, std::string* text) {
       AddRows(ListField(document, "workers"), WorkerColumns(), "no process recorded a chunk", style, text);
     }},
    {"processes",
     [](const Json& document, const TerminalStyle& style, std::string* text) {
       AddRows(ListField(document, "processes"), ProcessColumns(), "no process was sampled (crema run)", style, text);
     }},
    {"chunks", AddChunks},
    {"datasets",
     [](const Json& document, const TerminalStyle& style, std::string* text) {
       AddRows(ListField(document, "datasets"), BreakdownColumns("dataset", Kind::kText),
               WhyNoBreakdown(document, "dataset"), style, text);
     }},
    {"files",
     [](const Json& document, const TerminalStyle& style, std::string* text) {
       AddRows(ListField(document, "files"), BreakdownColumns("file", Kind::kPath), WhyNoBreakdown(document, "file"),
               style, text);
     }},
    {"sections", AddSections},
    {"memory", AddMemory},
    {"metrics", AddMetrics},
    {"cuts", AddCuts},
    {"requests", AddRequests},
    {"functions", AddFunctions},
    {"gpu_kernels", AddGpuKernels},
    {"fine", AddFine},
    {"budget", AddBudgetRows},
    {"quality", AddQuality},
}};

}  // namespace

absl::Span<const std::string_view> MemoryTableMetrics() { return kMemoryMetrics; }

std::vector<std::string_view> TableNames() {
  std::vector<std::string_view> names;
  for (const NamedTable& table : kTables) names.push_back(table.name);
  return names;
}

absl::StatusOr<std::string> RenderTable(const Json& document, std::string_view table, const TerminalStyle& style) {
  std::string text;
  for (const NamedTable& known : kTables) {
    if (known.name != table) continue;
    known.add(document, style, &text);
    return text;
  }
  std::string names;
  for (std::string_view name : TableNames()) names += (names.empty() ? "" : ", ") + std::string(name);
  return absl::InvalidArgumentError(fmt::format("no table '{}'; there are {}", DisplayText(table, style), names));
}

}  // namespace crema
