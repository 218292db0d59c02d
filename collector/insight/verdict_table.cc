#include "collector/insight/verdict_table.h"

#include <cstdlib>
#include <limits>

#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

const std::vector<VerdictRule>& VerdictTable() {
  static const auto& table = *new std::vector<VerdictRule>{
      {"compute-bound", 0.60, kNever, "budget: compute >= {0} of the core-seconds",
       "the other uses together are then at most 0.40: more cores or faster code is what helps"},
      {"waiting-bound", 0.30, 0.50,
       "budget: blocked (or waiting) >= {0} of the core-seconds, or over 0.15 and more than compute; bad from {1}",
       "METRICS.md section 10: waiting is bad above 0.30; at half of all core-seconds the cores mostly wait"},
      {"cpu-contention", 0.05, 0.20, "budget: cpu_wait >= {0} of the core-seconds; bad from {1}",
       "on cores of one's own run delay stays below 0.01; 0.05 means more runnable threads than cores, 0.20 that a "
       "fifth of the cores is somebody else's"},
      {"stragglers", 0.01, kNever,
       "straggler_chunks >= 1, and what they took beyond their prediction is >= {0} of the core-seconds",
       "every run has a slow chunk; below a hundredth of the cost nobody should look for it"},
      {"long-tail", 0.05, 0.20, "budget: tail >= {0} of the core-seconds; bad from {1}",
       "the chunk-size advice of METRICS.md section 9 keeps the tail below 0.05"},
      {"idle-workers", 0.10, 0.40, "budget: idle >= {0} of the core-seconds; bad from {1}",
       "handing out chunks costs a few per cent; a tenth is a queue that ran dry or cores without threads"},
      {"startup-dominated", 0.10, 0.40, "budget: startup >= {0} of the core-seconds; bad from {1}",
       "a run should be long against its own start; a tenth pays for fewer, longer workers"},
      {"failing-chunks", 0.01, 0.05,
       "failed and lost attempts >= {0} of all attempts, or a chunk without a result once the run is over; bad from "
       "{1} "
       "and whenever a chunk has no result",
       "hiccups of storage stay below 0.01 and are cured by a retry; a chunk without a result is missing from the "
       "physics"},
      {"oversubscribed", 0.01, 0.10, "the parts of the budget exceed core_seconds by >= {0} of them; bad from {1}",
       "open chunks and helpers beyond the declared cores are 0 in ordinary runs; 0.01 is beyond rounding and clocks"},
      {"incomplete-measurement", 1, kNever,
       "at least {0} record, process or event that should be there was malformed, torn, dropped or lost; event or fine "
       "coverage below 0.99; or too little was measured to judge",
       "sums over records are lower bounds when records are missing"},
      {"healthy", 0.70, kNever,
       "cpu_efficiency >= {0}, enough was measured to judge, and no other verdict is a warning or bad",
       "METRICS.md section 10: good from 0.70"},
  };
  return table;
}

const VerdictRule& RuleOf(std::string_view id) {
  for (const VerdictRule& rule : VerdictTable()) {
    if (rule.id == id) return rule;
  }
  std::abort();  // an id that is not in the table is a mistake in verdicts.cc, which every test of it would meet
}

std::string ConditionText(const VerdictRule& rule) {
  return fmt::format(fmt::runtime(rule.condition), rule.threshold, rule.bad);
}

}  // namespace crema
