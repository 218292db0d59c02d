#include "collector/insight/where_most.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "collector/insight/short_name.h"
#include "collector/insight/thresholds.h"
#include "collector/insight/wait_words.h"
#include "collector/metrics/statistics/bounded_names.h"

namespace crema {
namespace {

/// `(other)` stands for many: nobody can look at it.
bool IsNamed(const std::string& name) { return name != kOtherName; }

/// The row of a table that holds most of its blocked time (or of its waiting for a CPU, too), and clearly more than its
/// share of the events or of the chunks' time; empty where none does, or where it is the only row.
template <class Row>
std::string HolderOfMost(const std::vector<Row>& rows, Waiting waiting) {
  double whole = 0;
  double largest = 0;
  double busy = 0;
  double busy_of_largest = 0;
  std::string name;
  // where all events are known, they are the share that a row should have
  const bool have_events =
      std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.events.value_or(0) > 0; });
  for (const Row& row : rows) {
    const double cpu_wait = waiting == Waiting::kAll ? row.cpu_wait_sum.value_or(0) : 0;
    const double value = row.blocked_sum.value_or(0) + cpu_wait;
    const double size = (have_events ? row.events : row.duration_sum).value_or(0);
    whole += value;
    busy += size;
    if (value <= largest) continue;
    largest = value;
    busy_of_largest = size;
    name = row.name.str();
  }
  const bool is_its_share =
      whole > 0 && busy_of_largest > 0 && !kMoreThanItsShare.Holds(largest / whole / (busy_of_largest / busy));
  const bool holds_most =
      kSeveral.Holds(static_cast<double>(rows.size())) && whole > 0 && kMostOfIt.Holds(largest / whole);
  return holds_most && !is_its_share && IsNamed(name) ? name : "";
}

/// Waiting of a section's own, so without that of the sections inside it.
std::string SectionOfMostWaiting(const Measurement& measurement, double whole) {
  std::map<std::string, double> waits;
  for (const SectionRow& row : measurement.sections) {
    if (row.helper.value_or(false)) continue;
    const std::optional<double> cpu = row.cpu;
    if (!cpu.has_value()) continue;
    const std::string path = row.path.str();
    const double wait = std::max(0.0, row.total.value_or(0) - *cpu);
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

/// The section that holds most of the blocked time even if all the time in which owners were not blocked was in it.
std::string SectionOfAllBlocked(const Measurement& measurement) {
  const double blocked = measurement.Metric("chunk_blocked").value_or(0);
  const double others = measurement.Metric("busy_time").value_or(0) - blocked;
  for (const SectionRow& row : measurement.sections) {
    const bool is_most = blocked > 0 && kMostOfIt.Holds((row.self.value_or(0) - others) / blocked);
    if (is_most && !row.helper.value_or(false) && IsNamed(row.path.str())) return row.path.str();
  }
  return "";
}

}  // namespace

std::string MostWaiting(const Measurement& measurement, Waiting waiting) {
  double blocked = 0, cpu_wait = 0;
  for (const BudgetRow& row : measurement.budget) {
    const std::string part = row.part.str();
    if (part == "blocked" || part == "waiting") blocked += row.core_seconds.value_or(0);
    if (part == "cpu_wait") cpu_wait += row.core_seconds.value_or(0);
  }
  const bool is_blocked = waiting == Waiting::kBlocked || blocked >= cpu_wait;  // else that says nothing of most of it
  std::string text;
  std::string section = SectionOfMostWaiting(measurement, blocked + cpu_wait);
  if (section.empty() && is_blocked) section = SectionOfAllBlocked(measurement);
  if (!section.empty()) text += "in section " + ShortName(section);
  if (const std::string dataset = HolderOfMost(measurement.datasets, waiting); !dataset.empty()) {
    text += (text.empty() ? "" : ", ") + ("of dataset " + ShortName(dataset));
  }
  if (const std::string worker = HolderOfMost(measurement.workers, waiting); !worker.empty()) {
    text += (text.empty() ? "" : ", ") + ("on " + ShortName(worker));
  }
  std::string waits = is_blocked ? WaitWords(measurement) : "";
  if (text.empty()) return waits;
  return (waits.empty() ? "" : waits + "; ") + "most of it " + text;
}

std::string WhereMostWaiting(const Measurement& measurement, Waiting waiting) {
  const std::string text = MostWaiting(measurement, waiting);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace crema
