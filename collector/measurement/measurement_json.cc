#include "collector/measurement/measurement_json.h"

#include <type_traits>

#include "collector/measurement/catalog.h"
#include "nlohmann/json.hpp"

namespace crema {

using Json = nlohmann::ordered_json;

Json JsonOf(const Number& number) {
  Json value;
  WriteValue(number, &value);
  return value;
}

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

namespace {

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
    const auto found = values.find(key);
    if (found != values.end()) metrics.Set(key, MetricOf(*found), "");
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

/// `not_measured` stands in it: the reasons of the metrics.
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
      const std::string_view reason = measurement.metrics.Reason(key);
      if (!reason.empty()) value[key] = reason;
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

/// The document is a row, too; the reasons come after the metrics that they explain.
constexpr Column kDocument[] = {
    ColumnOf<&Measurement::schema>("schema"),
    ColumnOf<&Measurement::schema_minor>("schema_minor"),
    ColumnOf<&Measurement::run>("run"),
    Computed("metrics", WriteMetrics, ReadMetrics),
    Computed("definitions", WriteDefinitions, [](const Json&, void*) {}),
    ColumnOf<&Measurement::phases>("phases"),
    ColumnOf<&Measurement::datasets>("datasets"),
    ColumnOf<&Measurement::files>("files"),
    ColumnOf<&Measurement::workers>("workers"),
    ColumnOf<&Measurement::hosts>("hosts"),
    ColumnOf<&Measurement::threads>("threads"),
    ColumnOf<&Measurement::sections>("sections"),
    ColumnOf<&Measurement::memory_sections>("memory_sections"),
    ColumnOf<&Measurement::custom_metrics>("custom_metrics"),
    ColumnOf<&Measurement::cuts>("cuts"),
    ColumnOf<&Measurement::requests>("requests"),
    ColumnOf<&Measurement::functions>("functions"),
    ColumnOf<&Measurement::gpu_kernels>("gpu_kernels"),
    ColumnOf<&Measurement::fine>("fine"),
    ColumnOf<&Measurement::budget>("budget"),
    ColumnOf<&Measurement::timelines>("timelines"),
    ColumnOf<&Measurement::stragglers>("stragglers"),
    ColumnOf<&Measurement::chunk_fits>("chunk_fits"),
    ColumnOf<&Measurement::expected_time>("expected_time"),
    ColumnOf<&Measurement::slow_spells>("slow_spells"),
    ColumnOf<&Measurement::contention>("contention"),
    ColumnOf<&Measurement::processes>("processes"),
    ColumnOf<&Measurement::verdicts>("verdicts"),
    Computed("quality", WriteQuality, ReadQuality),
    ColumnOf<&Measurement::provenance>("provenance"),
    ColumnOf<&Measurement::process_sections>("process_sections"),
    ColumnOf<&Measurement::chunk_size_advice>("chunk_size_advice"),
    ColumnOf<&Measurement::resource_advice>("resource_advice"),
    ColumnOf<&Measurement::headline>("headline"),
    ColumnOf<&Measurement::trouble>("trouble"),
    ColumnOf<&Measurement::waits>("waits"),
    ColumnOf<&Measurement::events>("events"),
    ColumnOf<&Measurement::modules>("modules"),
    ColumnOf<&Measurement::task_threads>("task_threads"),
};

}  // namespace

Json JsonOf(const Measurement& measurement) {
  Json document;
  WriteRow(kDocument, &measurement, &document);
  for (const char* table : {"events", "modules", "task_threads"}) {
    if (document[table].empty()) document.erase(table);  // few programs have tasks
  }
  return document;
}

Measurement MeasurementOf(const Json& document) {
  Measurement measurement;
  ReadRow(kDocument, document, &measurement);
  return measurement;
}

}  // namespace crema
