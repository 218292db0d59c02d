// `crema export --to csv`: the document's tables, one file each.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collector/document/document_fields.h"
#include "collector/exports/delimited_text.h"
#include "collector/exports/formats.h"
#include "crema/version.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct CsvTable {
  std::string name;
  std::vector<std::string> columns;  ///< those that are always there; rows may have more
  Json rows;
};

const std::vector<std::string> kBreakdown = {"name",          "chunks",
                                             "attempts",      "failed",
                                             "lost",          "events",
                                             "bytes_read",    "bytes_uncompressed",
                                             "duration_sum",  "duration_mean",
                                             "duration_p50",  "duration_p95",
                                             "duration_max",  "cpu_sum",
                                             "cpu_wait_sum",  "blocked_sum",
                                             "event_rate",    "events_per_cpu_second",
                                             "rss_delta_mean"};
const std::vector<std::string> kSections = {"path",
                                            "helper",
                                            "count",
                                            "total",
                                            "self",
                                            "min",
                                            "max",
                                            "mean",
                                            "cpu",
                                            "failed",
                                            "chunks",
                                            "p50",
                                            "p95",
                                            "p99",
                                            "mean_per_chunk",
                                            "mean_when_run",
                                            "share",
                                            "self_in_workers",
                                            "allocations",
                                            "allocated_bytes",
                                            "live_bytes",
                                            "peak_live_bytes",
                                            "live_growth_bytes",
                                            "gpu_seconds",
                                            "gpu_launches",
                                            "gpu_copy_seconds",
                                            "gpu_to_device_bytes",
                                            "gpu_from_device_bytes",
                                            "gpu_wait_seconds",
                                            "gpu_wait_cpu_seconds"};
const std::vector<std::string> kCustomMetric = {"name",         "unit",       "count",       "sum", "mean",
                                                "min",          "max",        "p50",         "p95", "invalid",
                                                "failed_count", "failed_sum", "quantiles_of"};

Json MetricRows(const Json& document) {
  Json rows = Json::array();
  for (const auto& [key, value] : Field(document, "metrics").items()) {
    const Json& definition = Field(Field(document, "definitions"), key);
    rows.push_back({{"key", key},
                    {"value", value},
                    {"unit", Field(definition, "unit")},
                    {"label", Field(definition, "label")},
                    {"alias_of", Field(definition, "alias_of")},
                    {"not_measured", Field(Field(Field(document, "quality"), "not_measured"), key)}});
  }
  return rows;
}

Json PairRows(const Json& object) {
  Json rows = Json::array();
  for (const auto& [key, value] : object.items()) rows.push_back({{"key", key}, {"value", value}});
  return rows;
}

void AddPoints(const std::string& series, const Json& worker, const Json& points, Json* rows) {
  if (!points.is_array()) return;
  for (const Json& point : points) {
    if (!point.is_array() || point.size() != 2) continue;
    rows->push_back({{"series", series}, {"worker", worker}, {"seconds", point[0]}, {"value", point[1]}});
  }
}

Json TimelineRows(const Json& document) {
  Json rows = Json::array();
  for (const auto& [series, value] : Field(document, "timelines").items()) {
    if (value.is_array()) AddPoints(series, nullptr, value, &rows);
    if (!value.is_object()) continue;
    for (const auto& [worker, points] : value.items()) AddPoints(series, worker, points, &rows);
  }
  return rows;
}

Json WithoutField(Json rows, const std::string& field) {
  for (Json& row : rows) {
    if (row.is_object()) row.erase(field);
  }
  return rows;
}

Json CustomMetricsByDataset(const Json& document) {
  Json rows = Json::array();
  for (const Json& metric : ListField(document, "custom_metrics")) {
    for (const auto& [dataset, figures] : Field(metric, "by_dataset").items()) {
      Json row = {{"dataset", dataset}, {"name", Field(metric, "name")}, {"unit", Field(metric, "unit")}};
      if (figures.is_object()) row.update(figures);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<std::string> With(std::vector<std::string> columns, const std::vector<std::string>& more) {
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::vector<CsvTable> TablesOf(const Json& document) {
  return {
      {"run", {"key", "value"}, PairRows(Field(document, "run"))},
      {"metrics", {"key", "value", "unit", "label", "alias_of", "not_measured"}, MetricRows(document)},
      {"phases", {"phase", "wall_time", "task_seconds", "start", "stop"}, ListField(document, "phases")},
      {"datasets",
       With(kBreakdown,
            {"gpu_seconds", "gpu_launches", "gpu_copy_seconds", "gpu_to_device_bytes", "gpu_from_device_bytes"}),
       ListField(document, "datasets")},
      {"files", kBreakdown, ListField(document, "files")},
      {"workers",
       With(kBreakdown, {"start", "stop", "cores", "state", "peak_memory_bytes", "memory_limit_bytes", "disk_bytes",
                         "left_reason", "engine_cpu", "engine_peak_memory_bytes", "time_limit"}),
       ListField(document, "workers")},
      {"hosts", kBreakdown, ListField(document, "hosts")},
      {"threads", kBreakdown, ListField(document, "threads")},
      {"sections", kSections, ListField(document, "sections")},
      {"sections_outside_chunks", kSections, ListField(document, "process_sections")},
      {"memory_sections",
       {"path", "count", "delta_bytes", "min_bytes", "max_bytes", "rss_start_bytes", "rss_stop_bytes", "peak_bytes"},
       ListField(document, "memory_sections")},
      {"custom_metrics", kCustomMetric,
       WithoutField(WithoutField(ListField(document, "custom_metrics"), "by_dataset"), "histogram")},
      {"custom_metrics_by_dataset", With({"dataset"}, kCustomMetric), CustomMetricsByDataset(document)},
      {"cuts", {"name", "events", "weights", "step_efficiency", "total_efficiency"}, ListField(document, "cuts")},
      {"requests",
       {"server", "operation", "calls", "bytes", "seconds", "max_seconds", "errors"},
       ListField(document, "requests")},
      {"gpu_kernels",
       {"section", "dataset", "kernel", "launches", "seconds", "max_seconds"},
       ListField(document, "gpu_kernels")},
      {"functions",
       {"section", "dataset", "function", "file", "line", "samples", "share", "share_error"},
       ListField(document, "functions")},
      {"fine", {"context", "span", "worker", "function", "activity", "unit", "value"}, ListField(document, "fine")},
      {"budget", {"part", "group", "core_seconds", "share"}, ListField(document, "budget")},
      {"timelines", {"series", "worker", "seconds", "value"}, TimelineRows(document)},
      {"stragglers",
       {"chunk", "dataset", "file", "entry_start", "entry_stop", "worker", "start", "duration", "predicted", "events",
        "cpu", "cpu_wait", "blocked", "reason"},
       ListField(document, "stragglers")},
      {"verdicts",
       {"id", "severity", "sentence", "evidence", "suggestion", "saving", "cause"},
       ListField(document, "verdicts")},
      {"quality",
       {"key", "value"},
       PairRows(WithoutField(Json::array({Field(document, "quality")}), "not_measured")[0])},
  };
}

void AddColumnsOfRows(CsvTable* table) {
  for (const Json& row : table->rows) {
    if (!row.is_object()) continue;
    for (const auto& [key, value] : row.items()) {
      const std::vector<std::string>& columns = table->columns;
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) table->columns.push_back(key);
    }
  }
}

}  // namespace

absl::Status WriteCsvTables(const ExportSource& source, const std::string& directory) {
  Json columns_of = Json::object();
  for (CsvTable& table : TablesOf(source.document)) {
    AddColumnsOfRows(&table);
    std::vector<std::string> header;
    for (const std::string& column : table.columns) header.push_back(CsvField(std::string_view(column)));
    std::string text = CsvLine(header);
    for (const Json& row : table.rows) {
      std::vector<std::string> fields;
      for (const std::string& column : table.columns) fields.push_back(CsvField(Field(row, column)));
      text += CsvLine(fields);
    }
    if (absl::Status written = WriteTextFile(directory + "/" + table.name + ".csv", text); !written.ok())
      return written;
    columns_of[table.name] = table.columns;
  }
  const Json about = {{"written_by", "crema " CREMA_VERSION_STRING},
                      {"schema", Field(source.document, "schema")},
                      {"run", Field(Field(source.document, "run"), "name")},
                      {"columns", columns_of}};
  return WriteTextFile(directory + "/crema_tables.json",
                       about.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace crema
