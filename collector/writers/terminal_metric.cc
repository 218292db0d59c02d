// One metric on the terminal: what it is, how it is defined, where it comes from.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "collector/document/document_fields.h"
#include "collector/writers/display_text.h"
#include "collector/writers/labelled_lines.h"
#include "collector/writers/metric_text.h"
#include "collector/writers/terminal.h"
#include "collector/writers/terminal_box.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

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
std::vector<std::string> SimilarKeys(const Json& metrics, std::string_view key) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const auto& [name, value] : metrics.items()) {
    const bool contains = !key.empty() && name.find(std::string(key)) != std::string::npos;
    const size_t distance = contains ? 0 : Distance(name, key);
    if (distance <= std::max<size_t>(2, key.size() / 3)) ranked.emplace_back(distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<std::string> keys;
  for (size_t at = 0; at < std::min(ranked.size(), kMostSimilar); ++at) keys.push_back(ranked[at].second);
  return keys;
}

struct SourceOfKeys {
  std::string_view key;    ///< a metric
  std::string_view field;  ///< of `run`, naming where the metric came from
};

/// The metrics for which `run` names the source; all others come from what was collected.
constexpr std::array<SourceOfKeys, 16> kSources = {{
    {"wall_time", "boundary"},
    {"elapsed_time_seconds", "boundary"},
    {"bytes_read_compressed", "bytes_source"},
    {"overall_rate_gbps", "bytes_source"},
    {"overall_rate_mbs", "bytes_source"},
    {"data_rate_gbps", "bytes_source"},
    {"chunk_cpu_time", "cpu_time_source"},
    {"cpu_efficiency", "cpu_time_source"},
    {"cpu_speedup", "cpu_time_source"},
    {"io_overhead_pct", "io_overhead_source"},
    {"io_overhead", "io_overhead_source"},
    {"core_seconds", "cores_source"},
    {"total_cores", "cores_source"},
    {"peak_cores", "cores_source"},
    {"cores_per_worker", "cores_source"},
    {"allocated_cores", "allocated_cores_source"},
}};

std::string SourceText(const Json& document, std::string_view key) {
  for (const SourceOfKeys& source : kSources) {
    if (source.key != key) continue;
    const std::string text = TextField(Field(document, "run"), source.field);
    if (!text.empty()) return fmt::format("{} ({})", text, source.field);
  }
  std::string text;
  for (const Json& source : ListField(Field(document, "provenance"), "sources")) {
    if (source.is_string()) text += (text.empty() ? "" : ", ") + source.get<std::string>();
  }
  return text.empty() ? "not named in the document" : text;
}

}  // namespace

absl::StatusOr<std::string> RenderMetric(const Json& document, std::string_view key, const TerminalStyle& style) {
  const Json& metrics = Field(document, "metrics");
  if (!metrics.is_object() || !metrics.contains(std::string(key))) {
    std::string similar;
    for (const std::string& name : SimilarKeys(metrics, key)) similar += (similar.empty() ? "" : ", ") + name;
    return absl::NotFoundError(fmt::format("no metric '{}'{}; all of them: crema show --table metrics",
                                           DisplayText(key, style),
                                           similar.empty() ? "" : "; did you mean " + similar + "?"));
  }
  const Json& definition = Field(Field(document, "definitions"), key);
  const Json& value = Field(metrics, key);
  std::string label = TextField(definition, "label");
  const std::string unit = TextField(definition, "unit");
  const std::string alias_of = TextField(definition, "alias_of");

  std::string text = Painted({DisplayText(key, style), Paint::kBold}, style);
  text += label.empty() ? "\n" : "  " + DisplayText(label, style) + "\n";
  std::string value_text = "null: " + WhyNotMeasured(document, key);
  if (!value.is_null()) {
    value_text = ExactText(value);
    const std::string human = MetricText(key, value, unit);
    if (human != value_text) value_text += fmt::format(" ({})", human);
  }
  std::vector<std::pair<std::string, std::string>> lines = {{"value", value_text},
                                                            {"unit", unit.empty() ? "none" : unit}};
  if (!alias_of.empty()) lines.emplace_back("alias of", alias_of);
  lines.emplace_back("definition", TextField(definition, "text"));
  if (!value.is_null()) lines.emplace_back("source", SourceText(document, key));
  text += LabelledLines(lines, 2, style);
  return text;
}

}  // namespace crema
