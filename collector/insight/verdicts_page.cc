#include "collector/insight/verdicts_page.h"

#include <cmath>

#include "collector/insight/key_figure_bands.h"
#include "collector/insight/verdict_table.h"
#include "fmt/format.h"

namespace crema {
namespace {

constexpr std::string_view kHead =
    R"(<!-- Written by `bazel run //docs:generated_pages_test -- --write` from collector/insight: verdict_table.cc, thresholds.h. -->
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

- at least so many events that the fixed cost stays below {fixed:g} % of a chunk: {fixed_factor:g} fixed / slope;
- at most so many that the tail is expected to stay below {tail:g} %: with n cores the last chunks of duration d leave n d / 2
  core-seconds free on average, so d <= {tail_factor:g} busy_time / total_cores; not on one core;
- at most so many that a worker of average memory stays below {memory:g} % of the least memory limit, with the 95 % quantile of
  the memory that an event adds; only where one chunk at a time is open in a process.

No advice where a dataset has fewer than {chunks:g} chunks, or where the 95 % interval of the fixed cost is wider than {vague:g} %
of a median chunk's time. Where chunks are of one size (the largest has less than {spread:g} times the events of the
smallest), or their time does not grow with their events, there is advice only if the fit is sure that events take at most
{hardly:g} % of that time: the rest is fixed cost then. An upper bound that the run itself contradicts is withheld: chunks below
it left a long tail. Oversized chunks are never advised.

)";

constexpr std::string_view kResources = R"(## Resource advice

`resource_advice` in the document, where a batch system told what its jobs used. What to ask for is the {quantile:g} % quantile
of the jobs that ended by themselves: of the most memory that each used, and of its CPU time over its elapsed time. A job
that was ended early would have used more, and does not count. Jobs of less than {seconds:g} s tell nothing of cores. The interval
holds the quantile with 95 %, and takes the order of the values alone. There is no advice from fewer than {jobs:g} jobs.

)";

constexpr std::string_view kHeadlineText = R"(## The headline

At most two sentences open every summary. The first says what is wrong with the results or the records: how the run ended,
chunks without a result, workers that vanished and the chunks that had ended there, gaps of the records. Where nothing is
wrong, it says of which kind the run is. The second is the larger of two: the verdict with the largest `saving` that nothing
else explains, and the largest part of the budget that is a loss and that the first sentence has not named. At the end
stands what is fine, where the records say so: all chunks have results. The kinds, by shares of the core-seconds; of several
the one with the largest share:

| kind | when | reason |
|---|---|---|
| compute-bound | CPU in your code {compute}, whatever the rest did | as the verdict |
| waiting-bound, short of CPU | waiting in your code {waiting}, or {also} and more than CPU; short of CPU where most of it was waiting for one | as the verdict, with the waiting for a CPU |
| opening-bound | opening and reading around your code {opening} | as the verdict |
| busy outside chunks | CPU outside chunks {overhead} | as overhead |
| overhead-bound | framework and repeats {overhead} | {overhead_reason} |
| starved | idle {starved} | {starved_reason} |
| over-allocated | unused by tasks {starved} | as starved |
| mixed | none of these | |
| not judged | what is not measured is more than any of them | |

A loss, or a verdict's saving, is named where it is {loss}: {loss_reason}.

)";

std::string Advice() {
  return fmt::format(kAdvice, fmt::arg("fixed", 100 * kMostFixedCost), fmt::arg("fixed_factor", 1 / kMostFixedCost - 1),
                     fmt::arg("tail", 100 * kMostTail), fmt::arg("tail_factor", 2 * kMostTail),
                     fmt::arg("memory", 100 * kMostMemory), fmt::arg("chunks", kChunksOfFit.value),
                     fmt::arg("spread", kSpreadOfFit.value), fmt::arg("vague", 100 * kClearFixedCost.value),
                     fmt::arg("hardly", 100 * kSizeHardlyMatters.value));
}

std::string Resources() {
  return fmt::format(kResources, fmt::arg("quantile", 100 * kRequestQuantile), fmt::arg("seconds", kSecondsOfJob.value),
                     fmt::arg("jobs", kJobsOfRequest.value));
}

std::string HeadlineText() {
  const auto rule = [](std::string_view id) { return ToString(RuleOf(id).threshold); };
  return fmt::format(kHeadlineText, fmt::arg("compute", rule("compute-bound")),
                     fmt::arg("waiting", rule("waiting-bound")), fmt::arg("also", ToString(kWaitsToo)),
                     fmt::arg("opening", rule("opening-bound")), fmt::arg("overhead", ToString(kOverheadBound)),
                     fmt::arg("overhead_reason", kOverheadBound.reason), fmt::arg("starved", ToString(kStarved)),
                     fmt::arg("starved_reason", kStarved.reason), fmt::arg("loss", ToString(kWorthASentence)),
                     fmt::arg("loss_reason", kWorthASentence.reason));
}

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
  std::string text = ToString(rule.threshold);
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
    for (const Bound* bound : rule.also) page += fmt::format("| also | {}: {} |\n", ToString(*bound), bound->reason);
    page += fmt::format("| suggestion | {} |\n\n", rule.suggestion.empty() ? "nothing is to be done" : rule.suggestion);
  }
  page += HeadlineText();
  page += Advice();
  page += Resources();
  page += KeyFigureTable();
  return page;
}

}  // namespace crema
