#include "collector/metrics/document.h"

#include <type_traits>

#include "absl/time/time.h"
#include "collector/document/measurement_schema.h"
#include "collector/metrics/catalog/catalog.h"
#include "crema/version.h"

namespace crema {
namespace {

std::string IsoUtc(int64_t unix_ns) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixNanos(unix_ns), absl::UTCTimeZone());
}

// An empty text is "not known".
Json OrNullText(std::string_view text) { return text.empty() ? Json() : Json(text); }

const char* StateOf(const RunFigures& figures) {
  if (figures.engine.ended) return "finished";  // its workers may serve others
  bool any_ended = figures.bounds.stop_was_told;
  for (const ProcessRow& process : figures.findings.processes.processes) {
    if (process.state == ProcessState::kRunning && !figures.bounds.stop_was_told) return "running";
    any_ended |= process.state == ProcessState::kEnded;
  }
  if (figures.tree.has_value()) {
    if (figures.tree->running) return "running";
    return figures.tree->stop_ns.has_value() ? "finished" : "killed";
  }
  // Coffea gives its report at the end.
  if (figures.findings.processes.processes.empty() && !figures.coffea.empty()) return "finished";
  return any_ended ? "finished" : "killed";
}

/// What Coffea's report says, under Coffea's names: where records tell the same, both values are kept.
Json CoffeaReportOf(const CoffeaFigures& coffea) {
  if (coffea.reports == 0) return Json();
  return {{"reports", coffea.reports},
          {"bytesread", OrNull(coffea.report.bytes)},
          {"entries", OrNull(coffea.report.entries)},
          {"processtime", OrNull(coffea.report.duration)},
          {"chunks", OrNull(coffea.chunks)},
          {"columns", coffea.has_columns ? Json(coffea.columns.size()) : Json()}};
}

/// The figures by dataset, summed.
Json MetricsByDatasetOf(const CoffeaFigures& coffea) {
  if (coffea.datasets.empty()) return Json();
  return {{"datasets", coffea.datasets.size()},
          {"entries", OrNull(coffea.of_datasets.entries)},
          {"duration", OrNull(coffea.of_datasets.duration)},
          {"num_requested_bytes", OrNull(coffea.of_datasets.bytes)}};
}

std::string_view ColumnsSource(const RunFigures& figures) {
  if (figures.coffea.has_columns) return "coffea_report";
  return figures.findings.files.columns_known ? "records" : "";
}

Json RunOf(const RunFigures& figures, const Provenance& provenance) {
  const std::vector<std::string>& ids = figures.findings.processes.run_ids;
  const std::optional<TreeFigures>& tree = figures.tree;
  std::string id = ids.size() == 1 ? ids.front() : "";
  if (ids.empty() && tree.has_value()) id = tree->run_id;
  const bool has_bounds = !figures.bounds.boundary.empty();
  const RunWindow& window = figures.bounds.window;

  Json run;
  run["id"] = OrNullText(id);
  run["name"] = OrNullText(provenance.run_name);
  run["command"] = tree.has_value() && !tree->command.empty() ? Json(tree->command) : Json();
  run["start_ns"] = has_bounds ? Json(window.start_ns) : Json();
  run["stop_ns"] = has_bounds ? Json(window.stop_ns) : Json();
  run["start"] = has_bounds ? Json(IsoUtc(window.start_ns)) : Json();
  run["boundary"] = OrNullText(figures.bounds.boundary);
  run["cores_source"] = OrNullText(NameCoresSource(figures.workers));
  run["busy_time_source"] = OrNullText(figures.chosen.busy_time.source);
  run["num_chunks_source"] = OrNullText(figures.chosen.num_chunks.source);
  run["total_events_source"] = OrNullText(figures.chosen.total_events.source);
  run["bytes_source"] = OrNullText(figures.chosen.bytes_read.source);
  run["columns_source"] = OrNullText(ColumnsSource(figures));
  run["datasets_source"] = OrNullText(figures.datasets_source);
  run["cpu_time_source"] = OrNullText(figures.cpu_time_source);
  run["io_overhead_source"] = OrNullText(figures.io_overhead_source);
  run["allocated_cores_source"] = OrNullText(figures.allocated_cores_source);
  run["exit_status"] = tree.has_value() ? OrNull(tree->exit_status) : Json();
  run["state"] = StateOf(figures);
  run["engine"] = OrNullText(figures.engine.name);
  run["net_host_wide"] = tree.has_value() ? Json(tree->net_host_wide) : Json();
  run["commit"] = tree.has_value() ? OrNullText(tree->commit) : Json();
  run["commit_source"] = tree.has_value() ? OrNullText(tree->commit_source) : Json();
  run["run_ids"] = ids;
  run["coffea_report"] = CoffeaReportOf(figures.coffea);
  run["metrics_by_dataset"] = MetricsByDatasetOf(figures.coffea);
  Json spans = Json::array();
  for (const SpanRow& span : figures.findings.spans) {
    spans.push_back({{"name", span.name}, {"path", span.path}, {"start_ns", span.start_ns}, {"stop_ns", span.stop_ns}});
  }
  run["spans"] = std::move(spans);
  return run;
}

Json ValueOf(const MetricSet& metrics, const std::string& key) {
  const MetricValue* value = metrics.Find(key);
  if (value == nullptr) return Json();
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return Json();
        } else {
          return Json(held);
        }
      },
      *value);
}

// Calls `on_key(key, definition)` for every key in docs/metrics.md's order, an alias after its key.
template <class OnKey>
void ForEachKey(const OnKey& on_key) {
  for (const MetricDefinition& definition : MetricCatalog()) {
    on_key(definition.key, definition);
    if (!definition.alias.empty()) on_key(definition.alias, definition);
  }
}

Json Metrics(const MetricSet& metrics) {
  Json values = Json::object();
  ForEachKey([&](const std::string& key, const MetricDefinition&) { values[key] = ValueOf(metrics, key); });
  return values;
}

Json Definitions() {
  Json definitions = Json::object();
  ForEachKey([&](const std::string& key, const MetricDefinition& definition) {
    Json entry = {{"unit", definition.unit}, {"label", definition.label}, {"text", definition.text}};
    if (key != definition.key) entry["alias_of"] = definition.key;
    definitions[key] = std::move(entry);
  });
  return definitions;
}

Json QualityOf(const Quality& quality, const RunFigures& figures) {
  const bool has_records = figures.findings.processes.has_records();
  Json json;
  json["records_read"] = quality.reading.records_read;
  json["records_malformed"] = quality.reading.records_malformed;
  json["records_torn"] = quality.reading.records_torn;
  json["records_unknown"] = quality.reading.records_unknown;
  json["records_dropped"] = quality.records_dropped;
  json["guards_misused"] = quality.guards_misused;
  json["records_unwritten"] = OrNull(quality.records_unwritten);
  json["values_outside_chunks"] = OrNull(quality.values_outside_chunks);
  json["records_lost"] = has_records ? Json(quality.records_lost) : Json();
  json["sections_dropped"] = quality.sections_dropped;
  json["summed_chunks"] = quality.summed_chunks;
  json["tasks_read"] = figures.findings.tasks.rows.size();
  json["tasks_left_out"] = quality.tasks_left_out;
  json["lost_samples"] = OrNull(quality.lost_samples);
  json["chunks_without_events"] = has_records ? Json(quality.chunks_without_events) : Json();
  json["processes_ended"] = quality.processes_ended;
  json["processes_running"] = quality.processes_running;
  json["processes_lost"] = quality.processes_lost;
  const EngineFigures& engine = figures.engine;
  const bool has_tasks = !figures.findings.tasks.empty();
  json["chunks_joined_to_tasks"] = has_tasks ? Json(engine.join.chunks_joined) : Json();
  json["chunks_unjoined"] = has_tasks ? Json(engine.join.chunks_unjoined) : Json();
  json["tasks_without_chunk"] =
      has_tasks && quality.summed_chunks == 0 ? Json(engine.join.tasks_without_chunk) : Json();
  json["event_coverage"] = OrNull(quality.event_coverage);
  json["fine_metrics_coverage"] = OrNull(engine.fine_coverage);
  json["clock_offset_max_s"] = OrNull(quality.clock_offset_max_s);
  json["clock_step_max_s"] = OrNull(quality.clock_step_max_s);
  const std::optional<int64_t>& allocations_cost_ns = figures.findings.allocations.cost_ns;
  json["allocations_cost_s"] =
      allocations_cost_ns.has_value() ? Json(static_cast<double>(*allocations_cost_ns) / 1e9) : Json();
  json["sampling_gap_max_s"] = OrNull(quality.sampling_gap_max_s);
  json["workers_unseen"] = engine.has_scheduler ? Json(engine.workers_unseen) : Json();
  json["records_lost_bytes"] = engine.has_scheduler ? Json(engine.lost_bytes) : Json();
  json["tree_cpu_sampled"] = OrNull(quality.tree_cpu_sampled);
  json["processes_left_running"] = OrNull(quality.processes_left_running);
  Json missing = Json::object();
  for (const MissingValues& values : figures.missing_values) missing[std::string(values.quantity)] = values.attempts;
  json["missing_values"] = std::move(missing);
  Json reasons = Json::object();
  ForEachKey([&](const std::string& key, const MetricDefinition&) {
    const std::string_view reason = figures.metrics.Reason(key);
    if (!reason.empty()) reasons[key] = reason;
  });
  json["not_measured"] = std::move(reasons);
  json["warnings"] = quality.warnings;
  return json;
}

}  // namespace

Json WriteDocument(const RunFigures& figures, const Quality& quality, const std::vector<EntryRange>& straggler_ranges,
                   const Provenance& provenance) {
  const RecordFindings& findings = figures.findings;
  Json document;
  document["schema"] = kMeasurementSchema;
  document["schema_minor"] = kMeasurementSchemaMinor;
  document["run"] = RunOf(figures, provenance);
  document["metrics"] = Metrics(figures.metrics);
  document["definitions"] = Definitions();
  document["phases"] = PhaseTable(figures.phases, figures.bounds.window);
  document["datasets"] = DatasetTable(figures);
  document["files"] = BreakdownTable(figures.by_file);
  document["workers"] = WorkerTable(figures);
  document["hosts"] = BreakdownTable(figures.by_host);
  document["threads"] = BreakdownTable(figures.by_thread);
  document["sections"] = SectionTableOf(findings.sections.rows);
  document["memory_sections"] = MemorySectionTableOf(findings.memory_sections);
  document["custom_metrics"] = CustomMetricTableOf(findings.custom_metrics);
  document["cuts"] = CutTableOf(findings.cuts);
  document["requests"] = RequestTableOf(findings.requests);
  document["functions"] = FunctionTableOf(findings.functions);
  document["gpu_kernels"] = GpuKernelTableOf(findings.gpu.kernels);
  document["fine"] = FineTableOf(findings.activities, findings.fine, findings.processes.processes);
  document["budget"] = BudgetTable(figures.budget);
  document["timelines"] = TimelineTable(figures);
  document["stragglers"] = StragglerTable(figures, straggler_ranges);
  document["chunk_fits"] = ChunkFitTable(figures);
  document["expected_time"] = ExpectedTimeTable(figures);
  document["slow_spells"] = SlowSpellTable(figures);
  document["contention"] = ContentionTable(figures);
  document["processes"] = ProcessUseTable(figures);
  document["verdicts"] = Json::array();
  document["quality"] = QualityOf(quality, figures);
  document["provenance"] = {{"crema", CREMA_VERSION_STRING},
                            {"sources", provenance.sources},
                            {"host", provenance.host},
                            {"created", IsoUtc(provenance.created_ns)}};
  document["process_sections"] = SectionTableOf(findings.processes.sections);
  return document;
}

}  // namespace crema
