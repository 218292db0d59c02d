#include "collector/metrics/budget/budget_totals.h"

#include <optional>
#include <string_view>

#include "collector/measurement/budget_parts.h"

namespace crema {

void LaneParts::Add(const LaneTime& lane) {
  compute += lane.compute_ns;
  cpu_wait += lane.cpu_wait_ns;
  blocked += lane.blocked_ns;
  failed += lane.failed_ns;
  unmeasured += lane.unmeasured_ns;
  wait_known = wait_known && lane.wait_known;
}

double Seconds(LaneTimeSum nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }
double LaneSeconds(LaneTimeSum lane_nanoseconds) {
  return static_cast<double>(lane_nanoseconds) / static_cast<double>(kOneLane) / 1e9;
}

std::vector<BudgetRow> MakeRows(const BudgetTotals& totals) {
  const LaneParts& attempts = totals.attempts;
  const FreeParts& rest = totals.rest;
  std::vector<BudgetRow> rows;
  const auto add = [&rows](std::string_view part, double core_seconds) {
    rows.push_back({part, FindBudgetPart(part)->group, core_seconds, std::nullopt});
  };
  add("compute", Seconds(attempts.compute));
  if (attempts.wait_known) {
    add("cpu_wait", Seconds(attempts.cpu_wait));
    add("blocked", Seconds(attempts.blocked));
  } else {
    add("waiting", Seconds(attempts.cpu_wait + attempts.blocked));
  }
  add("outside_chunk", LaneSeconds(totals.outside_chunk));
  if (rest.process_cpu_known) add("process_cpu", LaneSeconds(rest.process_cpu.sum()));
  add("framework", LaneSeconds(totals.framework + rest.framework));
  add("failed", Seconds(attempts.failed));
  add("joined", LaneSeconds(rest.joined));
  if (totals.tasks_have_several_cores) add("unused_by_tasks", LaneSeconds(totals.unused_by_tasks));
  add("startup", LaneSeconds(rest.free.startup));
  add("idle", LaneSeconds(rest.free.idle));
  add("tail", LaneSeconds(rest.free.tail));
  add("shutdown", LaneSeconds(rest.free.shutdown));
  if (totals.unrecorded_cpu > 0) add("unmeasured_cpu", LaneSeconds(totals.unrecorded_cpu));
  const double unmeasured = Seconds(attempts.unmeasured) + LaneSeconds(totals.unrecorded);
  if (unmeasured > 0) add("unmeasured", unmeasured);
  double sum = 0;
  for (const BudgetRow& row : rows) sum += *row.core_seconds;
  for (BudgetRow& row : rows) {
    if (sum > 0) row.share = *row.core_seconds / sum;
  }
  return rows;
}

}  // namespace crema
