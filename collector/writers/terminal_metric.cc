// One metric on the terminal: what it is, how it is defined, where it comes from.
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "collector/appearance/similar_names.h"
#include "collector/measurement/catalog.h"
#include "collector/writers/display_text.h"
#include "collector/writers/labelled_lines.h"
#include "collector/writers/metric_text.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {
namespace {

struct SourceOfKeys {
  std::string_view key;    ///< a metric
  std::string_view field;  ///< of `run`, naming where the metric came from
  Text RunFacts::*source;
};

/// The metrics for which `run` names the source; all others come from what was collected.
constexpr std::array<SourceOfKeys, 16> kSources = {{
    {"wall_time", "boundary", &RunFacts::boundary},
    {"elapsed_time_seconds", "boundary", &RunFacts::boundary},
    {"bytes_read_compressed", "bytes_source", &RunFacts::bytes_source},
    {"overall_rate_gbps", "bytes_source", &RunFacts::bytes_source},
    {"overall_rate_mbs", "bytes_source", &RunFacts::bytes_source},
    {"data_rate_gbps", "bytes_source", &RunFacts::bytes_source},
    {"chunk_cpu_time", "cpu_time_source", &RunFacts::cpu_time_source},
    {"cpu_efficiency", "cpu_time_source", &RunFacts::cpu_time_source},
    {"cpu_speedup", "cpu_time_source", &RunFacts::cpu_time_source},
    {"io_overhead_pct", "io_overhead_source", &RunFacts::io_overhead_source},
    {"io_overhead", "io_overhead_source", &RunFacts::io_overhead_source},
    {"core_seconds", "cores_source", &RunFacts::cores_source},
    {"total_cores", "cores_source", &RunFacts::cores_source},
    {"peak_cores", "cores_source", &RunFacts::cores_source},
    {"cores_per_worker", "cores_source", &RunFacts::cores_source},
    {"allocated_cores", "allocated_cores_source", &RunFacts::allocated_cores_source},
}};

std::string SourceText(const Measurement& measurement, std::string_view key) {
  for (const SourceOfKeys& source : kSources) {
    if (source.key != key) continue;
    const std::string& text = measurement.run.*source.source;
    if (!text.empty()) return fmt::format("{} ({})", text, source.field);
  }
  const std::string text = absl::StrJoin(measurement.provenance.sources, ", ");
  return text.empty() ? "not named in the document" : text;
}

}  // namespace

absl::StatusOr<std::string> RenderMetric(const Measurement& measurement, std::string_view key,
                                         const TerminalStyle& style) {
  const MetricDefinition* definition = FindMetric(key);
  const MetricValue* value = measurement.metrics.Find(key);
  if (definition == nullptr || value == nullptr) {
    return absl::NotFoundError(fmt::format("no metric '{}'{}; crema show --table metrics lists all",
                                           DisplayText(key, style), DidYouMean(key, KeysOf(measurement.metrics))));
  }
  const std::string &label = definition->label, &unit = definition->unit;
  const bool is_null = std::holds_alternative<std::monostate>(*value);

  std::string text = Painted({DisplayText(key, style), Paint::kBold}, style);
  text += label.empty() ? "\n" : "  " + DisplayText(label, style) + "\n";
  std::string value_text = "null: " + measurement.WhyNotMeasured(key);
  if (!is_null) {
    value_text = ExactText(*value);
    const std::string human = MetricText(key, *value, unit);
    if (human != value_text) value_text += fmt::format(" ({})", human);
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"value", value_text},
                                                            {"unit", unit.empty() ? "none" : unit}};
  if (definition->key != key) lines.emplace_back("alias of", definition->key);
  lines.emplace_back("definition", definition->text);
  if (!is_null) lines.emplace_back("source", SourceText(measurement, key));
  text += LabelledLines(lines, 2, style);
  return text;
}

}  // namespace crema
