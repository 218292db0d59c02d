// `crema export --to csv`: the measurement's tables, one file each.

#include "absl/strings/match.h"
#include "collector/exports/chunk_fields.h"
#include "collector/exports/export_format.h"
#include "collector/exports/formats.h"
#include "collector/exports/missing_ranges.h"
#include "collector/measurement/measurement_json.h"
#include "collector/records/loose_json.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

struct CsvTable {
  std::string name;
  std::vector<std::string_view> columns;
  std::string lines = "";
};

std::string Field(std::string_view text) { return CsvField(Cell(std::string(text))); }

/// All but `by_dataset`, which has its own file, and histograms, which do not fit into a cell.
std::vector<const Column*> CsvColumns(absl::Span<const Column> all) {
  std::vector<const Column*> columns;
  for (const bool last : {false, true}) {
    for (const Column& column : all) {
      if (column.csv_last != last || column.key == "by_dataset" || column.key == "histogram") continue;
      columns.push_back(&column);
    }
  }
  return columns;
}

void AddRow(std::vector<std::string> fields, const std::vector<const Column*>& columns, const void* row,
            CsvTable* table) {
  for (const Column* column : columns) fields.push_back(CsvField(column->cell(row)));
  table->lines += CsvLine(fields);
}

CsvTable TableOf(const Table& table, const Measurement& measurement) {
  CsvTable csv = {std::string(table.key == "process_sections" ? "sections_outside_chunks" : table.key), {}};
  const std::vector<const Column*> columns = CsvColumns(table.columns());
  for (const Column* column : columns) csv.columns.push_back(column->key);
  for (size_t i = 0; i < table.size(measurement); ++i) AddRow({}, columns, table.row(measurement, i), &csv);
  return csv;
}

CsvTable CustomMetricsByDataset(const Measurement& measurement) {
  CsvTable csv = {"custom_metrics_by_dataset", {"dataset", "name", "unit"}};
  const std::vector<const Column*> columns = CsvColumns(CustomMetricFigures::Columns());
  for (const Column* column : columns) csv.columns.push_back(column->key);
  for (const CustomMetricRow& metric : measurement.custom_metrics) {
    for (const auto& [dataset, figures] : metric.by_dataset) {
      AddRow({Field(dataset), Field(metric.name), Field(metric.unit)}, columns, &figures, &csv);
    }
  }
  return csv;
}

/// An object's keys and values.
CsvTable Pairs(const std::string& name, absl::Span<const Column> columns, const void* row) {
  CsvTable csv = {name, {"key", "value"}};
  for (const Column& column : columns) {
    if (column.cell != nullptr) csv.lines += CsvLine({Field(column.key), CsvField(column.cell(row))});
  }
  return csv;
}

CsvTable MetricTable(const ExportSource& source) {
  CsvTable csv = {"metrics", {"key", "value", "unit", "label", "alias_of", "not_measured"}};
  const MetricSet& metrics = source.measurement.metrics;
  for (const MetricDefinition& definition : source.metrics) {
    for (const std::string& key : {definition.key, definition.alias}) {
      const MetricValue* value = metrics.Find(key);
      if (value == nullptr) continue;
      csv.lines += CsvLine({Field(key), CsvField(JsonOf(*value)), Field(definition.unit), Field(definition.label),
                            Field(key == definition.key ? "" : definition.key), Field(metrics.Reason(key))});
    }
  }
  return csv;
}

CsvTable TimelineTable(const Timelines& timelines) {
  CsvTable csv = {"timelines", {"series", "worker", "seconds", "value"}};
  const auto add = [&csv](const std::string& series, const std::string& worker, const Timeline& points) {
    for (const TimelinePoint& point : points) {
      csv.lines +=
          CsvLine({series, worker, CsvField(CellOf(Number(point.seconds))), CsvField(CellOf(Number(point.value)))});
    }
  };
  add("worker_counts", "", timelines.worker_counts);
  for (const NamedTimelines& series : timelines.series) {
    if (!series.by_worker.has_value()) continue;
    for (const auto& [worker, points] : *series.by_worker) add(series.key, Field(worker), points);
  }
  return csv;
}

std::vector<CsvTable> TablesOf(const ExportSource& source) {
  const Measurement& measurement = source.measurement;
  std::vector<CsvTable> tables = {Pairs("run", RunFacts::Columns(), &measurement.run), MetricTable(source)};
  for (const Table& table : Tables()) {
    tables.push_back(TableOf(table, measurement));
    if (table.key == "custom_metrics") tables.push_back(CustomMetricsByDataset(measurement));
  }
  tables.push_back(TimelineTable(measurement.timelines));
  tables.push_back(Pairs("quality", Quality::Columns(), &measurement.quality));
  return tables;
}

using Entries = std::pair<int64_t, int64_t>;

absl::Status WriteCsv(const ExportSource& source, TextSink* sink) {
  std::vector<std::string> line;
  for (const ChunkField& field : ChunkFields()) line.emplace_back(field.name);
  sink->Write(CsvLine(line));
  return source.for_each_attempt([&line, sink](const Attempt& attempt) {
    line.clear();
    for (const ChunkField& field : ChunkFields()) line.push_back(CsvField(field.value(attempt)));
    sink->Write(CsvLine(line));
  });
}

Json NumberOr(const MissingRange& range, int64_t Entries::*member) {
  return range.has_value() ? Json((*range).*member) : Json();
}

/// One row a range; its entries are null where the whole file is meant.
absl::Status WriteMissing(const ExportSource& source, const std::string& path, TextSink* sink) {
  const absl::StatusOr<std::vector<MissingFile>> missing = FindMissing(source);
  if (!missing.ok()) return missing.status();
  const bool is_csv = absl::EndsWith(path, ".csv");
  if (is_csv) sink->Write("dataset,file,tree,entry_start,entry_stop\n");
  for (const MissingFile& file : *missing) {
    for (const MissingRange& range : file.ranges) {
      const Json first = NumberOr(range, &Entries::first);
      const Json stop = NumberOr(range, &Entries::second);
      if (absl::EndsWith(path, ".txt")) {
        // Programs that read lines take the last entry, not the one after it; `0 -1` is the whole file.
        sink->Write(range.has_value() ? fmt::format("{} {} {}\n", file.file, range->first, range->second - 1)
                                      : fmt::format("{} 0 -1\n", file.file));
      } else if (is_csv) {
        sink->Write(CsvLine({CsvField(Json(file.dataset)), CsvField(Json(file.file)), CsvField(Json(file.tree)),
                             CsvField(first), CsvField(stop)}));
      } else {
        const Json row = {{"dataset", file.dataset},
                          {"file", file.file},
                          {"tree", file.tree.empty() ? Json() : Json(file.tree)},
                          {"entry_start", first},
                          {"entry_stop", stop}};
        sink->Write(JsonText(row) + "\n");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteCsvTables(const ExportSource& source, const std::string& directory) {
  Json columns_of = Json::object();
  for (const CsvTable& table : TablesOf(source)) {
    const std::string header = CsvLine({table.columns.begin(), table.columns.end()});
    absl::Status written = WriteTextFile(directory + "/" + table.name + ".csv", header + table.lines);
    if (!written.ok()) return written;
    columns_of[table.name] = table.columns;
  }
  Json about = {{"written_by", "crema " CREMA_VERSION_STRING}, {"schema", nullptr}, {"run", nullptr}};
  WriteValue(source.measurement.schema, &about["schema"]);
  WriteValue(source.measurement.run.name, &about["run"]);
  about["columns"] = std::move(columns_of);
  return WriteTextFile(directory + "/crema_tables.json", JsonText(about, 1) + "\n");
}

absl::Status WriteChunks(const ExportSource& source, const std::string& path, TextSink* sink) {
  if (source.without_result) return WriteMissing(source, path, sink);
  if (absl::EndsWith(path, ".csv")) return WriteCsv(source, sink);
  return source.for_each_attempt(
      [sink](const Attempt& attempt) { sink->Write(JsonText(ChunkAsJson(attempt)) + "\n"); });
}

}  // namespace crema
