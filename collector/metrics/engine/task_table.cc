#include "collector/metrics/engine/task_table.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>

#include "collector/metrics/statistics/stable_hash.h"

namespace crema {
namespace {

TaskOutcome OutcomeOf(std::string_view outcome) {
  if (outcome == "memory" || outcome == "exec_done") return TaskOutcome::kDone;
  return outcome == "error" || outcome == "failed" ? TaskOutcome::kFailed : TaskOutcome::kOther;
}

/// A task may have been recorded while it ran: its last line counts.
void Sort(std::vector<TaskRow>* rows) {
  const auto key = [](const TaskRow& task) {
    return std::make_tuple(task.process, task.thread, task.start_ns, !task.is_open, task.stop_ns, task.prefix,
                           task.outcome, task.queue_ns);
  };
  std::sort(rows->begin(), rows->end(), [&](const TaskRow& a, const TaskRow& b) { return key(a) < key(b); });
  const auto last = std::unique(rows->rbegin(), rows->rend(), [](const TaskRow& later, const TaskRow& task) {
    return task.is_open && task.process == later.process && task.thread == later.thread &&
           task.start_ns == later.start_ns;
  });
  rows->erase(rows->begin(), last.base());
}

}  // namespace

void AddTasks(std::vector<NamedTask> tasks, TaskFindings* findings) {
  if (tasks.empty()) return;
  for (const TaskRow& row : findings->rows) tasks.push_back({findings->prefixes[row.prefix], row});
  std::set<std::string> names;
  for (const NamedTask& task : tasks) names.insert(task.prefix);
  names.erase(std::string(kOtherName));
  while (names.size() > TaskTable::kMaxPrefixes) names.erase(std::prev(names.end()));
  findings->prefixes.assign(names.begin(), names.end());
  findings->rows.clear();
  bool any_other = false;
  for (NamedTask& task : tasks) {
    const auto& prefixes = findings->prefixes;
    const bool is_other = names.count(task.prefix) == 0;
    any_other = any_other || is_other;
    const auto name = is_other ? prefixes.end() : std::lower_bound(prefixes.begin(), prefixes.end(), task.prefix);
    task.row.prefix = static_cast<uint32_t>(name - prefixes.begin());
    findings->rows.push_back(task.row);
  }
  if (any_other) findings->prefixes.emplace_back(kOtherName);
  Sort(&findings->rows);
}

void TaskTable::Add(const LogRef& log, const TaskFact& fact) {
  TaskRow row;
  row.start_ns = fact.start_ns;
  row.stop_ns = fact.stop_ns;
  const int64_t lane_stop_ns =
      std::clamp(fact.lane_stop_ns.value_or(fact.stop_ns), fact.start_ns, std::max(fact.start_ns, fact.stop_ns));
  row.without_lane_ns = std::max<int64_t>(0, fact.stop_ns - lane_stop_ns);
  row.queue_ns = fact.queue_ns.value_or(TaskRow::kUnknown);
  row.thread = fact.thread.value_or(0);
  row.process = log.index;
  row.prefix = prefixes_.Intern(fact.prefix, HashOf(fact.prefix));
  row.outcome = OutcomeOf(fact.outcome);
  row.is_open = fact.outcome == "executing";  // docs/record_log.md, "task"
  row.is_repeat = fact.attempt > 0;
  rows_.push_back(row);
  if (prefixes_.full()) RenumberPrefixes(prefixes_.Prune());
}

void TaskTable::RenumberPrefixes(const Renumbering& renumbering) {
  for (TaskRow& row : rows_) row.prefix = renumbering[row.prefix];
}

void TaskTable::Merge(const TaskTable& other, const std::vector<uint32_t>& logs) {
  std::vector<uint32_t> prefixes;
  for (uint32_t i = 0; i < other.prefixes_.size(); ++i) {
    prefixes.push_back(prefixes_.Intern(other.prefixes_.name(i), other.prefixes_.rank(i)));
  }
  for (TaskRow row : other.rows_) {
    row.process = logs[row.process];
    if (row.prefix != BoundedNames::kRefused) row.prefix = prefixes[row.prefix];
    rows_.push_back(row);
  }
  if (prefixes_.full()) RenumberPrefixes(prefixes_.Prune());
}

TaskFindings TaskTable::Finalize(const ProcessFindings& processes) const {
  TaskTable table = *this;
  table.RenumberPrefixes(table.prefixes_.PruneAndSort());
  TaskFindings findings;
  for (uint32_t i = 0; i < table.prefixes_.size(); ++i) findings.prefixes.push_back(table.prefixes_.name(i));
  const auto other = static_cast<uint32_t>(findings.prefixes.size());
  bool any_other = false;
  for (TaskRow& row : table.rows_) {
    row.process = processes.process_of_log[row.process];
    if (row.prefix != BoundedNames::kRefused) continue;
    row.prefix = other;
    any_other = true;
  }
  if (any_other) findings.prefixes.emplace_back(kOtherName);
  Sort(&table.rows_);
  findings.rows = std::move(table.rows_);
  return findings;
}

}  // namespace crema
