// One metric on the terminal: what it is, how it is defined, where it comes from.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "collector/measurement/catalog.h"
#include "collector/writers/display_text.h"
#include "collector/writers/labelled_lines.h"
#include "collector/writers/metric_text.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr size_t kMostSimilar = 5;

/// Edits (insert, delete, replace) between two short words: Levenshtein's distance.
size_t Distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  for (size_t at = 0; at <= right.size(); ++at) row[at] = at;
  for (size_t i = 1; i <= left.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      const size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// The keys one may have meant: those that contain the word, then those spelled like it.
std::vector<std::string_view> SimilarKeys(const MetricSet& metrics, std::string_view key) {
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view name : KeysOf(metrics)) {
    const bool contains = !key.empty() && name.find(key) != std::string_view::npos;
    const size_t distance = contains ? 0 : Distance(name, key);
    if (distance <= std::max<size_t>(2, key.size() / 3)) ranked.emplace_back(distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<std::string_view> keys;
  for (size_t at = 0; at < std::min(ranked.size(), kMostSimilar); ++at) keys.push_back(ranked[at].second);
  return keys;
}

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
    const std::string similar = fmt::format("{}", fmt::join(SimilarKeys(measurement.metrics, key), ", "));
    return absl::NotFoundError(fmt::format("no metric '{}'{}; all of them: crema show --table metrics",
                                           DisplayText(key, style),
                                           similar.empty() ? "" : "; did you mean " + similar + "?"));
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
