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

Verdicts say in words what is remarkable in a run. `crema verdict`, the summary and the report show them. A verdict fires
only on measured evidence, and lists this evidence. Shares are shares of the core-seconds (the
[budget](metrics.md#the-core-second-budget)). `saving` is the share that the run would save if the cause were removed. It
is null if the records do not show it. Two verdicts may see the same loss (a tail, and what made it): do not add up their
savings. `crema verdict SOURCE --fail-on long-tail,failing-chunks` ends with status 3 if one of these verdicts fires.

)";

constexpr std::string_view kAdvice = R"(## Chunk-size advice

The advice is `chunk_size_advice` in the document; the verdicts on sizes suggest it, too. It comes from each dataset's
robust fit of duration = fixed + slope x events (`chunk_fits`):

- A chunk should have enough events to keep the fixed cost below {fixed:g} % of its time: {fixed_factor:g} fixed / slope.
- It should have few enough events to keep the expected tail below {tail:g} %. On n cores the last chunks, of duration d, leave
  n d / 2 core-seconds free on average, so d <= {tail_factor:g} lane_time / total_cores. On one core there is no tail.
- It should have few enough events to keep a worker of average memory below {memory:g} % of the smallest memory limit. An event
  is taken to add the 95 % quantile of what events add. This bound needs processes with one open chunk at a time.

There is no advice for a dataset with fewer than {chunks:g} chunks, or if the 95 % interval of the fixed cost is wider than
{vague:g} % of a median chunk's time. Sometimes chunks are all of one size (the largest has less than {spread:g} times the events of
the smallest), or their time does not grow with their events. Then there is advice only if the fit is sure that events
take at most {hardly:g} % of a chunk's time; the rest counts as fixed cost. crema gives no upper bound if the run contradicts it:
chunks below this bound left a long tail. crema never advises oversized chunks.

)";

constexpr std::string_view kResources = R"(## Resource advice

The advice is `resource_advice` in the document. It exists if a batch system reported what its jobs used. Ask for the
{quantile:g} % quantile of the jobs that ended by themselves: of the largest memory of each job, and of its CPU time over its
elapsed time. A job that was ended early would have used more, so it does not count. A job of less than {seconds:g} s shows nothing
about cores. The interval contains the quantile with 95 % probability; it uses only the order of the values. Fewer than
{jobs:g} jobs give no advice.

)";

constexpr std::string_view kHeadlineText = R"(## The headline

At most two sentences open every summary. The first says what is wrong with the results or the records: how the run ended,
chunks without a result, workers that vanished and the chunks that had ended there, gaps of the records. If nothing is
wrong, it says of which kind the run is. The second sentence names the larger of two losses: the verdict with the largest
`saving` that has no other verdict as its cause, or the largest loss in the budget that the first sentence has not named.
If the records show that all chunks have results, this is said at the end. The kinds depend on shares of the core-seconds.
If a run is of several kinds, crema names the one with the largest share:

| kind | when | reason |
|---|---|---|
| compute-bound | CPU in your code {compute}, for any other shares | as the verdict |
| waiting-bound, short of CPU | waiting in your code {waiting}, or {also} and more than CPU; short of CPU if most of it was waiting for a CPU | as the verdict, with the waiting for a CPU |
| gpu-bound, gpu-copies | waiting for the GPU {gpu}; gpu-copies if copies took longer than kernels | as the verdict |
| uses a GPU, may use a GPU | instead of compute-bound, waiting-bound and mixed, if the run used a GPU and nobody counted what it did | threads may spin while they wait for it |
| opening-bound, set-up-bound, busy around chunks | time around your code {opening}; set-up-bound if most of it was before the first chunk of each thread of a worker; busy around chunks if a section outside chunks could fill most of it | as the verdict |
| busy outside chunks, short of CPU outside chunks | CPU, or waiting for a CPU, outside chunks {overhead} | as overhead-bound |
| overhead-bound | framework and repeated work {overhead} | {overhead_reason} |
| starved | idle {starved} | {starved_reason} |
| over-allocated | unused by tasks {starved} | as starved |
| mixed | none of these | |
| not judged | the unmeasured share is larger than any of these | |

crema names a loss, or a verdict's saving, if it is {loss}: {loss_reason}.

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
                     fmt::arg("waiting", rule("waiting-bound")), fmt::arg("gpu", rule("gpu-bound")),
                     fmt::arg("also", ToString(kWaitsToo)), fmt::arg("opening", rule("opening-bound")),
                     fmt::arg("overhead", ToString(kOverheadBound)), fmt::arg("overhead_reason", kOverheadBound.reason),
                     fmt::arg("starved", ToString(kStarved)), fmt::arg("starved_reason", kStarved.reason),
                     fmt::arg("loss", ToString(kWorthASentence)), fmt::arg("loss_reason", kWorthASentence.reason));
}

/// The thresholds of report and terminal, from key_figure_bands.cc.
std::string KeyFigureTable() {
  std::string text =
      "## Bands of the key figures\n\nThe summary, the report and the live page use these bands. A figure between good "
      "and bad deserves a look.\n\n| figure | good | bad | reason |\n|---|---|---|---|\n";
  for (const KeyFigureBand& band : KeyFigureBands()) {
    const std::string_view good = band.more_is_better ? ">=" : "<=";
    const std::string_view bad = band.more_is_better ? "<" : ">";
    text += fmt::format("| {} | {} {} | {} {} | {} |\n", band.name, good, band.good, bad, band.bad, band.reason);
  }
  return text;
}

std::string ThresholdText(const VerdictRule& rule) {
  std::string text = ToString(rule.threshold);
  if (std::isfinite(rule.threshold.bad)) text += fmt::format("; bad from {}", rule.threshold.bad);
  return text;
}

}  // namespace

std::string VerdictsPage() {
  std::string page(kHead);
  for (const VerdictRule& rule : VerdictTable()) {
    page += fmt::format("## `{}`\n\n", rule.id);
    page += "| | |\n|---|---|\n";
    page += fmt::format("| severity | {}{} |\n", ToString(rule.threshold.severity),
                        std::isfinite(rule.threshold.bad) ? ", or bad" : "");
    page += fmt::format("| fires when | {} |\n", ConditionText(rule));
    page += fmt::format("| threshold | {} |\n", ThresholdText(rule));
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
