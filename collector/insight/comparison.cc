#include "collector/insight/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "collector/document/document_fields.h"
#include "collector/insight/comparison_sentence.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Documents = std::vector<const Json*>;

struct RowField {
  const char* field;
  const char* unit;
};

constexpr RowField kDatasetFields[] = {{"events", "count"},   {"chunks", "count"},   {"attempts", "count"},
                                       {"failed", "count"},   {"lost", "count"},     {"bytes_read", "B"},
                                       {"duration_sum", "s"}, {"duration_p50", "s"}, {"duration_p95", "s"},
                                       {"duration_max", "s"}, {"cpu_sum", "s"},      {"cpu_wait_sum", "s"},
                                       {"blocked_sum", "s"},  {"event_rate", "Hz"},  {"events_per_cpu_second", "Hz"}};
constexpr RowField kSectionFields[] = {{"self", "s"}, {"total", "s"}, {"count", "count"}, {"mean", "s"},
                                       {"cpu", "s"},  {"p95", "s"},   {"share", "ratio"}};

ComparedValue ValueOf(std::string key, std::string label, std::string unit, std::vector<std::optional<double>> values) {
  ComparedValue compared{std::move(key), std::move(label), std::move(unit), std::move(values), {}};
  const std::optional<double>& first = compared.values.front();
  for (const std::optional<double>& value : compared.values) {
    const bool known = first.has_value() && value.has_value();
    if (known && *first == *value) {
      compared.changes.emplace_back(0.0);
    } else if (known && *first != 0) {
      compared.changes.emplace_back((*value - *first) / std::fabs(*first));
    } else {
      compared.changes.emplace_back(std::nullopt);
    }
  }
  return compared;
}

std::vector<std::optional<double>> Collect(const Documents& documents,
                                           const std::function<std::optional<double>(const Json&)>& value_of) {
  std::vector<std::optional<double>> values;
  for (const Json* document : documents) values.push_back(value_of(*document));
  return values;
}

bool AnyKnown(const ComparedValue& value) {
  return std::any_of(value.values.begin(), value.values.end(), [](const auto& one) { return one.has_value(); });
}

std::string SectionName(const Json& row) {
  const Json& helper = Field(row, "helper");
  return TextField(row, "path") + (helper.is_boolean() && helper.get<bool>() ? " (helper)" : "");
}
std::string RowName(const Json& row) { return TextField(row, "name"); }

using NameOf = std::string (*)(const Json&);

/// The rows of that name in a table; the first where there are several.
const Json& RowNamed(const Json& document, const char* table, NameOf name_of, const std::string& name) {
  static const Json kNoRow;
  for (const Json& row : ListField(document, table)) {
    if (name_of(row) == name) return row;
  }
  return kNoRow;
}

/// Names in the order of the first measurement, then those that only later ones have.
std::vector<std::string> Names(const Documents& documents, const char* table, NameOf name_of) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Json* document : documents) {
    for (const Json& row : ListField(*document, table)) {
      if (seen.insert(name_of(row)).second) names.push_back(name_of(row));
    }
  }
  return names;
}

template <size_t kFields>
std::vector<ComparedRow> CompareRows(const Documents& documents, const char* table, NameOf name_of,
                                     const RowField (&fields)[kFields]) {
  std::vector<ComparedRow> rows;
  for (const std::string& name : Names(documents, table, name_of)) {
    ComparedRow row{name, {}};
    for (const RowField& field : fields) {
      ComparedValue value = ValueOf(field.field, "", field.unit, Collect(documents, [&](const Json& document) {
                                      return NumberField(RowNamed(document, table, name_of, name), field.field);
                                    }));
      if (AnyKnown(value)) row.fields.push_back(std::move(value));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ComparedValue> CompareMetrics(const Documents& documents) {
  std::vector<ComparedValue> metrics;
  std::set<std::string> seen;
  for (const Json* with_key : documents) {
    for (const auto& [key, ignored] : Field(*with_key, "metrics").items()) {
      const Json& definition = Field(Field(*with_key, "definitions"), key);
      if (Field(definition, "alias_of").is_string() || !seen.insert(key).second) continue;
      const std::string& name = key;
      ComparedValue value =
          ValueOf(name, TextField(definition, "label"), TextField(definition, "unit"),
                  Collect(documents, [&name](const Json& document) { return Metric(document, name); }));
      if (AnyKnown(value)) metrics.push_back(std::move(value));
    }
  }
  return metrics;
}

std::vector<ComparedValue> CompareContents(const Documents& documents) {
  std::vector<ComparedValue> contents;
  const auto add = [&](ComparedValue value) {
    if (AnyKnown(value)) contents.push_back(std::move(value));
  };
  add(ValueOf("total_events", "events", "count",
              Collect(documents, [](const Json& document) { return Metric(document, "total_events"); })));
  for (const std::string& name : Names(documents, "datasets", RowName)) {
    add(ValueOf("dataset:" + name + ":events", "events of " + name, "count",
                Collect(documents, [&name](const Json& document) {
                  return NumberField(RowNamed(document, "datasets", RowName, name), "events");
                })));
  }
  for (const std::string& name : Names(documents, "cuts", RowName)) {
    for (const auto& [field, what] : {std::pair("events", "events after "), std::pair("weights", "weights after ")}) {
      add(ValueOf(fmt::format("cut:{}:{}", name, field), what + name, "count",
                  Collect(documents, [&name, field = field](const Json& document) {
                    return NumberField(RowNamed(document, "cuts", RowName, name), field);
                  })));
    }
  }
  return contents;
}

std::vector<ComparedRun> RunsOf(const Documents& documents) {
  std::vector<ComparedRun> runs;
  std::set<std::string> taken;
  for (const Json* document : documents) {
    const Json& run = Field(*document, "run");
    std::string name = TextField(run, "name");
    if (name.empty()) name = "run";
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) unique = fmt::format("{} ({})", name, number);
    runs.push_back({unique, TextField(run, "id"), TextField(run, "state")});
  }
  return runs;
}

/// Sums of weights are floating-point sums in whatever order the chunks came (docs/metrics.md, "Rules").
bool SameWithinRounding(double left, double right) {
  return std::fabs(left - right) <= 1e-12 * std::max(std::fabs(left), std::fabs(right));
}

bool IsEqual(const ComparedValue& value) {
  const std::optional<double>& first = value.values.front();
  return std::all_of(value.values.begin(), value.values.end(), [&first](const std::optional<double>& other) {
    return first.has_value() && other.has_value() && SameWithinRounding(*first, *other);
  });
}

Json ToJson(const ComparedValue& value) {
  const auto list = [](const std::vector<std::optional<double>>& numbers) {
    Json json = Json::array();
    for (const std::optional<double>& number : numbers) json.push_back(number.has_value() ? Json(*number) : Json());
    return json;
  };
  return {{"key", value.key},
          {"label", value.label},
          {"unit", value.unit},
          {"values", list(value.values)},
          {"changes", list(value.changes)}};
}

Json ToJson(const std::vector<ComparedValue>& values) {
  Json rows = Json::array();
  for (const ComparedValue& value : values) rows.push_back(ToJson(value));
  return rows;
}

Json ToJson(const std::vector<ComparedRow>& rows) {
  Json json = Json::array();
  for (const ComparedRow& row : rows) json.push_back({{"name", row.name}, {"fields", ToJson(row.fields)}});
  return json;
}

}  // namespace

bool ComparedValue::differs() const {
  return std::any_of(changes.begin(), changes.end(),
                     [](const std::optional<double>& change) { return !change.has_value() || *change != 0; });
}

std::vector<ComparedValue> Comparison::Unequal() const {
  std::vector<ComparedValue> unequal;
  for (const ComparedValue& value : should_be_equal) {
    if (!IsEqual(value)) unequal.push_back(value);
  }
  return unequal;
}

Comparison Compare(const std::vector<const Json*>& documents, std::vector<PairedChange> paired) {
  Comparison comparison;
  comparison.paired = std::move(paired);
  if (documents.empty()) return comparison;
  comparison.runs = RunsOf(documents);
  for (size_t at = 1; at < documents.size(); ++at) {
    const PairedChange* by_pieces = at <= comparison.paired.size() ? &comparison.paired[at - 1] : nullptr;
    comparison.sentences.push_back(ComparisonSentence(*documents[0], comparison.runs[0].name, *documents[at],
                                                      comparison.runs[at].name, by_pieces));
  }
  comparison.should_be_equal = CompareContents(documents);
  comparison.metrics = CompareMetrics(documents);
  for (const Json* document : documents) {
    for (const auto& [key, ignored] : Field(*document, "metrics").items()) comparison.keys.insert(key);
  }
  comparison.datasets = CompareRows(documents, "datasets", RowName, kDatasetFields);
  comparison.sections = CompareRows(documents, "sections", SectionName, kSectionFields);
  return comparison;
}

Json ComparisonAsJson(const Comparison& comparison) {
  Json runs = Json::array();
  for (const ComparedRun& run : comparison.runs) {
    runs.push_back({{"name", run.name}, {"id", run.id}, {"state", run.state}});
  }
  Json document = {{"schema", "crema.comparison/1"},
                   {"schema_minor", 2},
                   {"runs", std::move(runs)},
                   {"sentences", comparison.sentences}};
  Json paired = Json::array();
  for (const PairedChange& change : comparison.paired) paired.push_back(PairedChangeAsJson(change));
  if (paired.size() == 1) document.update(paired.front());
  document["paired"] = std::move(paired);
  document.update(Json({{"unequal", ToJson(comparison.Unequal())},
                        {"should_be_equal", ToJson(comparison.should_be_equal)},
                        {"metrics", ToJson(comparison.metrics)},
                        {"datasets", ToJson(comparison.datasets)},
                        {"sections", ToJson(comparison.sections)}}));
  return document;
}

}  // namespace crema
