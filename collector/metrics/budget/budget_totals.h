// The sums that the budget's rows are made of.
#ifndef CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_TOTALS_H_
#define CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_TOTALS_H_

#include <vector>

#include "collector/metrics/budget/budget.h"
#include "collector/metrics/budget/free_time.h"
#include "collector/metrics/budget/lane_sweep.h"
#include "collector/metrics/budget/lane_time.h"

namespace crema {

/// Lane nanoseconds x `kOneLane`.
struct LaneParts {
  LaneTimeSum compute = 0;
  LaneTimeSum cpu_wait = 0;
  LaneTimeSum blocked = 0;
  LaneTimeSum failed = 0;
  LaneTimeSum unmeasured = 0;
  bool wait_known = true;

  // Of tasks.
  LaneTimeSum outside_chunk = 0;
  LaneTimeSum framework = 0;
  LaneTimeSum unrecorded = 0;      ///< of workers without records, which have no attempts; without the next
  LaneTimeSum unrecorded_cpu = 0;  ///< of theirs, CPU that their batch system counted

  void Add(const LaneTime& lane);
  LaneParts& operator+=(const LaneParts& other);
  /// Of attempts.
  LaneTimeSum of_attempts() const { return compute + cpu_wait + blocked + failed + unmeasured; }
  /// Leaves to lanes the cores that there were: what they occupied `beyond` these comes off the time in which they
  /// waited, in proportion; what that does not have, off the other parts, and off CPU last.
  void TakeOff(LaneTimeSum beyond);
};

struct BudgetTotals {
  LaneParts lanes;
  FreeParts rest;
  LaneTimeSum unused_by_tasks = 0;        ///< lane nanoseconds x `kOneLane`
  bool tasks_have_several_cores = false;  ///< else there is no `unused_by_tasks`
  // While chunks ran, until the tail.
  LaneTimeSum occupied = 0;   ///< cores that lanes had
  LaneTimeSum available = 0;  ///< cores
};

/// As `Budget::rows` has them.
std::vector<BudgetRow> MakeRows(const BudgetTotals& totals);

}  // namespace crema

#endif  // CREMA_COLLECTOR_METRICS_BUDGET_BUDGET_TOTALS_H_
