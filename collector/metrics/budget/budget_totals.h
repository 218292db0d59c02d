// The sums that the budget's rows are made of.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_TOTALS_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_TOTALS_H_

#include <vector>

#include "collector/metrics/budget/budget.h"
#include "collector/metrics/budget/free_time.h"
#include "collector/metrics/budget/lane_sweep.h"
#include "collector/metrics/budget/lane_time.h"

namespace crema {

/// Lane nanoseconds.
struct LaneParts {
  LaneTimeSum compute = 0;
  LaneTimeSum cpu_wait = 0;
  LaneTimeSum blocked = 0;
  LaneTimeSum failed = 0;
  LaneTimeSum unmeasured = 0;
  bool wait_known = true;

  void Add(const LaneTime& lane);
};

struct BudgetTotals {
  LaneParts attempts;
  FreeParts rest;
  // Of tasks, lane nanoseconds x `kOneLane`.
  LaneTimeSum outside_chunk = 0;
  LaneTimeSum framework = 0;
  LaneTimeSum unused_by_tasks = 0;
  LaneTimeSum unrecorded = 0;             ///< of workers without records, without the next
  LaneTimeSum unrecorded_cpu = 0;         ///< of theirs, CPU that their batch system counted
  bool tasks_have_several_cores = false;  ///< else there is no `unused_by_tasks`
};

/// Of nanoseconds, and of nanoseconds x `kOneLane`.
double Seconds(LaneTimeSum nanoseconds);
double LaneSeconds(LaneTimeSum lane_nanoseconds);

/// As `Budget::rows` has them.
std::vector<BudgetRow> MakeRows(const BudgetTotals& totals);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_TOTALS_H_
