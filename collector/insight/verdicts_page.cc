#include "collector/insight/verdicts_page.h"

#include <cmath>

#include "collector/insight/key_figure_bands.h"
#include "collector/insight/verdict_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kHead =
    R"(<!-- Written by `bazel run //docs:generated_pages_test -- --write` from collector/insight/verdict_table.cc. -->
# Verdicts

What `crema verdict`, the summary and the report say of a run beyond its figures. A verdict fires on measured evidence
only, and says which; shares are of the core-seconds (the [budget](metrics.md#the-core-second-budget)). `saving` is the
share that would be won if what the verdict names were cured, null where nobody can say; savings of verdicts that see the
same loss (a tail and what made it) do not add up. `crema verdict SOURCE --fail-on long-tail,failing-chunks` ends with
status 3 when one of these fires.

)";

constexpr std::string_view kAdvice = R"(## Chunk-size advice

`chunk_size_advice` in the document, and the suggestion of the verdicts on sizes. From each dataset's robust fit of
duration = fixed + slope x events (`chunk_fits`):

- at least so many events that the fixed cost stays below 5 % of a chunk: 19 fixed / slope;
- at most so many that the tail is expected to stay below 5 %: with n cores the last chunks of duration d leave n d / 2
  core-seconds free on average, so d <= 0.1 busy_time / total_cores; not on one core;
- at most so many that a worker of average memory stays below 80 % of the least memory limit, with the 95 % quantile of
  the memory that an event adds; only where one chunk at a time is open in a process.

No advice where a dataset has fewer than 8 chunks, or where they are of one size: such chunks do not tell their fixed cost.

)";

/// The thresholds of report and terminal, from key_figure_bands.cc.
std::string KeyFigureTable() {
  std::string text =
      "## Bands of the key figures\n\nWhat the summary, the report and the live page call good, worth a look (between) "
      "and bad.\n\n| figure | good | bad | reason |\n|---|---|---|---|\n";
  for (const KeyFigureBand& band : KeyFigureBands()) {
    const std::string_view good = band.more_is_better ? ">=" : "<=";
    const std::string_view bad = band.more_is_better ? "<" : ">";
    text += fmt::format("| {} | {} {} | {} {} | {} |\n", band.name, good, band.good, bad, band.bad, band.reason);
  }
  return text;
}

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
    if (rule.not_measured.empty()) {
      page += fmt::format("| fires when | {} |\n", ConditionText(rule));
    } else {
      page += fmt::format("| would fire when | {} |\n", ConditionText(rule));
      page += fmt::format("| never fires | not measured: {} |\n", rule.not_measured);
    }
    page += fmt::format("| threshold | {} |\n", Threshold(rule));
    page += fmt::format("| reason | {} |\n", rule.reason);
    page += fmt::format("| suggestion | {} |\n\n", rule.suggestion.empty() ? "nothing is to be done" : rule.suggestion);
  }
  page += kAdvice;
  page += KeyFigureTable();
  return page;
}

}  // namespace crema
