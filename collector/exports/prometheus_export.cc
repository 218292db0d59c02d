// `crema export --to prometheus`.
#include <set>

#include "collector/exports/export_format.h"
#include "collector/records/json_fields.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

/// Rows of one table that get a time series each; a Prometheus server keeps every label value it ever saw.
constexpr size_t kMostRows = 100;

/// How a unit of docs/metrics.md becomes a base unit (https://prometheus.io/docs/practices/naming).
struct BaseUnit {
  std::string_view unit;
  std::string_view key_ending;  ///< what the key's name says of the scaled unit, and is taken off
  std::string_view suffix;
  double factor = 1;
  std::string_view stated = "";  ///< the base unit in words, where the factor is not 1
};

constexpr BaseUnit kBaseUnits[] = {
    {"s", "_seconds", "_seconds", 1},
    {"core s", "_seconds", "_seconds", 1},
    {"B", "_bytes", "_bytes", 1},
    {"ratio", "_ratio", "_ratio", 1},
    {"%", "_percentage", "_ratio", 0.01, "as a ratio"},
    {"%", "_pct", "_ratio", 0.01, "as a ratio"},
    {"kHz", "_khz", "_hertz", 1e3, "in hertz"},
    {"Hz", "_hz", "_hertz", 1},
    {"Hz/core", "_hz", "_hertz", 1},
    {"kHz/core", "_khz", "_hertz", 1e3, "in hertz"},
    {"Gbit/s", "_gbps", "_bytes_per_second", 1e9 / 8, "in bytes per second"},
    {"MB/s", "_mbs", "_bytes_per_second", 1e6, "in bytes per second"},
    {"B/1000 events", "", "_bytes_per_event", 1e-3, "in bytes per event"},
    {"cores", "", "", 1},
    {"count", "", "", 1},
};

struct BaseMetric {
  std::string name;
  double factor = 1;
  std::string_view stated;
};

bool TakeEnding(std::string_view ending, std::string* text) {
  const size_t rest = text->size() - ending.size();
  if (text->size() <= ending.size() || text->compare(rest, std::string::npos, ending) != 0) return false;
  text->resize(rest);
  return true;
}

std::optional<BaseMetric> InBaseUnit(std::string key, std::string_view unit) {
  for (const BaseUnit& base : kBaseUnits) {
    if (base.unit != unit) continue;
    if (!TakeEnding(base.key_ending, &key) && unit == "%") continue;
    if (TakeEnding("_count", &key)) key += "_calls";  // kept for histograms and counters
    return BaseMetric{"crema_" + key + std::string(base.suffix), base.factor, base.stated};
  }
  return std::nullopt;  // a unit this table does not know: left out rather than mislabelled
}

std::string Escaped(std::string_view text, bool is_label) {
  std::string escaped;
  for (const char character : text) {
    if (character == '\\') {
      escaped += "\\\\";
    } else if (character == '\n') {
      escaped += "\\n";
    } else if (is_label && character == '"') {
      escaped += "\\\"";
    } else if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) {
      escaped += "\uFFFD";  // it would steer a terminal, and NUL ends texts of other readers
    } else {
      escaped += character;
    }
  }
  // the format is UTF-8; names of files may hold anything
  const std::string valid = JsonText(Json(escaped));
  return Json::parse(valid).get<std::string>();
}

using Labels = std::vector<std::pair<std::string_view, std::string>>;

class Exposition {
 public:
  explicit Exposition(TextSink* sink) : sink_(sink) {}

  /// Begins a metric; every one is a gauge: a measurement is finished, nothing in it counts on. False: it is there.
  bool Begin(const std::string& name, std::string_view help) {
    if (!names_.insert(name).second) return false;
    name_ = name;
    sink_->Write(fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, Escaped(help, false), name));
    return true;
  }
  void Add(const Labels& labels, double value) {
    std::string line = name_;
    for (size_t at = 0; at < labels.size(); ++at) {
      line += fmt::format("{}{}=\"{}\"", at == 0 ? "{" : ",", labels[at].first, Escaped(labels[at].second, true));
    }
    if (!labels.empty()) line += "}";
    sink_->Write(fmt::format("{} {}\n", line, value));
  }

 private:
  TextSink* sink_;
  std::string name_;
  std::set<std::string> names_;
};

void AddInfo(const Measurement& measurement, Exposition* exposition) {
  exposition->Begin("crema_run_info", "The measurement these figures are from.");
  const RunFacts& run = measurement.run;
  exposition->Add({{"id", run.id.str()},
                   {"name", run.name.str()},
                   {"state", run.state.str()},
                   {"boundary", run.boundary.str()},
                   {"cores_source", run.cores_source.str()}},
                  1);
  if (!run.start_ns.has_value()) return;
  exposition->Begin("crema_run_start_timestamp_seconds", "When the run began, Unix time.");
  exposition->Add({}, *run.start_ns / 1e9);
}

void AddMetrics(const ExportSource& source, Exposition* exposition) {
  for (const MetricDefinition& definition : source.metrics) {
    const std::optional<double> value = source.measurement.Metric(definition.key);
    const std::optional<BaseMetric> base = InBaseUnit(definition.key, definition.unit);
    if (!base.has_value() || !value.has_value()) continue;
    std::string help = fmt::format("{}: {}", definition.label, definition.text);
    if (base->factor != 1) help += fmt::format(" Here {}.", base->stated);
    // one quantity under two scales (Gbit/s and MB/s) is one metric in base units
    if (exposition->Begin(base->name, help)) exposition->Add({}, *value * base->factor);
  }
}

template <class Row>
struct RowMetric {
  Number Row::*value;
  std::string_view name;
  std::string_view help;
  bool adds_up = true;  ///< over rows; else those beyond the limit are left out
};

Labels LabelsOf(const BreakdownRow& row) { return {{"dataset", row.name.str()}}; }
Labels LabelsOf(const WorkerRow& row) { return {{"worker", row.name.str()}}; }
Labels LabelsOf(const SectionRow& row) {
  const std::string helper = !row.helper.has_value() ? "" : *row.helper ? "true" : "false";
  return {{"section", row.path.str()}, {"helper", helper}};
}
Labels LabelsOf(const CutRow& row) { return {{"cut", row.Label()}}; }
Labels LabelsOf(const BudgetRow& row) { return {{"part", row.part.str()}, {"group", row.group.str()}}; }
Labels LabelsOf(const CustomMetricRow& row) { return {{"name", row.name.str()}, {"unit", row.unit.str()}}; }

/// One time series a row; those of rows beyond the limit are added up as `(more)` where that means something.
template <class Row>
void AddRows(const std::vector<Row>& rows, const std::vector<RowMetric<Row>>& metrics, Exposition* exposition) {
  for (const RowMetric<Row>& metric : metrics) {
    double more = 0;
    bool has_more = false;
    for (size_t at = 0; at < rows.size(); ++at) {
      const std::optional<double> value = rows[at].*metric.value;
      if (!value.has_value()) continue;
      exposition->Begin(std::string(metric.name), metric.help);  // by the first of them
      if (at >= kMostRows) {
        more += *value;
        has_more = metric.adds_up;
        continue;
      }
      exposition->Add(LabelsOf(rows[at]), *value);
    }
    if (!has_more) continue;
    Labels labels = LabelsOf(rows.front());
    for (auto& [label, text] : labels) text = "(more)";
    exposition->Add(labels, more);
  }
}

}  // namespace

absl::Status WritePrometheus(const ExportSource& source, const std::string&, TextSink* sink) {
  const Measurement& measurement = source.measurement;
  Exposition exposition(sink);
  AddInfo(measurement, &exposition);
  AddMetrics(source, &exposition);
  AddRows<BreakdownRow>(measurement.datasets,
                        {{&BreakdownRow::chunks, "crema_dataset_chunks", "Chunks of the dataset that have a result."},
                         {&BreakdownRow::attempts, "crema_dataset_attempts", "Attempts at chunks of the dataset."},
                         {&BreakdownRow::failed, "crema_dataset_failed_attempts", "Attempts that failed."},
                         {&BreakdownRow::events, "crema_dataset_events", "Events of the dataset's results."},
                         {&BreakdownRow::bytes_read, "crema_dataset_read_bytes", "Bytes read, as stored."},
                         {&BreakdownRow::duration_sum, "crema_dataset_busy_seconds", "Wall time of ended attempts."},
                         {&BreakdownRow::cpu_sum, "crema_dataset_cpu_seconds", "CPU time of ended attempts."}},
                        &exposition);
  AddRows<WorkerRow>(measurement.workers,
                     {{&WorkerRow::chunks, "crema_worker_chunks", "Chunks whose result the worker gave."},
                      {&WorkerRow::events, "crema_worker_events", "Events of these chunks."},
                      {&WorkerRow::duration_sum, "crema_worker_busy_seconds", "Wall time of ended attempts."},
                      {&WorkerRow::cpu_sum, "crema_worker_cpu_seconds", "CPU time of ended attempts."},
                      {&WorkerRow::cores, "crema_worker_cores", "Cores of the worker."},
                      {&WorkerRow::peak_memory_bytes, "crema_worker_peak_memory_bytes",
                       "The most resident memory that it had: the kernel's peak, where that is known.", false}},
                     &exposition);
  AddRows<SectionRow>(measurement.sections,
                      {{&SectionRow::count, "crema_section_calls", "How often the section ended."},
                       {&SectionRow::self, "crema_section_self_seconds", "Time in the section and in none inside it."},
                       {&SectionRow::total, "crema_section_inclusive_seconds", "Time in the section."},
                       {&SectionRow::cpu, "crema_section_cpu_seconds", "CPU time in the section, where asked for."}},
                      &exposition);
  AddRows<CutRow>(measurement.cuts, {{&CutRow::events, "crema_cut_events", "Events left after the cut.", false}},
                  &exposition);
  AddRows<BudgetRow>(measurement.budget,
                     {{&BudgetRow::core_seconds, "crema_budget_core_seconds", "Where the core-seconds went."}},
                     &exposition);
  AddRows<CustomMetricRow>(
      measurement.custom_metrics,
      {{&CustomMetricRow::count, "crema_user_metric_values", "How many values of the user's metric were recorded."},
       {&CustomMetricRow::sum, "crema_user_metric_value", "Sum of the values.", false},
       {&CustomMetricRow::mean, "crema_user_metric_mean_value", "Mean of the values.", false}},
      &exposition);
  return absl::OkStatus();
}

}  // namespace crema
