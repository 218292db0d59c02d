#include "collector/insight/where_most.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "collector/document/document_fields.h"
#include "collector/insight/short_name.h"
#include "collector/insight/thresholds.h"
#include "collector/metrics/statistics/bounded_names.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

/// `(other)` stands for many: nobody can look at it.
bool IsNamed(const std::string& name) { return name != kOtherName; }

/// The row of a table that holds most of a sum; empty where none does, or where it is the only row.
std::string HolderOfMost(const Json& document, std::string_view table, std::string_view field) {
  double whole = 0;
  double largest = 0;
  size_t rows = 0;
  std::string name;
  for (const Json& row : ListField(document, table)) {
    const double value = NumberField(row, field).value_or(0);
    ++rows;
    whole += value;
    if (value <= largest) continue;
    largest = value;
    name = TextField(row, "name");
  }
  const bool holds_most = kSeveral.Holds(static_cast<double>(rows)) && whole > 0 && kMostOfIt.Holds(largest / whole);
  return holds_most && IsNamed(name) ? name : "";
}

/// Waiting of a section's own, so without that of the sections inside it.
std::string SectionOfMostWaiting(const Json& document, double whole) {
  std::map<std::string, double> waits;
  for (const Json& row : ListField(document, "sections")) {
    const Json& helper = Field(row, "helper");
    if (helper.is_boolean() && helper.get<bool>()) continue;
    const std::optional<double> cpu = NumberField(row, "cpu");
    if (!cpu.has_value()) continue;
    const std::string path = TextField(row, "path");
    const double wait = std::max(0.0, NumberField(row, "total").value_or(0) - *cpu);
    waits[path] += wait;
    // The nearest section around it that measured CPU time holds this wait too.
    for (size_t slash = path.rfind('/'); slash != std::string::npos;
         slash = slash == 0 ? slash : path.rfind('/', slash - 1)) {
      const auto outer = waits.find(path.substr(0, slash));
      if (outer != waits.end()) {
        outer->second -= wait;
        break;
      }
      if (slash == 0) break;
    }
  }
  const auto most =
      std::max_element(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == waits.end() || whole <= 0 || !kMostOfIt.Holds(most->second / whole)) return "";
  return IsNamed(most->first) ? most->first : "";
}

}  // namespace

std::string MostWaiting(const Json& document) {
  double waited = 0;
  for (const Json& row : ListField(document, "budget")) {
    const std::string part = TextField(row, "part");
    if (part == "blocked" || part == "waiting" || part == "cpu_wait")
      waited += NumberField(row, "core_seconds").value_or(0);
  }
  std::string text;
  if (const std::string section = SectionOfMostWaiting(document, waited); !section.empty()) {
    text += "in section " + ShortName(section);
  }
  if (const std::string dataset = HolderOfMost(document, "datasets", "blocked_sum"); !dataset.empty()) {
    text += (text.empty() ? "" : ", ") + ("of dataset " + ShortName(dataset));
  }
  if (const std::string worker = HolderOfMost(document, "workers", "blocked_sum"); !worker.empty()) {
    text += (text.empty() ? "" : ", ") + ("on " + ShortName(worker));
  }
  return text.empty() ? "" : "most of it " + text;
}

std::string WhereMostWaiting(const Json& document) {
  const std::string text = MostWaiting(document);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace crema
