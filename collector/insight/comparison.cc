#include "collector/insight/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "collector/insight/comparison_sentence.h"
#include "collector/insight/member_column.h"
#include "collector/measurement/catalog.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;
using Documents = std::vector<const Measurement*>;

constexpr Number BreakdownRow::*kDatasetFields[] = {
    &BreakdownRow::events,       &BreakdownRow::chunks,       &BreakdownRow::attempts,
    &BreakdownRow::failed,       &BreakdownRow::lost,         &BreakdownRow::bytes_read,
    &BreakdownRow::duration_sum, &BreakdownRow::duration_p50, &BreakdownRow::duration_p95,
    &BreakdownRow::duration_max, &BreakdownRow::cpu_sum,      &BreakdownRow::cpu_wait_sum,
    &BreakdownRow::blocked_sum,  &BreakdownRow::event_rate,   &BreakdownRow::events_per_cpu_second};
constexpr Number SectionRow::*kSectionFields[] = {&SectionRow::self, &SectionRow::total, &SectionRow::count,
                                                  &SectionRow::mean, &SectionRow::cpu,   &SectionRow::p95,
                                                  &SectionRow::share};

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
                                           const std::function<std::optional<double>(const Measurement&)>& value_of) {
  std::vector<std::optional<double>> values;
  for (const Measurement* measurement : documents) values.push_back(value_of(*measurement));
  return values;
}

bool AnyKnown(const ComparedValue& value) {
  return std::any_of(value.values.begin(), value.values.end(), [](const auto& one) { return one.has_value(); });
}

template <class Row>
std::string RowName(const Row& row) {
  return row.name;
}
std::string RowName(const CutRow& row) { return row.Label(); }
std::string RowName(const SectionRow& row) { return row.path.str() + (row.helper.value_or(false) ? " (helper)" : ""); }

/// The rows of one table of all measurements, by name; of several with one name the first.
template <class Row>
class NamedRows {
 public:
  NamedRows(const Documents& documents, std::vector<Row> Measurement::*table) {
    std::set<std::string> seen;
    for (const Measurement* measurement : documents) {
      for (const Row& row : measurement->*table) {
        std::string name = RowName(row);
        if (seen.insert(name).second) names_.push_back(name);
        rows_[measurement].try_emplace(std::move(name), &row);
      }
    }
  }

  /// In the order of the first measurement, then those that only later ones have.
  const std::vector<std::string>& names() const { return names_; }
  std::optional<double> Value(const Measurement& measurement, const std::string& name, Number Row::*field) const {
    const auto rows = rows_.find(&measurement);
    if (rows == rows_.end()) return std::nullopt;
    const auto row = rows->second.find(name);
    return row == rows->second.end() ? std::nullopt : std::optional<double>(row->second->*field);
  }

 private:
  std::vector<std::string> names_;
  std::map<const Measurement*, std::unordered_map<std::string, const Row*>> rows_;
};

template <class Row, size_t kFields>
std::vector<ComparedRow> CompareRows(const Documents& documents, std::vector<Row> Measurement::*table,
                                     Number Row::*const (&fields)[kFields]) {
  std::vector<ComparedRow> rows;
  const NamedRows<Row> named(documents, table);
  for (const std::string& name : named.names()) {
    ComparedRow row{name, {}};
    for (Number Row::*field : fields) {
      const Column& column = ColumnOfMember(field);
      ComparedValue value = ValueOf(
          std::string(column.key), "", std::string(column.unit),
          Collect(documents, [&](const Measurement& measurement) { return named.Value(measurement, name, field); }));
      if (AnyKnown(value)) row.fields.push_back(std::move(value));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ComparedValue> CompareMetrics(const Documents& documents) {
  std::vector<ComparedValue> metrics;
  std::set<std::string> seen;
  for (const Measurement* with_key : documents) {
    for (const MetricDefinition& definition : MetricCatalog()) {
      const std::string& key = definition.key;
      if (with_key->metrics.Find(key) == nullptr || !seen.insert(key).second) continue;
      ComparedValue value =
          ValueOf(key, definition.label, definition.unit,
                  Collect(documents, [&key](const Measurement& measurement) { return measurement.Metric(key); }));
      if (AnyKnown(value)) metrics.push_back(std::move(value));
    }
  }
  return metrics;
}

std::vector<ComparedValue> CompareContents(const Documents& documents) {
  std::vector<ComparedValue> contents;
  const auto add = [&](std::string key, std::string label, const auto& value_of) {
    ComparedValue value = ValueOf(std::move(key), std::move(label), "count", Collect(documents, value_of));
    if (AnyKnown(value)) contents.push_back(std::move(value));
  };
  add("total_events", "events", [](const Measurement& measurement) { return measurement.Metric("total_events"); });
  const NamedRows datasets(documents, &Measurement::datasets);
  for (const std::string& name : datasets.names()) {
    add("dataset:" + name + ":events", "events of " + name,
        [&](const Measurement& measurement) { return datasets.Value(measurement, name, &BreakdownRow::events); });
  }
  const NamedRows cuts(documents, &Measurement::cuts);
  for (const std::string& name : cuts.names()) {
    for (Number CutRow::*field : {&CutRow::events, &CutRow::weights}) {
      const std::string key(ColumnOfMember(field).key);
      add(fmt::format("cut:{}:{}", name, key), key + " after " + name,
          [&](const Measurement& measurement) { return cuts.Value(measurement, name, field); });
    }
  }
  return contents;
}

/// The parts of a path, the last one first, without those of no name.
std::vector<std::string> PartsFromTheEnd(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.insert(parts.begin(), part);
    begin = end + 1;
  }
  return parts;
}

/// Of each source the last part of its path in which they differ, where that tells all of them apart; else none.
std::vector<std::string> DifferingParts(const std::vector<std::string>& sources) {
  std::vector<std::vector<std::string>> paths;
  for (const std::string& source : sources) paths.push_back(PartsFromTheEnd(source));
  for (size_t at = 0;; ++at) {
    std::vector<std::string> parts;
    for (const auto& path : paths) {
      if (at >= path.size()) return {};
      parts.push_back(path[at]);
    }
    const size_t different = std::set<std::string>(parts.begin(), parts.end()).size();
    if (different == parts.size()) return parts;
    if (different > 1) return {};
  }
}

std::vector<std::string> NamesOfRuns(const Documents& documents, const std::vector<std::string>& sources) {
  std::map<std::string, std::vector<size_t>> runs_of_name;
  std::vector<std::string> names;
  for (const Measurement* measurement : documents) {
    const std::string name = measurement->run.name.str();
    names.push_back(name.empty() ? "run" : name);
    runs_of_name[names.back()].push_back(names.size() - 1);
  }
  if (sources.size() != documents.size()) return names;
  for (const auto& [name, runs] : runs_of_name) {
    std::vector<std::string> paths;
    for (const size_t run : runs) paths.push_back(sources[run]);
    const std::vector<std::string> parts = runs.size() > 1 ? DifferingParts(paths) : std::vector<std::string>();
    for (size_t i = 0; i < parts.size(); ++i) names[runs[i]] = parts[i];
  }
  return names;
}

std::vector<ComparedRun> RunsOf(const Documents& documents, const std::vector<std::string>& sources) {
  std::vector<ComparedRun> runs;
  std::set<std::string> taken;
  const std::vector<std::string> names = NamesOfRuns(documents, sources);
  for (const Measurement* measurement : documents) {
    const std::string& name = names[runs.size()];
    std::string unique = name;
    for (int number = 2; !taken.insert(unique).second; ++number) unique = fmt::format("{} ({})", name, number);
    runs.push_back({unique, measurement->run.id, measurement->run.state});
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

/// The mean over the runs of each side. Of what should be equal: the one value that all runs of the side have.
void ReduceToSides(size_t before, bool is_equal, ComparedValue* value) {
  std::vector<std::optional<double>> sides;
  for (const auto& [begin, end] : {std::pair(size_t{0}, before), std::pair(before, value->values.size())}) {
    double sum = 0;
    bool is_known = true;
    for (size_t at = begin; at < end; ++at) {
      const std::optional<double>& one = value->values[at];
      is_known =
          is_known && one.has_value() && (!is_equal || SameWithinRounding(*one, value->values[begin].value_or(0)));
      sum += one.value_or(0);
    }
    sides.push_back(is_known ? std::optional(is_equal ? *value->values[begin] : sum / static_cast<double>(end - begin))
                             : std::nullopt);
  }
  *value = ValueOf(value->key, value->label, value->unit, std::move(sides));
}

void CompareFigures(const Documents& documents, Comparison* comparison) {
  comparison->should_be_equal = CompareContents(documents);
  comparison->metrics = CompareMetrics(documents);
  for (const Measurement* measurement : documents) {
    for (const auto& [key, ignored] : measurement->metrics.values()) comparison->keys.insert(key);
  }
  comparison->datasets = CompareRows(documents, &Measurement::datasets, kDatasetFields);
  comparison->sections = CompareRows(documents, &Measurement::sections, kSectionFields);
}

Json ToJson(const std::vector<ComparedRun>& runs) {
  Json rows = Json::array();
  for (const ComparedRun& run : runs) rows.push_back({{"name", run.name}, {"id", run.id}, {"state", run.state}});
  return rows;
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

Comparison Compare(const std::vector<const Measurement*>& documents, std::vector<PairedChange> paired,
                   const std::vector<std::string>& sources) {
  Comparison comparison;
  comparison.paired = std::move(paired);
  if (documents.empty()) return comparison;
  comparison.runs = RunsOf(documents, sources);
  for (size_t at = 1; at < documents.size(); ++at) {
    const PairedChange* by_pieces = at <= comparison.paired.size() ? &comparison.paired[at - 1] : nullptr;
    comparison.sentences.push_back(ComparisonSentence({{documents[0]}, comparison.runs[0].name},
                                                      {{documents[at]}, comparison.runs[at].name}, by_pieces));
    const std::optional<ElapsedChange> elapsed = CompareElapsed({documents[0]}, {documents[at]});
    if (elapsed.has_value()) comparison.elapsed.push_back(*elapsed);
  }
  if (comparison.elapsed.size() + 1 < documents.size()) comparison.elapsed.clear();
  CompareFigures(documents, &comparison);
  if (documents.size() == 2) comparison.section_tree = CompareSectionTrees({documents[0]}, {documents[1]});
  return comparison;
}

Comparison CompareSides(const Documents& before, const Documents& after, std::vector<PairedChange> paired) {
  Documents all = before;
  all.insert(all.end(), after.begin(), after.end());
  Comparison comparison;
  comparison.paired = std::move(paired);
  const std::vector<ComparedRun> runs = RunsOf(all, {});
  const auto first_after = runs.begin() + static_cast<ptrdiff_t>(before.size());
  comparison.runs_before.assign(runs.begin(), first_after);
  comparison.runs_after.assign(first_after, runs.end());
  comparison.runs = {{"before", "", ""}, {"after", "", ""}};
  comparison.sentences.push_back(ComparisonSentence({before, "before"}, {after, "after"},
                                                    comparison.paired.empty() ? nullptr : &comparison.paired.front()));
  const std::optional<ElapsedChange> elapsed = CompareElapsed(before, after);
  if (elapsed.has_value()) comparison.elapsed.push_back(*elapsed);
  CompareFigures(all, &comparison);
  comparison.section_tree = CompareSectionTrees(before, after);
  for (ComparedValue& value : comparison.should_be_equal) ReduceToSides(before.size(), /*is_equal=*/true, &value);
  for (ComparedValue& value : comparison.metrics) ReduceToSides(before.size(), false, &value);
  for (std::vector<ComparedRow>* rows : {&comparison.datasets, &comparison.sections}) {
    for (ComparedRow& row : *rows) {
      for (ComparedValue& value : row.fields) ReduceToSides(before.size(), false, &value);
    }
  }
  return comparison;
}

Json ComparisonAsJson(const Comparison& comparison) {
  Json document = {{"schema", "crema.comparison/1"},
                   {"schema_minor", 5},
                   {"runs", ToJson(comparison.runs)},
                   {"sentences", comparison.sentences}};
  if (!comparison.runs_before.empty()) {
    document["sides"] = {{"before", ToJson(comparison.runs_before)}, {"after", ToJson(comparison.runs_after)}};
  }
  Json elapsed = Json::array();
  for (const ElapsedChange& change : comparison.elapsed) elapsed.push_back(ElapsedAsJson(change));
  document["elapsed"] = std::move(elapsed);
  Json paired = Json::array();
  for (const PairedChange& change : comparison.paired) paired.push_back(PairedChangeAsJson(change));
  if (paired.size() == 1) document.update(paired.front());
  document["paired"] = std::move(paired);
  document.update(Json({{"unequal", ToJson(comparison.Unequal())},
                        {"should_be_equal", ToJson(comparison.should_be_equal)},
                        {"metrics", ToJson(comparison.metrics)},
                        {"datasets", ToJson(comparison.datasets)},
                        {"sections", ToJson(comparison.sections)},
                        {"section_tree", SectionDifferencesAsJson(comparison.section_tree)}}));
  return document;
}

}  // namespace crema
