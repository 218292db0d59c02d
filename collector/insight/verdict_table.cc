#include "collector/insight/verdict_table.h"

#include <cstdlib>
#include <limits>

#include "fmt/format.h"

namespace crema {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kGood:
      return "good";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kBad:
      break;
  }
  return "bad";
}

const std::vector<VerdictRule>& VerdictTable() {
  static const auto& table = *new std::vector<VerdictRule>{
      {"compute-bound", 0.60, kNever, Severity::kInfo, "budget: compute >= {0} of the core-seconds",
       "the other uses together are then at most 0.40: more cores or faster code is what helps",
       "Faster code in the largest section, or more cores, shortens the run."},
      {"waiting-bound", 0.30, 0.50, Severity::kWarning,
       "budget: blocked (or waiting) >= {0} of the core-seconds, or over 0.15 and more than compute; bad from {1}",
       "above 0.30 the key figure is bad too; at half of all core-seconds the cores mostly wait",
       "Look at the sections with little CPU; read fewer columns, from closer by, or run more threads than cores."},
      {"cpu-contention", 0.05, 0.20, Severity::kWarning, "budget: cpu_wait >= {0} of the core-seconds; bad from {1}",
       "on cores of one's own run delay stays below 0.01; 0.05 means more runnable threads than cores, 0.20 that a "
       "fifth of the cores is somebody else's",
       "Something else runs on these cores, or more threads than cores: run alone, or run fewer threads."},
      {"stragglers", 0.01, kNever, Severity::kWarning,
       "straggler_chunks >= 1, and what they took beyond their prediction is >= {0} of the core-seconds",
       "every run has a slow chunk; below a hundredth of the cost nobody should look for it",
       "See which file or worker they share: crema show --table chunks."},
      {"long-tail", 0.05, 0.20, Severity::kWarning, "budget: tail >= {0} of the core-seconds; bad from {1}",
       "chunks of a fitting size keep the tail below 0.05", "Use smaller chunks, or start the largest first."},
      {"idle-workers", 0.10, 0.40, Severity::kWarning, "budget: idle >= {0} of the core-seconds; bad from {1}",
       "handing out chunks costs a few per cent; a tenth is a queue that ran dry or cores without threads",
       "Keep more chunks queued for each worker, or use fewer cores."},
      {"startup-dominated", 0.10, 0.40, Severity::kWarning, "budget: startup >= {0} of the core-seconds; bad from {1}",
       "a run should be long against its own start; a tenth pays for fewer, longer workers",
       "Keep workers for longer, give them more chunks, or shorten the set-up."},
      {"failing-chunks", 0.01, 0.05, Severity::kWarning,
       "failed and lost attempts >= {0} of all attempts, or a chunk without a result once the run is over; bad from "
       "{1} and whenever a chunk has no result",
       "hiccups of storage stay below 0.01 and are cured by a retry; a chunk without a result is missing from the "
       "physics",
       "See the errors: crema show --table chunks --failed."},
      {"oversubscribed", 0.01, 0.10, Severity::kWarning,
       "the parts of the budget exceed core_seconds by >= {0} of them; bad from {1}",
       "open chunks and helpers beyond the declared cores are 0 in ordinary runs; 0.01 is beyond rounding and clocks",
       "Declare the cores each process may use (CREMA_THREADS), or run fewer threads."},
      {"incomplete-measurement", 1, kNever, Severity::kWarning,
       "at least {0} record, process or event that should be there was malformed, torn, dropped or lost; event or fine "
       "coverage below 0.99; or too little was measured to judge (no ended chunk, or less than 1 core-second; then "
       "only an info while the run goes on). A torn line and a low event coverage of a running job are no gap",
       "sums over records are lower bounds when records are missing",
       "See what is missing: crema show --table quality."},
      {"healthy", 0.70, kNever, Severity::kGood,
       "cpu_efficiency >= {0}, enough was measured to judge, and no other verdict is a warning or bad",
       "from there on the key figure is good too: sites ask for no more", ""},
  };
  return table;
}

const VerdictRule* FindRule(std::string_view id) {
  for (const VerdictRule& rule : VerdictTable()) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

const VerdictRule& RuleOf(std::string_view id) {
  if (const VerdictRule* rule = FindRule(id)) return *rule;
  std::abort();  // an id that is not in the table is a mistake in verdicts.cc, which every test of it would meet
}

std::string ConditionText(const VerdictRule& rule) {
  return fmt::format(fmt::runtime(rule.condition), rule.threshold, rule.bad);
}

}  // namespace crema
