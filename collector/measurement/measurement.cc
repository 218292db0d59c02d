#include "collector/measurement/measurement.h"

#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"
#include "collector/measurement/catalog.h"
#include "collector/measurement/thresholds.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {

void MetricSet::Set(std::string_view key, MetricValue value, std::string_view reason_if_null) {
  const double* number = std::get_if<double>(&value);
  if (std::holds_alternative<std::monostate>(value) || (number != nullptr && !std::isfinite(*number))) {
    SetNull(key, reason_if_null);
    return;
  }
  values_.insert_or_assign(std::string(key), std::move(value));
  reasons_.erase(std::string(key));
}

void MetricSet::SetNull(std::string_view key, std::string_view reason) {
  values_.insert_or_assign(std::string(key), MetricValue());
  reasons_.insert_or_assign(std::string(key), std::string(reason));
}

const MetricValue* MetricSet::Find(std::string_view key) const {
  auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<double> MetricSet::Number(std::string_view key) const {
  const MetricValue* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* integer = std::get_if<int64_t>(value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(value)) return *number;
  return std::nullopt;
}

std::string_view MetricSet::Reason(std::string_view key) const {
  auto found = reasons_.find(key);
  return found == reasons_.end() ? std::string_view() : std::string_view(found->second);
}

namespace {

template <class Member>
struct RowsOf;
template <class Row>
struct RowsOf<std::vector<Row> Measurement::*> {
  using Type = Row;
};

template <auto kRows>
constexpr Table TableOf(std::string_view about, WhyEmpty empty, std::string_view header = "",
                        Kind header_kind = Kind::kText) {
  return {NameOfMember<kRows>(),
          about,
          header,
          header_kind,
          empty,
          &RowsOf<decltype(kRows)>::Type::Columns,
          [](const Measurement& measurement) { return (measurement.*kRows).size(); },
          [](const Measurement& measurement, size_t index) -> const void* { return &(measurement.*kRows)[index]; }};
}

constexpr char kNone[] = "nothing stands out in what was measured";

std::string NoChunkNamesIt(const Measurement& measurement) { return measurement.HasChunks() ? "" : kNoChunk; }

/// For what every record log of the SDK has.
std::string NotOfChunks(const Measurement& measurement) {
  if (!measurement.HasChunks()) return kNoChunk;
  if (measurement.quality.summed_chunks.value_or(0) > 0) return "chunks were summed: it needs each of them";
  return "the source of these chunks does not record it; record logs of the SDK have it";
}

std::string TooFewChunks(const Measurement& measurement) {
  const std::string why = measurement.HasChunks() ? "too few chunks:" : std::string(kNoChunk) + ";";
  return fmt::format("{} a fit needs {} ok ones of one dataset", why, int64_t{kLeastFittedAttempts});
}

std::string NoSlowChunks(const Measurement& measurement) {
  return measurement.Metric("straggler_chunks").has_value() ? "" : measurement.WhyNotMeasured("straggler_chunks");
}

std::string NoBudget(const Measurement& measurement) {
  const std::string_view reason = measurement.metrics.Reason("core_seconds");
  return reason.empty() ? "" : fmt::format("no budget: {}", reason);
}

std::string NoFunctions(const Measurement& measurement) {
  if (!measurement.HasChunks()) return kInsideNeedsGuards;
  if (!measurement.AskedForStacks()) return "";
  for (const std::string& warning : measurement.quality.warnings) {
    if (BeginsWith(warning, kNoNativeStacks)) return warning;
  }
  if (*measurement.quality.lost_samples > 0) return "no stack was seen; crema show --table quality says what was lost";
  return "no stack was seen: chunks used little CPU time, or only threads of libraries (ROOT) in a Python program did";
}

std::string NoVerdicts(const Measurement& measurement) {
  const bool is_enough = kEnoughCoreSeconds.Holds(measurement.Metric("core_seconds").value_or(0));
  if (is_enough && measurement.HasChunks()) return kNone;
  return fmt::format("{}; most verdicts need chunks (TrackMetrics) and {} core-second of work or more", kNone,
                     kEnoughCoreSeconds.value);
}

constexpr Table kTables[] = {
    TableOf<&Measurement::phases>(
        "One row each, in this order; see [runs and workers](#runs-and-workers).",
        "no phases: no Span is named preprocess, process, reduce or postprocess, and no engine's task "
        "is known to be one of these"),
    TableOf<&Measurement::datasets>("Attempts summed by what they belong to, largest `duration_sum` first.",
                                    {"no chunk named its dataset", NoChunkNamesIt}, "dataset"),
    TableOf<&Measurement::files>("", {"no chunk named its file", NoChunkNamesIt}, "file", Kind::kPath),
    TableOf<&Measurement::workers>("Attempts summed by worker, with more fields. It has all workers of an engine, "
                                   "with or without chunks. A worker of a batch system is one run of a job.",
                                   {kNoChunk, NotOfChunks}),
    TableOf<&Measurement::hosts>("", {kNoChunk, NotOfChunks}, "host"),
    TableOf<&Measurement::threads>("", {kNoChunk, NotOfChunks}, "thread"),
    TableOf<&Measurement::sections>("Sections inside chunks, as a tree, `(other)` last, helpers after owners; and "
                                    "those outside chunks, whose per-chunk fields are null.",
                                    "no section was recorded; put TrackSection around parts of a chunk"),
    TableOf<&Measurement::memory_sections>("By path.", "none was recorded; TrackMemory records them"),
    TableOf<&Measurement::custom_metrics>(
        "Your own metrics, by name and unit. Those of processes (`RecordProcessMetric`) are of no dataset.",
        "none was recorded; call RecordMetric in a chunk"),
    TableOf<&Measurement::attributes>(
        "Attributes of chunks, by name; of each 10 values, `(other)` last: the commonest of all, or of 100 if there "
        "are more. Left out where there are none. `crema export --to chunks` writes those of each chunk.",
        "no attribute of an ended chunk was counted; call SetAttribute in a chunk"),
    TableOf<&Measurement::cuts>("The cut flow, in the order in which cuts were recorded.",
                                "no cut was recorded; call RecordCut where events are selected"),
    TableOf<&Measurement::requests>(
        "Requests to storage, by server and operation, `(other)` last. They may overlap: the sections' times do not "
        "include theirs.",
        "no request to storage was recorded; in Python crema run --requests records them, in C++ TrackRequest"),
    TableOf<&Measurement::events>("Events that go from thread to thread (`TrackEvent`), by dataset: where their "
                                  "latency went. This table and the next two are left out where there are none.",
                                  "no event was recorded; TrackEvent records those of task frameworks"),
    TableOf<&Measurement::modules>(
        "Tasks of events by name (`TrackTask`), the longest own time first; then requests of events.",
        "no task was recorded; TrackTask records those of task frameworks"),
    TableOf<&Measurement::task_threads>("Threads that ran tasks, by worker and number.",
                                        "no task was recorded; TrackTask records those of task frameworks"),
    TableOf<&Measurement::waits>("What threads waited for while they were blocked ([waits](waits.md)), by dataset, "
                                 "section, kind, object and function, the largest first. The seconds add up to the "
                                 "blocked time of owners and helpers; samples only divide it.",
                                 {"no thread was seen waiting: nothing waited, or waits were not sampled",
                                  [](const Measurement& measurement) -> std::string {
                                    if (!measurement.HasChunks()) return kInsideNeedsGuards;
                                    if (!measurement.CannotSeeWaits()) return "";
                                    return "no thread was seen waiting; crema show --table quality says why";
                                  }}),
    TableOf<&Measurement::functions>("What sections are made of ([inside a section](inside.md)), by section and "
                                     "dataset, in each the largest first, `(other)` last.",
                                     {"no stacks were taken; crema run --stacks takes them", NoFunctions}),
    TableOf<&Measurement::gpu_kernels>(
        "Kernels that ran on GPUs, by section and dataset of the launching thread, longest first, at most 200. Only "
        "with `crema run --gpu`; as far as they were counted.",
        {"no kernel was counted; crema run --gpu counts them",
         [](const Measurement& measurement) -> std::string {
           return measurement.Metric("gpu_launches").has_value() ? "no kernel ran on a GPU" : "";
         }}),
    TableOf<&Measurement::fine>(
        "Activities, by worker, span, activity and unit.",
        "no activity was recorded, and no Dask scheduler was asked; TrackActivity records them"),
    TableOf<&Measurement::budget>("Where the core-seconds went.",
                                  {"no budget: it needs the CPU time of chunks, and when each worker lived; record "
                                   "logs of the SDK have both",
                                   NoBudget}),
    TableOf<&Measurement::stragglers>(
        "Chunks that took far longer than their size explains, largest excess first; at most 1000.",
        {"none: no chunk took far longer than its size explains", NoSlowChunks}),
    TableOf<&Measurement::chunk_fits>(
        "The robust fit of duration = fixed + slope x events of the ok attempts of each dataset, in each pass.",
        {"no single chunk that ended well is known", NoChunkNamesIt}),
    TableOf<&Measurement::expected_time>(
        "The time that workers and files took, beside the time that chunks of the same dataset and size take. Largest "
        "excess first, at most 500 of each. Only datasets with 8 ok attempts or more count.",
        {kNoChunk, TooFewChunks}),
    TableOf<&Measurement::slow_spells>("Times in which chunks were slow: chunks that follow each other on a worker, on "
                                       "a host, in a file, of a dataset or in the whole run, and took 1.5 times what "
                                       "the fits predict, or more. Largest excess first, at most 100.",
                                       {"none: at no time were chunks slow one after the other", NoSlowChunks}),
    TableOf<&Measurement::contention>("Whether chunks are blocked for longer while more of them are open, in one row. "
                                      "A resource that serves R events a second blocks each of k open chunks for k / R "
                                      "an event; what a chunk waits for by itself does not depend on k.",
                                      {kNoChunk, NotOfChunks}),
    TableOf<&Measurement::processes>("The processes of `crema run` as sampled, most CPU time first, at most 200. What "
                                     "began and ended between two samples is not among them.",
                                     "no process was sampled; crema run samples what lives longer than its interval"),
    TableOf<&Measurement::verdicts>("Worst first; each verdict comes before those that it explains. At equal severity, "
                                    "gaps of the measurement come first, then failing chunks, then the largest saving.",
                                    {kNone, NoVerdicts}),
    TableOf<&Measurement::process_sections>(
        "", "no section outside chunks was recorded; TrackSection outside a chunk records one"),
    TableOf<&Measurement::chunk_size_advice>(
        "The number of events per chunk that fits, cores and memory limits suggest.", {kNoChunk, TooFewChunks}),
    TableOf<&Measurement::resource_advice>(
        "What to ask the batch system for. If it reported what its jobs used, there is a row for memory and one for "
        "cores.",
        "no batch system reported what its jobs used; give its log beside the records"),
};

/// Calls `on_key(key, definition)` for every key in docs/metrics.md's order, an alias after its key.
template <class OnKey>
void ForEachKey(const OnKey& on_key) {
  for (const MetricDefinition& definition : MetricCatalog()) {
    on_key(definition.key, definition);
    if (!definition.alias.empty()) on_key(definition.alias, definition);
  }
}

MetricValue MetricOf(const Json& value) {
  if (value.is_array()) {
    std::vector<std::string> names;
    ReadValue(value, &names);
    return names;
  }
  Number number;
  ReadValue(value, &number);
  if (number.is_integer()) return number.integer();
  return number.has_value() ? MetricValue(*number) : MetricValue();
}

void WriteMetrics(const void* row, Json* values) {
  const MetricSet& metrics = static_cast<const Measurement*>(row)->metrics;
  *values = Json::object();
  ForEachKey([&](const std::string& key, const MetricDefinition&) {
    if (const MetricValue* value = metrics.Find(key); value != nullptr) (*values)[key] = JsonOf(*value);
  });
}

void ReadMetrics(const Json& values, void* row) {
  MetricSet& metrics = static_cast<Measurement*>(row)->metrics;
  if (!values.is_object()) return;
  ForEachKey([&](const std::string& key, const MetricDefinition&) {
    if (const auto found = values.find(key); found != values.end()) metrics.Set(key, MetricOf(*found), "");
  });
}

void WriteDefinitions(const void* row, Json* definitions) {
  const MetricSet& metrics = static_cast<const Measurement*>(row)->metrics;
  *definitions = Json::object();
  ForEachKey([&](const std::string& key, const MetricDefinition& definition) {
    if (metrics.Find(key) == nullptr) return;
    Json& entry = (*definitions)[key];
    entry = {{"unit", definition.unit}, {"label", definition.label}, {"text", definition.text}};
    if (key != definition.key) entry["alias_of"] = definition.key;
  });
}

/// `not_measured` is in it: the reasons of the metrics.
void WriteQuality(const void* row, Json* object) {
  const auto& measurement = *static_cast<const Measurement*>(row);
  for (const Column& column : Quality::Columns()) {
    Json& value = (*object)[std::string(column.key)];
    if (column.write != nullptr) {
      column.write(&measurement.quality, &value);
      continue;
    }
    value = Json::object();
    ForEachKey([&](const std::string& key, const MetricDefinition&) {
      if (const std::string_view reason = measurement.metrics.Reason(key); !reason.empty()) value[key] = reason;
    });
  }
}

void ReadQuality(const Json& object, void* row) {
  auto& measurement = *static_cast<Measurement*>(row);
  ReadRow(Quality::Columns(), object, &measurement.quality);
  if (!object.is_object()) return;
  const auto reasons = object.find("not_measured");
  if (reasons == object.end() || !reasons->is_object()) return;
  for (const auto& [key, reason] : reasons->items()) {
    if (FindMetric(key) == nullptr) continue;
    const MetricValue* value = measurement.metrics.Find(key);
    const bool is_null = value == nullptr || std::holds_alternative<std::monostate>(*value);
    if (is_null && reason.is_string()) measurement.metrics.SetNull(key, reason.get_ref<const std::string&>());
  }
}

constexpr Column Computed(std::string_view key, void (*write)(const void*, Json*), void (*read)(const Json&, void*)) {
  return {key, "", "", write, read, nullptr, "", Kind::kText, 0};
}

constexpr Column kMetrics[] = {
    Computed("metrics", WriteMetrics, ReadMetrics),
    Computed("definitions", WriteDefinitions, [](const Json&, void*) {}),
};
constexpr Column kQuality[] = {Computed("quality", WriteQuality, ReadQuality)};

/// The document has these tables where they are not empty.
constexpr auto kOfFewPrograms =
    FieldsOf<&Measurement::events, &Measurement::modules, &Measurement::task_threads, &Measurement::attributes>();

/// The document is a row, too; the reasons come after the metrics that they explain.
constexpr auto kDocument = Joined<Column>(
    FieldsOf<&Measurement::schema, &Measurement::schema_minor, &Measurement::run>(), kMetrics,
    FieldsOf<&Measurement::phases, &Measurement::datasets, &Measurement::files, &Measurement::workers,
             &Measurement::hosts, &Measurement::threads, &Measurement::sections, &Measurement::memory_sections,
             &Measurement::custom_metrics, &Measurement::cuts, &Measurement::requests, &Measurement::functions,
             &Measurement::gpu_kernels, &Measurement::fine, &Measurement::budget, &Measurement::timelines,
             &Measurement::stragglers, &Measurement::chunk_fits, &Measurement::expected_time, &Measurement::slow_spells,
             &Measurement::contention, &Measurement::processes, &Measurement::verdicts>(),
    kQuality,
    FieldsOf<&Measurement::provenance, &Measurement::process_sections, &Measurement::chunk_size_advice,
             &Measurement::resource_advice, &Measurement::headline, &Measurement::trouble, &Measurement::waits>(),
    kOfFewPrograms);

}  // namespace

std::map<std::string, double> WorkerStops(const Measurement& measurement) {
  std::map<std::string, double> stops;
  for (const WorkerRow& worker : measurement.workers) {
    if (worker.stop.has_value()) stops[worker.name] = *worker.stop;
  }
  return stops;
}

absl::Span<const Table> Tables() { return kTables; }

const Table* FindTable(std::string_view key) { return FindBy(kTables, &Table::key, key); }

std::string WhyNoRows(std::string_view table, const Measurement& measurement) {
  const WhyEmpty& why = FindTable(table)->empty;
  const std::string here = why.here == nullptr ? "" : why.here(measurement);
  return here.empty() ? std::string(why.text) : here;
}

std::vector<std::string> QuotedAttribute(std::string_view name, const std::vector<AttributeRow>& rows,
                                         const Quality& quality) {
  const char* at_least = quality.summed_chunks.value_or(0) > 0 ? "at least " : "";
  std::vector<std::string> quotations;
  for (const AttributeRow& row : rows) {
    if (row.name != name || row.value == "(other)") continue;
    quotations.push_back(fmt::format("the attribute {} says: {} (attempts: {}{})", name, row.value.str(), at_least,
                                     row.chunks.integer()));
  }
  return quotations;
}

std::string Measurement::WhyNotMeasured(std::string_view key) const {
  const std::string_view reason = metrics.Reason(key);
  return reason.empty() ? "not measured" : std::string(reason);
}

Json JsonOf(const Number& number) {
  Json value;
  WriteValue(number, &value);
  return value;
}

Json TextOrNull(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json JsonOf(const MetricValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return Json();
        } else {
          return Json(held);
        }
      },
      value);
}

Json JsonOf(const Measurement& measurement) {
  Json document;
  WriteRow(kDocument, &measurement, &document);
  for (const Column& table : kOfFewPrograms) {
    if (document[table.key].empty()) document.erase(table.key);
  }
  return document;
}

Measurement MeasurementOf(const Json& document) {
  Measurement measurement;
  ReadRow(kDocument, document, &measurement);
  return measurement;
}

CellTable CellsOf(absl::Span<const Column> columns, size_t rows, const std::function<const void*(size_t)>& row) {
  std::vector<const Column*> shown = PlacesWhere(columns, [](const Column& column) { return !column.header.empty(); });
  SortBy(&shown, &Column::place);
  CellTable cells;
  for (const Column* column : shown) {
    cells.columns.push_back({column->key, std::string(column->header), column->kind, column->rank, column->opt_in});
  }
  for (size_t i = 0; i < rows; ++i) {
    cells.rows.push_back(Mapped<Cell>(shown, [&](const Column* column) { return column->cell(row(i)); }));
  }
  return cells;
}

CellTable CellsOf(const Table& table, const Measurement& measurement) {
  CellTable cells =
      CellsOf(table.columns(), table.size(measurement), [&](size_t index) { return table.row(measurement, index); });
  if (!table.header.empty()) {
    cells.columns.front().header = table.header;
    cells.columns.front().kind = table.header_kind;
  }
  return cells;
}

std::optional<double> NumberOf(const Cell& cell) {
  const Number* number = std::get_if<Number>(&cell);
  return number == nullptr ? std::nullopt : std::optional<double>(*number);
}

std::string DigitsOf(const Number& number) { return JsonOf(number).dump(); }

}  // namespace crema
