// Verdict on what chunks wait for together.
#include <algorithm>
#include <optional>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {

using Json = nlohmann::ordered_json;

void JudgeContention(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("shared-bottleneck");
  const Json& rows = ListField(run.document, "contention");
  if (rows.empty()) return;
  const Json& row = rows.front();
  const double slope = NumberField(row, "slope").value_or(0), low = NumberField(row, "slope_low").value_or(0),
               high = NumberField(row, "slope_high").value_or(0);
  if (!(low > 0)) return;
  const double all = run.budget().core_seconds;
  const double share = NumberField(row, "excess_low").value_or(0) / all;
  if (!rule.threshold.Holds(share)) return;
  const double excess = NumberField(row, "excess").value_or(0);
  run.Add(rule, share,
          fmt::format("Chunks wait for something that all of them share. With each further open chunk, an event is "
                      "blocked for {} longer. What they share serves about {} events a second ({} to {}).",
                      HumanDuration(slope), HumanCount(1 / slope), HumanCount(1 / high), HumanCount(1 / low)),
          {{"contention.slope", slope},
           {"contention.slope_low", low},
           {"contention.slope_high", high},
           {"contention.lanes_low", NumberField(row, "lanes_low").value_or(0)},
           {"contention.lanes_high", NumberField(row, "lanes_high").value_or(0)},
           {"contention.excess_low", share * all}},
          std::min(1.0, excess / all));
}

}  // namespace crema
