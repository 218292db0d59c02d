// Verdict on what chunks wait for together.
#include <algorithm>
#include <optional>

#include "collector/appearance/human_numbers.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {

void JudgeContention(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("shared-bottleneck");
  if (run.measurement.contention.empty()) return;
  const ContentionRow& row = run.measurement.contention.front();
  const double slope = row.slope.value_or(0), low = row.slope_low.value_or(0), high = row.slope_high.value_or(0);
  if (!(low > 0)) return;
  const double all = run.budget().core_seconds;
  const double share = row.excess_low.value_or(0) / all;
  if (!rule.threshold.Holds(share)) return;
  const double excess = row.excess.value_or(0);
  run.Add(rule, share,
          fmt::format("Chunks wait for something that all of them share. With each further open chunk, an event is "
                      "blocked for {} longer. What they share serves about {} events a second ({} to {}).",
                      HumanDuration(slope), HumanCount(1 / slope), HumanCount(1 / high), HumanCount(1 / low)),
          {{"contention.slope", slope},
           {"contention.slope_low", low},
           {"contention.slope_high", high},
           {"contention.lanes_low", row.lanes_low.value_or(0)},
           {"contention.lanes_high", row.lanes_high.value_or(0)},
           {"contention.excess_low", share * all}},
          std::min(1.0, excess / all));
}

}  // namespace crema
