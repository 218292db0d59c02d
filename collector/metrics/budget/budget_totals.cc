#include "collector/metrics/budget/budget_totals.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "collector/measurement/budget_parts.h"

namespace crema {

void LaneParts::Add(const LaneTime& lane) {
  compute += LaneTimeSum{lane.compute_ns} * kOneLane;
  cpu_wait += LaneTimeSum{lane.cpu_wait_ns} * kOneLane;
  blocked += LaneTimeSum{lane.blocked_ns} * kOneLane;
  failed += LaneTimeSum{lane.failed_ns} * kOneLane;
  unmeasured += LaneTimeSum{lane.unmeasured_ns} * kOneLane;
  wait_known = wait_known && lane.wait_known;
}

LaneParts& LaneParts::operator+=(const LaneParts& other) {
  for (LaneTimeSum LaneParts::*part :
       {&LaneParts::compute, &LaneParts::cpu_wait, &LaneParts::blocked, &LaneParts::failed, &LaneParts::unmeasured,
        &LaneParts::outside_chunk, &LaneParts::framework, &LaneParts::unrecorded, &LaneParts::unrecorded_cpu}) {
    this->*part += other.*part;
  }
  wait_known = wait_known && other.wait_known;
  return *this;
}

void LaneParts::TakeOff(LaneTimeSum beyond) {
  const auto take = [&beyond](LaneTimeSum& one, LaneTimeSum& other) {
    const LaneTimeSum whole = one + other;
    const LaneTimeSum taken = std::min(whole, beyond);
    if (taken <= 0) return;
    const long double share = static_cast<long double>(taken) / static_cast<long double>(whole);
    const auto of_one = static_cast<LaneTimeSum>(static_cast<long double>(one) * share);
    // What rounding leaves of one is in the other.
    const LaneTimeSum from_one = std::clamp(of_one, std::max(LaneTimeSum{0}, taken - other), std::min(one, taken));
    one -= from_one;
    other -= taken - from_one;
    beyond -= taken;
  };
  take(cpu_wait, blocked);
  take(failed, unmeasured);
  take(outside_chunk, framework);
  take(compute, unrecorded);
}

std::vector<BudgetRow> MakeRows(const BudgetTotals& totals) {
  const LaneParts& lanes = totals.lanes;
  const FreeParts& rest = totals.rest;
  std::vector<BudgetRow> rows;
  const auto add = [&rows](std::string_view part, double core_seconds) {
    rows.push_back({part, FindBudgetPart(part)->group, core_seconds, std::nullopt});
  };
  add("compute", LaneSeconds(lanes.compute));
  if (lanes.wait_known) {
    add("cpu_wait", LaneSeconds(lanes.cpu_wait + rest.cpu_wait));
    add("blocked", LaneSeconds(lanes.blocked));
  } else {
    add("waiting", LaneSeconds(lanes.cpu_wait + lanes.blocked + rest.cpu_wait));
  }
  add("outside_chunk", LaneSeconds(lanes.outside_chunk));
  if (rest.process_cpu_known) add("process_cpu", LaneSeconds(rest.process_cpu.sum()));
  add("framework", LaneSeconds(lanes.framework + rest.framework));
  add("failed", LaneSeconds(lanes.failed));
  add("joined", LaneSeconds(rest.joined));
  if (totals.tasks_have_several_cores) add("unused_by_tasks", LaneSeconds(totals.unused_by_tasks));
  add("startup", LaneSeconds(rest.free.startup));
  add("idle", LaneSeconds(rest.free.idle));
  add("tail", LaneSeconds(rest.free.tail));
  add("shutdown", LaneSeconds(rest.free.shutdown));
  if (lanes.unrecorded_cpu > 0) add("unmeasured_cpu", LaneSeconds(lanes.unrecorded_cpu));
  const double unmeasured = LaneSeconds(lanes.unmeasured + lanes.unrecorded);
  if (unmeasured > 0) add("unmeasured", unmeasured);
  double sum = 0;
  for (const BudgetRow& row : rows) sum += *row.core_seconds;
  for (BudgetRow& row : rows) {
    if (sum > 0) row.share = *row.core_seconds / sum;
  }
  return rows;
}

}  // namespace crema
