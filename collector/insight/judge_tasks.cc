// Verdicts on events that go from thread to thread.
#include <algorithm>
#include <optional>
#include <string>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// All events and tasks of the run.
struct TaskTotals {
  double events = 0;
  double events_per_second = 0;
  double in_flight = 0;
  double latency = 0;
  double active = 0;
  double queued = 0;
  double external = 0;
  double rest = 0;
  double own = 0;
  double stolen = 0;
  double calls = 0;
  double marked_calls = 0;
  double lanes = 0;  ///< mean number of tasks at work
  std::optional<double> cores;

  /// The share of the cores that ran no task on average.
  double Free() const { return cores.has_value() && *cores > 0 ? std::max(0.0, 1 - lanes / *cores) : 0; }
};

TaskTotals TotalsOf(const Measurement& measurement) {
  TaskTotals all;
  all.cores = measurement.Metric("total_cores");
  for (const EventLatencyRow& row : measurement.events) {
    const double latency = row.latency_seconds.value_or(0);
    all.events += row.events.value_or(0);
    all.events_per_second += row.events_per_second.value_or(0);
    all.in_flight += row.in_flight.value_or(0);
    all.latency += latency;
    all.active += row.active_seconds.value_or(0);
    all.queued += row.queued_seconds.value_or(0);
    all.external += row.external_seconds.value_or(0);
    all.rest += row.rest_seconds.value_or(0);
    if (latency > 0) all.lanes += row.in_flight.value_or(0) * row.work_seconds.value_or(0) / latency;
  }
  for (const ModuleRow& row : measurement.modules) {
    if (row.operation.has_value()) continue;
    all.own += row.own_seconds.value_or(0);
    all.stolen += row.stolen_seconds.value_or(0);
    all.calls += row.calls.value_or(0);
    all.marked_calls += row.queued_calls.value_or(0);
  }
  return all;
}

void JudgeSerial(const JudgedRun& run, const TaskTotals& all) {
  const VerdictRule& rule = RuleOf("serial-module");
  const ModuleRow* worst = nullptr;
  double most = 0;
  for (const ModuleRow& row : run.measurement.modules) {
    if (row.at_once.value_or(0) != 1 || row.ceiling.value_or(0) <= 0) continue;
    const double rate = all.events_per_second * row.calls.value_or(0) / all.events;
    const double load = rate / row.ceiling.value_or(0);
    if (load <= most || !kEventsQueueBehind.Holds(row.behind_seconds.value_or(0) / all.latency)) continue;
    most = load;
    worst = &row;
  }
  if (worst == nullptr || !rule.threshold.Holds(most)) return;
  const double behind = worst->behind_seconds.value_or(0);
  run.Add(rule, most,
          fmt::format("{} runs one at a time, for {} of the run: at most {} calls/s, whatever the cores. Events were "
                      "queued behind it for {} of their latency.",
                      ShortName(worst->module.str()), HumanPercent(std::min(most, 1.0)),
                      HumanCount(worst->ceiling.value_or(0)), HumanPercent(behind / all.latency)),
          {{"modules.ceiling", worst->ceiling.value_or(0)},
           {"modules.union_seconds", worst->union_seconds.value_or(0)},
           {"modules.behind_seconds", behind}});
}

void JudgeExternal(const JudgedRun& run, const TaskTotals& all) {
  const VerdictRule& rule = RuleOf("external-work");
  const double share = all.external / all.latency;
  if (!rule.threshold.Holds(share) || !kFreeForEvents.Holds(all.Free())) return;
  const double needed = all.lanes > 0 ? *all.cores / all.lanes * all.in_flight * (1 - all.queued / all.latency) : 0;
  run.Add(rule, share,
          fmt::format("Events waited for requests for {} of their latency, and {} of the cores ran no task. With {} "
                      "events open at once{}, all cores would have work, if the servers keep up.",
                      HumanPercent(share), HumanPercent(all.Free()), HumanCount(std::max(needed, all.in_flight)),
                      fmt::format(" instead of {:.1f}", all.in_flight)),
          {{"events.external_seconds", all.external},
           {"events.latency_seconds", all.latency},
           {"events.in_flight", all.in_flight}});
}

void JudgeStolen(const JudgedRun& run, const TaskTotals& all) {
  const VerdictRule& rule = RuleOf("stolen-work");
  const double share = all.own > 0 ? all.stolen / all.own : 0;
  if (!rule.threshold.Holds(share)) return;
  const auto& rows = run.measurement.modules;
  const auto worst = std::max_element(rows.begin(), rows.end(), [](const ModuleRow& one, const ModuleRow& other) {
    return one.stolen_seconds.value_or(0) < other.stolen_seconds.value_or(0);
  });
  run.Add(rule, share,
          fmt::format("While tasks waited, their threads ran other tasks inside them for {}, most of all inside {} "
                      "({}).",
                      HumanDuration(all.stolen), ShortName(worst->module.str()),
                      HumanDuration(worst->stolen_seconds.value_or(0))),
          {{"modules.stolen_seconds", all.stolen}, {"modules.own_seconds", all.own}});
}

void JudgeRest(const JudgedRun& run, const TaskTotals& all) {
  const VerdictRule& rule = RuleOf("nothing-ready");
  const double share = all.rest / all.latency;
  if (!rule.threshold.Holds(share) || !kFreeForEvents.Holds(all.Free())) return;
  if (all.calls <= 0 || !kMostAreMarked.Holds(all.marked_calls / all.calls)) return;
  run.Add(rule, share,
          fmt::format("For {} of their latency, events had no task at work or ready and no request open, and {} of the "
                      "cores ran no task.",
                      HumanPercent(share), HumanPercent(all.Free())),
          {{"events.rest_seconds", all.rest}, {"events.latency_seconds", all.latency}});
}

}  // namespace

void JudgeTasks(const JudgedRun& run) {
  const TaskTotals all = TotalsOf(run.measurement);
  if (all.events <= 0 || all.latency <= 0) return;
  JudgeSerial(run, all);
  JudgeExternal(run, all);
  JudgeStolen(run, all);
  JudgeRest(run, all);
}

}  // namespace crema
