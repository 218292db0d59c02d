#include "collector/insight/budget_rows.h"

#include <algorithm>
#include <map>
#include <string>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/thresholds.h"
#include "fmt/format.h"

namespace crema {

std::string CoreTime(double core_seconds) {
  if (kShortInSeconds.Holds(core_seconds)) return HumanCount(core_seconds) + " core-seconds";
  return HumanDuration(core_seconds) + " of core time";
}

double BudgetRows::Share(std::string_view part) const {
  for (const BudgetPart& row : parts) {
    if (row.part == part) return row.share;
  }
  return 0;
}

std::vector<OutsideSection> LongestOutsideChunks(const Measurement& measurement) {
  constexpr size_t kMost = 3;
  std::vector<OutsideSection> sections;
  for (const auto& row : measurement.process_sections) {
    const double self = row.self_in_workers.value_or(0);
    if (self > 0) sections.push_back({row.path.str(), self});
  }
  std::stable_sort(sections.begin(), sections.end(),
                   [](const OutsideSection& a, const OutsideSection& b) { return a.self > b.self; });
  if (sections.size() > kMost) sections.resize(kMost);
  return sections;
}

std::string SectionThatFills(const Measurement& measurement, double core_seconds) {
  const std::vector<OutsideSection> longest = LongestOutsideChunks(measurement);
  const double share = longest.empty() ? 0 : longest.front().self / core_seconds;
  if (!kMostOfIt.Holds(share) || !kFitsIn.Holds(share)) return "";
  return fmt::format(", where section {} took {}", ShortName(longest.front().path),
                     HumanDuration(longest.front().self));
}

std::string OthersBusy(const Measurement& measurement, double from, double until, double gap) {
  std::map<std::string, double> by_name;
  double sum = 0, waited = 0;
  for (const ProcessUseRow& row : measurement.processes) {
    const std::string process = fmt::format("{}:{:.0f}", row.host.str(), row.pid.value_or(0));
    const auto is_same = [&process](const WorkerRow& worker) { return worker.process.str() == process; };
    if (std::any_of(measurement.workers.begin(), measurement.workers.end(), is_same)) continue;
    const bool is_inside = row.start.value_or(0) >= from && row.stop.value_or(until + 1) <= until;
    if (!is_inside) continue;  // when it was busy is not known
    const double busy = row.cpu.value_or(0) + row.cpu_wait.value_or(0);
    by_name[row.name.str()] += busy;
    sum += busy;
    waited += row.cpu_wait.value_or(0);
  }
  if (!kMostOfIt.Holds(sum / gap)) return "";
  std::string names;
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  while (!by_name.empty()) {  // the largest, and the next one where it matters
    const auto largest = std::max_element(by_name.begin(), by_name.end(), less);
    names += (names.empty() ? "" : ", ") + ShortName(largest->first);
    if (kMostOfIt.Holds(largest->second / sum) || names.size() > ShortName(largest->first).size()) break;
    by_name.erase(largest);
  }
  const std::string without = waited > 0 ? fmt::format(" and waited for a CPU for {}", HumanDuration(waited)) : "";
  return fmt::format("; other processes of the run computed for {}{} ({})", HumanDuration(sum - waited), without,
                     names);
}

std::optional<BudgetRows> ReadBudget(const Measurement& measurement) {
  BudgetRows budget;
  for (const auto& row : measurement.budget) {
    const std::string group = row.group.str();
    auto same = [&group](const BudgetGroup& other) { return other.group == group; };
    auto found = std::find_if(budget.groups.begin(), budget.groups.end(), same);
    if (found == budget.groups.end()) found = budget.groups.insert(found, BudgetGroup{group, std::nullopt, 0});
    const std::optional<double> core_seconds = row.core_seconds;
    if (!core_seconds.has_value()) continue;
    found->core_seconds = found->core_seconds.value_or(0) + *core_seconds;
    budget.core_seconds += *core_seconds;
    budget.parts.push_back({row.part.str(), group, *core_seconds, 0});
  }
  if (!(budget.core_seconds > 0)) return std::nullopt;
  for (BudgetPart& part : budget.parts) part.share = part.core_seconds / budget.core_seconds;
  for (BudgetGroup& group : budget.groups) group.share = group.core_seconds.value_or(0) / budget.core_seconds;
  return budget;
}

RunEvidence ReadRunEvidence(const Measurement& measurement) {
  RunEvidence evidence;
  const std::string state = measurement.run.state.str();
  if (state == "running") evidence.state = RunState::kRunning;
  if (state == "killed") evidence.state = RunState::kKilled;
  evidence.attempts = measurement.Metric("num_attempts").value_or(0);
  evidence.lost = measurement.Metric("num_lost_attempts").value_or(0);
  const double failed = measurement.Metric("num_failed_attempts").value_or(0);
  // A chunk has one result but may have several ok attempts: only whether any ended matters here. Without attempts the
  // number of chunks is what an engine reports of itself.
  if (evidence.attempts > 0) evidence.ended = std::max(measurement.Metric("num_chunks").value_or(0) + failed, 0.0);
  evidence.budget = ReadBudget(measurement);
  return evidence;
}

bool RunEvidence::LacksCpuTime(const Measurement& measurement) const {
  const bool knows_cores = measurement.Metric("core_seconds").has_value();
  return ended > 0 && !budget.has_value() && knows_cores && !measurement.Metric("chunk_cpu_time").has_value();
}

}  // namespace crema
