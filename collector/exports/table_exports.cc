#include "collector/exports/table_exports.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "collector/exports/export_format.h"
#include "collector/format/worker_names.h"
#include "collector/idioms/units.h"
#include "collector/metrics/attempts/attempt_row.h"
#include "collector/records/json_fields.h"

namespace crema {
namespace {

/// The attempt in the form from which figures are made.
struct Measured {
  AttemptRow row;
  std::vector<HelperTimes> helpers;
};

Measured MeasuredOf(const Attempt& attempt) {
  Measured measured;
  measured.row = RowOf(attempt.chunk);
  if (!attempt.has_ended()) measured.row.duration_ns = AttemptRow::kUnknown;
  if (const std::optional<HelperTimes> helpers = HelpersOf(attempt.chunk)) {
    measured.row.helpers = 0;
    measured.helpers.push_back(*helpers);
  }
  return measured;
}

template <class T>
Json OrNull(const T& value) {
  return value;
}
template <class T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}
Json SecondsOrNull(const std::optional<int64_t>& ns) { return ns.has_value() ? Json(Seconds(*ns)) : Json(); }
double DurationSeconds(const ChunkFact& chunk) { return Seconds(chunk.duration_ns()); }

/// An empty text is null.
template <auto kMember, class Row>
Json Member(const Row& row) {
  if constexpr (std::is_convertible_v<decltype(row.*kMember), std::string_view>) {
    return TextOrNull(row.*kMember);
  } else {
    return OrNull(row.*kMember);
  }
}
template <auto kMember>
Json Fact(const Attempt& attempt) {
  return Member<kMember>(attempt.chunk);
}
template <auto kMember>
Json OfInput(const Attempt& attempt) {
  return Member<kMember>(attempt.chunk.input);
}
template <auto kMember>
Json OfProcess(const Attempt& attempt) {
  return Member<kMember>(attempt.process);
}

template <auto kOf>
Json MeasuredSeconds(const Attempt& attempt) {
  const Measured measured = MeasuredOf(attempt);
  return SecondsOrNull(kOf(measured.row, measured.helpers));
}
Json Joined(const Attempt& attempt) {
  const Measured measured = MeasuredOf(attempt);
  const std::optional<OwnerTime> owner = SplitOwnerTime(measured.row, measured.helpers);
  return owner.has_value() && owner->wait_known ? SecondsOrNull(owner->joined_ns) : Json();
}
Json CpuWait(const Attempt& attempt) { return SecondsOrNull(attempt.chunk.cpu_wait_ns); }
Json Duration(const Attempt& attempt) { return attempt.has_ended() ? Json(DurationSeconds(attempt.chunk)) : Json(); }
Json TimePerEvent(const Attempt& attempt) {
  if (!attempt.has_ended() || !attempt.chunk.events.has_value()) return {};
  return OrNull(Ratio(DurationSeconds(attempt.chunk), *attempt.chunk.events));
}
Json EventRate(const Attempt& attempt) {
  if (!attempt.has_ended() || !attempt.chunk.events.has_value()) return {};
  return OrNull(Ratio(*attempt.chunk.events, DurationSeconds(attempt.chunk)));
}
Json RssDeltaOf(const Attempt& attempt) { return OrNull(RssDelta(MeasuredOf(attempt).row)); }

template <auto kMember>
Json GpuSeconds(const Attempt& attempt) {
  return attempt.gpu.has_value() ? SecondsOrNull((*attempt.gpu).*kMember) : Json();
}
template <auto kMember>
Json GpuCount(const Attempt& attempt) {
  return attempt.gpu.has_value() ? Json((*attempt.gpu).*kMember) : Json();
}

constexpr ChunkField kFields[] = {
    {"run_id", OfProcess<&AttemptProcess::run_id>},
    {"worker", OfProcess<&AttemptProcess::worker>, {"worker", Kind::kText, 3, 7}},
    {"host", OfProcess<&AttemptProcess::host>},
    {"pid", OfProcess<&AttemptProcess::pid>},
    {"process_start_ns", OfProcess<&AttemptProcess::start_ns>},
    {"chunk", Fact<&ChunkFact::number>, {"chunk", Kind::kText, 0, 0}},
    {"status", [](const Attempt& attempt) { return Json(ToString(attempt.state)); }, {"status", Kind::kText, 1, 2}},
    {"error", Fact<&ChunkFact::error>, {"error", Kind::kText, 3, 18}},
    {"attributes", Fact<&ChunkFact::attributes>, {"attributes", Kind::kText, 2, 19, true}},
    {"dataset", OfInput<&ChunkInput::dataset>, {"dataset", Kind::kText, 1, 3}},
    {"file", OfInput<&ChunkInput::file>, {"file", Kind::kPath, 6, 4}},
    {"tree", OfInput<&ChunkInput::tree>},
    {"entry_start", OfInput<&ChunkInput::entry_start>, {"from entry", Kind::kExactCount, 7, 5}},
    {"entry_stop", OfInput<&ChunkInput::entry_stop>, {"to entry", Kind::kExactCount, 7, 6}},
    {"pass", OfInput<&ChunkInput::pass>},
    {"span", Fact<&ChunkFact::span>},
    {"start_ns", Fact<&ChunkFact::start_ns>, {"start", Kind::kDuration, 5, 8}},
    {"stop_ns", [](const Attempt& attempt) { return attempt.has_ended() ? Json(attempt.chunk.stop_ns) : Json(); }},
    {"duration", Duration, {"took", Kind::kDuration, 0, 9}},
    {"events", Fact<&ChunkFact::events>, {"events", Kind::kCount, 2, 10}},
    {"event_rate", EventRate, {"rate", Kind::kRate, 5, 11}},
    {"time_per_event", TimePerEvent, {"", Kind::kDuration}},
    {"bytes_read", Fact<&ChunkFact::bytes_read>, {"read", Kind::kData, 5, 12}},
    {"bytes_uncompressed", Fact<&ChunkFact::bytes_uncompressed>, {"", Kind::kData}},
    {"cpu", MeasuredSeconds<ChunkCpu>, {"cpu", Kind::kDuration, 2, 13}},
    {"cpu_wait", CpuWait, {"cpu wait", Kind::kDuration, 4, 14}},
    {"joined", Joined, {"joined", Kind::kDuration, 8, 15}},
    {"blocked", MeasuredSeconds<ChunkBlocked>, {"blocked", Kind::kDuration, 4, 16}},
    {"cpu_ns", Fact<&ChunkFact::cpu_ns>},
    {"helper_cpu_ns", Fact<&ChunkFact::helper_cpu_ns>},
    {"cpu_wait_ns", Fact<&ChunkFact::cpu_wait_ns>},
    {"helper_wait_ns", Fact<&ChunkFact::helper_wait_ns>},
    {"helper_scope_ns", Fact<&ChunkFact::helper_scope_ns>},
    {"helper_union_ns", Fact<&ChunkFact::helper_union_ns>},
    {"unannounced_cpu_ns", Fact<&ChunkFact::unannounced_cpu_ns>},
    {"children_cpu_ns", Fact<&ChunkFact::children_cpu_ns>},
    {"rss_start_bytes", Fact<&ChunkFact::rss_start_bytes>, {"", Kind::kMemory}},
    {"rss_stop_bytes", Fact<&ChunkFact::rss_stop_bytes>, {"", Kind::kMemory}},
    {"rss_delta_bytes", RssDeltaOf, {"RSS delta", Kind::kMemory, 6, 17}},
    {"rss_peak_bytes", Fact<&ChunkFact::rss_peak_bytes>, {"", Kind::kMemory}},
    {"io_read_bytes", Fact<&ChunkFact::io_read_bytes>, {"", Kind::kData}},
    {"system_cpu_ns", Fact<&ChunkFact::system_cpu_ns>},
    {"minor_faults", Fact<&ChunkFact::minor_faults>, {"", Kind::kCount}},
    {"major_faults", Fact<&ChunkFact::major_faults>, {"", Kind::kCount}},
    {"allocations", Fact<&ChunkFact::allocations>, {"", Kind::kCount}},
    {"allocated_bytes", Fact<&ChunkFact::allocated_bytes>, {"", Kind::kData}},
    {"gpu_seconds", GpuSeconds<&GpuWork::kernel_ns>, {"", Kind::kDuration}},
    {"gpu_launches", GpuCount<&GpuWork::launches>, {"", Kind::kCount}},
    {"gpu_copy_seconds", GpuSeconds<&GpuWork::copy_ns>, {"", Kind::kDuration}},
    {"gpu_to_device_bytes", GpuCount<&GpuWork::to_device_bytes>, {"", Kind::kData}},
    {"gpu_from_device_bytes", GpuCount<&GpuWork::from_device_bytes>, {"", Kind::kData}},
    {"gpu_wait_seconds", GpuSeconds<&GpuWork::wait_ns>, {"", Kind::kDuration}},
    {"gpu_wait_cpu_seconds", GpuSeconds<&GpuWork::wait_cpu_ns>, {"", Kind::kDuration}},
    {"open_chunks", Fact<&ChunkFact::open_chunks>},
    {"lanes_peak", Fact<&ChunkFact::lanes_peak>},
    {"suspended_ns",
     [](const Attempt& attempt) { return attempt.has_ended() ? Json(attempt.chunk.suspended_ns) : Json(); }},
    {"thread", Fact<&ChunkFact::thread>},
    {"tid", Fact<&ChunkFact::tid>},
    {"sections_dropped",
     [](const Attempt& attempt) { return attempt.has_ended() ? Json(attempt.chunk.sections_dropped) : Json(); }},
};

/// Each row of a list with these members, by the names that the record has for them, too.
template <auto... kMembers, class Row>
Json RowsOf(const std::vector<Row>& list) {
  Json rows = Json::array();
  for (const Row& row : list) {
    Json& written = rows.emplace_back(Json::object());
    ((written[std::string(NameOfMember<kMembers>())] = OrNull(row.*kMembers)), ...);
  }
  return rows;
}

bool IsValue(const Json& value, const std::string& wanted, std::string_view field) {
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    const size_t slash = text.rfind('/');
    return text == wanted || (field == "file" && slash != text.npos && text.substr(slash + 1) == wanted);
  }
  double number = 0;
  if (value.is_number_float()) return absl::SimpleAtod(wanted, &number) && number == value.get<double>();
  return value.dump() == wanted;
}

/// `text` cut at the commas after which a `name=` follows.
std::vector<std::string> Conditions(const std::string& text) {
  std::vector<std::string> conditions;
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    const bool is_new = conditions.empty() || part.find('=') != part.npos;
    if (is_new) conditions.emplace_back();
    conditions.back() += is_new ? part : "," + part;
  }
  return conditions;
}

}  // namespace

absl::Span<const ChunkField> ChunkFields() { return kFields; }

std::vector<CellColumn> ChunkListColumns(const ChunkField& sorted_by) {
  std::vector<const ChunkField*> shown = PlacesWhere(
      kFields, [&](const ChunkField& field) { return &field == &sorted_by || !field.shown.header.empty(); });
  SortBy(&shown, [](const ChunkField* field) { return field->shown.place; });
  return Mapped<CellColumn>(shown, [&](const ChunkField* field) {
    const ShownField& as = field->shown;
    const std::string_view header = as.header.empty() ? field->name : as.header;
    return CellColumn{field->name, std::string(header), as.kind, field == &sorted_by ? 0 : as.rank, as.opt_in};
  });
}

absl::StatusOr<const ChunkField*> FindChunkField(std::string_view name) {
  if (const ChunkField* const field = FindBy(kFields, &ChunkField::name, name)) return field;
  const auto names = Mapped<std::string_view>(kFields, &ChunkField::name);
  return absl::InvalidArgumentError(
      fmt::format("a chunk has no field `{}`{}; it has {}", name, DidYouMean(name, names), fmt::join(names, ", ")));
}

Json ChunkAsJson(const Attempt& attempt) {
  Json row = Json::object();
  for (const ChunkField& field : kFields) row[std::string(field.name)] = field.value(attempt);
  const ChunkFact& chunk = attempt.chunk;
  row["attributes"] = Json::parse(chunk.attributes, nullptr, false);
  if (!row["attributes"].is_object()) row["attributes"] = Json();
  row["columns"] = chunk.columns;
  row["sections"] = RowsOf<&SectionFact::path, &SectionFact::helper, &SectionFact::count, &SectionFact::total_ns,
                           &SectionFact::self_ns, &SectionFact::min_ns, &SectionFact::max_ns, &SectionFact::cpu_ns,
                           &SectionFact::failed>(chunk.sections);
  row["memory_sections"] =
      RowsOf<&MemorySectionFact::path, &MemorySectionFact::count, &MemorySectionFact::delta_bytes,
             &MemorySectionFact::min_bytes, &MemorySectionFact::max_bytes, &MemorySectionFact::rss_start_bytes,
             &MemorySectionFact::rss_stop_bytes, &MemorySectionFact::peak_bytes>(chunk.memory_sections);
  row["metrics"] = RowsOf<&MetricFact::name, &MetricFact::unit, &MetricFact::count, &MetricFact::sum, &MetricFact::min,
                          &MetricFact::max, &MetricFact::invalid>(chunk.metrics);
  row["cuts"] =
      RowsOf<&CutFact::name, &CutFact::events, &CutFact::weights, &CutFact::seen, &CutFact::path, &CutFact::flow>(
          chunk.cuts);
  row["activities"] = RowsOf<&ActivityFact::label, &ActivityFact::unit, &ActivityFact::value>(chunk.activities);
  row["requests"] = RowsOf<&RequestFact::server, &RequestFact::operation, &RequestFact::count, &RequestFact::bytes,
                           &RequestFact::total_ns, &RequestFact::max_ns, &RequestFact::errors>(chunk.requests);
  return row;
}

absl::StatusOr<ChunkQuery> ParseChunkQuery(const std::string& sort, size_t top, const std::vector<std::string>& where,
                                           bool failed) {
  ChunkQuery query;
  query.top = top;
  query.failed = failed;
  const absl::StatusOr<const ChunkField*> sort_field = FindChunkField(sort);
  if (!sort_field.ok()) return sort_field.status();
  query.sort = *sort_field;
  for (const std::string& conditions : where) {
    for (const std::string& condition : Conditions(conditions)) {
      const size_t equals = condition.find('=');
      if (equals == std::string::npos) {
        return absl::InvalidArgumentError(
            fmt::format("`{}` is not a condition; write FIELD=VALUE, as in --where dataset=ttbar", condition));
      }
      const absl::StatusOr<const ChunkField*> field = FindChunkField(condition.substr(0, equals));
      if (!field.ok()) return field.status();
      query.where.push_back({*field, condition.substr(equals + 1)});
    }
  }
  return query;
}

bool Matches(const ChunkQuery& query, const Attempt& attempt) {
  if (query.failed && attempt.state != AttemptState::kFailed && attempt.state != AttemptState::kLost) return false;
  return std::all_of(query.where.begin(), query.where.end(), [&](const ChunkCondition& condition) {
    return IsValue(condition.field->value(attempt), condition.value, condition.field->name);
  });
}

bool TopChunks::Before(const Kept& left, const Kept& right) {
  if (left.rank != right.rank) return left.rank < right.rank;
  if (left.number != right.number) return left.number > right.number;
  return std::tie(left.text, left.start_ns, left.worker, left.chunk) <
         std::tie(right.text, right.start_ns, right.worker, right.chunk);
}

void TopChunks::Add(const Attempt& attempt) {
  ++seen_;
  if (!Matches(query_, attempt)) return;
  ++matched_;
  Kept kept;
  if (const Json value = query_.sort->value(attempt); value.is_number()) {
    kept.number = value.get<double>();
  } else if (value.is_string()) {
    kept.text = value.get<std::string>();
  } else {
    kept.rank = 1;
  }
  kept.start_ns = attempt.chunk.start_ns;
  kept.worker = attempt.process.worker;
  kept.chunk = attempt.chunk.number;
  if (heap_.size() == query_.top) {
    if (heap_.empty() || !Before(kept, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), Before);
    heap_.pop_back();
  }
  kept.row = ChunkAsJson(attempt);
  heap_.push_back(std::move(kept));
  std::push_heap(heap_.begin(), heap_.end(), Before);
}

Json TopChunks::Take() {
  std::sort_heap(heap_.begin(), heap_.end(), Before);
  Json rows = Json::array();
  for (Kept& kept : heap_) rows.push_back(std::move(kept.row));
  heap_.clear();
  return rows;
}

// `crema export --to csv`: the measurement's tables, one file each.

namespace {

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

/// One row a range; its entries are null where the whole file is meant.
absl::Status WriteMissing(const ExportSource& source, const std::string& path, TextSink* sink) {
  const absl::StatusOr<std::vector<MissingFile>> missing = FindMissing(source);
  if (!missing.ok()) return missing.status();
  const bool is_csv = absl::EndsWith(path, ".csv");
  if (is_csv) sink->Write("dataset,file,tree,entry_start,entry_stop\n");
  for (const MissingFile& file : *missing) {
    for (const MissingRange& range : file.ranges) {
      const Json first = range.has_value() ? Json(range->first) : Json();
      const Json stop = range.has_value() ? Json(range->second) : Json();
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
                          {"tree", TextOrNull(file.tree)},
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
  const bool is_csv = absl::EndsWith(path, ".csv");
  if (is_csv) sink->Write(CsvLine(Mapped<std::string>(ChunkFields(), &ChunkField::name)));
  bool has_chunks = path == "-";  // none is an answer, too, for a program that reads them
  absl::Status read = source.for_each_attempt([&](const Attempt& attempt) {
    has_chunks = true;
    const auto value = [&](const ChunkField& field) { return CsvField(field.value(attempt)); };
    sink->Write(is_csv ? CsvLine(Mapped<std::string>(ChunkFields(), value)) : JsonText(ChunkAsJson(attempt)) + "\n");
  });
  if (!read.ok() || has_chunks) return read;
  return absl::NotFoundError("there is nothing to write: " + WhyNoRows("hosts", source.measurement));
}

}  // namespace crema
