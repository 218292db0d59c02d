#include "collector/insight/verdicts_page.h"

#include <cmath>

#include "collector/insight/verdict_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kHead =
    R"(<!-- Written by `bazel run //docs:generated_pages_test -- --write` from collector/insight/verdict_table.cc. -->
# Verdicts

What `crema verdict`, the summary and the report say of a run beyond its figures. A verdict fires on measured evidence
only, and says which; shares are of the core-seconds (the [budget](metrics.md#the-core-second-budget)). `saving` is the
share that would be won if its cause went away altogether. `crema verdict SOURCE --fail-on long-tail,failing-chunks` ends
with status 3 when one of these fires.

)";

std::string Threshold(const VerdictRule& rule) {
  std::string text = fmt::format("{}", rule.threshold);
  if (std::isfinite(rule.bad)) text += fmt::format("; bad from {}", rule.bad);
  return text;
}

}  // namespace

std::string VerdictsPage() {
  std::string page(kHead);
  for (const VerdictRule& rule : VerdictTable()) {
    page += fmt::format("## `{}`\n\n", rule.id);
    page += "| | |\n|---|---|\n";
    page += fmt::format("| severity | {}{} |\n", ToString(rule.severity), std::isfinite(rule.bad) ? ", or bad" : "");
    page += fmt::format("| fires when | {} |\n", ConditionText(rule));
    page += fmt::format("| threshold | {} |\n", Threshold(rule));
    page += fmt::format("| reason | {} |\n", rule.reason);
    page += fmt::format("| suggestion | {} |\n\n", rule.suggestion.empty() ? "nothing is to be done" : rule.suggestion);
  }
  page.pop_back();
  return page;
}

}  // namespace crema
