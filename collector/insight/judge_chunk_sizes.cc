// Verdicts on how the work was cut into chunks.
#include <algorithm>
#include <string_view>

#include "absl/strings/match.h"
#include "collector/appearance/human_numbers.h"
#include "collector/insight/chunk_size_advice.h"
#include "collector/insight/short_name.h"
#include "collector/insight/thresholds.h"
#include "collector/insight/verdict_families.h"
#include "fmt/format.h"

namespace crema {
namespace {

/// The suggestion of the table with the advice of a dataset behind it.
void AddAdvice(const ChunkSizeAdvice& advice, Verdict* verdict) {
  const std::string words = AdviceInWords(advice);
  if (words.empty()) return;
  verdict->suggestion += fmt::format(
      " {}: {}.", advice.Whose().empty() ? "By the fit" : "By the fit of " + ShortName(advice.Whose()), words);
}

std::string Of(const ChunkSizeAdvice& advice) {
  return advice.Whose().empty() ? "" : " of " + ShortName(advice.Whose());
}

/// `count` pieces of work are few for the cores; `{}` of the sentence: how many, the cores, the idle share.
void JudgeFew(const JudgedRun& run, std::string_view id, const std::string& key, const std::optional<double>& count,
              std::string_view what, std::string_view sentence) {
  const VerdictRule& rule = RuleOf(id);
  const std::optional<double> cores = run.measurement.Metric("total_cores");
  if (!count.has_value() || !cores.has_value() || !kSeveralCores.Holds(*cores) || run.is_running()) return;
  const double idle_share = run.Share("idle"), tail_share = run.Share("tail"), idle = idle_share + tail_share;
  if (!rule.threshold.Holds(*count / *cores) || !kIdleOfFewChunks.Holds(idle)) return;
  run.Add(
      rule, 0,
      fmt::format(fmt::runtime(sentence), Counted(*count, what, fmt::format("{}s", what)), HumanNumber(*cores),
                  HumanPercent(idle)),
      {{key, *count}, {"total_cores", *cores}, {"budget.idle.share", idle_share}, {"budget.tail.share", tail_share}},
      idle);
}

std::optional<double> NumClusters(const Measurement& measurement) {
  for (const auto& row : measurement.custom_metrics) {
    if (row.name.str() == "tree_clusters") return row.sum;
  }
  return std::nullopt;
}

/// A section of the guards for RDataFrame, also where the program runs the loop inside a section of its own.
bool WaitsForFiles(const std::string& path) { return absl::EndsWith("/" + path, "/wait for next files"); }

void JudgeSlowBatch(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("slow-batch");
  double waited = 0;
  double times = 0;
  for (const auto& row : run.measurement.process_sections) {
    if (!WaitsForFiles(row.path.str())) continue;
    waited += row.total.value_or(0);
    times += row.count.value_or(0);
  }
  const double share = run.ShareOf(waited);
  if (!rule.threshold.Holds(share)) return;
  run.Add(rule, 0,
          fmt::format("Threads of ROOT waited {} for the slowest file of a batch of RNTuple files: {} of the "
                      "core-seconds.",
                      HumanDuration(waited), HumanPercent(share)),
          {{"process_sections.total", waited}, {"process_sections.count", times}}, share);
}

/// The fixed cost of all chunks beyond what the advice allows, in seconds.
double AvoidableFixedCost(const ChunkSizeAdvice& advice) {
  if (!advice.fixed_seconds.has_value() || !advice.events_p50.has_value()) return 0;
  const double work = *advice.seconds_per_event * *advice.events_p50;
  return advice.attempts * std::max(0.0, advice.fixed_seconds_low - work * kMostFixedCost / (1 - kMostFixedCost));
}

std::string FromTo(double low, double high) {
  const std::string from = HumanDuration(low);
  const std::string to = HumanDuration(high);
  return from == to ? from : from + " to " + to;
}

void JudgeSmallChunks(const JudgedRun& run, const std::vector<ChunkSizeAdvice>& advice) {
  const VerdictRule& rule = RuleOf("chunks-too-small");
  double avoidable = 0;
  double fixed = 0;
  const ChunkSizeAdvice* worst = nullptr;
  for (const ChunkSizeAdvice& each : advice) {
    const double cost = AvoidableFixedCost(each);
    if (cost <= 0) continue;
    avoidable += cost;
    fixed += each.attempts * each.fixed_seconds_low;
    if (worst == nullptr || cost > AvoidableFixedCost(*worst)) worst = &each;
  }
  const double share = run.ShareOf(fixed);
  if (worst == nullptr || !rule.threshold.Holds(share)) return;
  std::vector<std::pair<std::string, double>> evidence = {{"chunk_fits.fixed_seconds", *worst->fixed_seconds},
                                                          {"chunk_fits.seconds_per_event", *worst->seconds_per_event},
                                                          {"chunk_fits.events_p50", *worst->events_p50}};
  if (worst->events_least.has_value()) evidence.emplace_back("chunk_size_advice.events_least", *worst->events_least);
  run.Add(
      rule, share,
      fmt::format(
          "Chunks are too small: their fixed cost ({} in a chunk of {} events{}) took at least {} of the core-seconds.",
          FromTo(worst->fixed_seconds_low, worst->fixed_seconds_high), HumanCount(*worst->events_p50), Of(*worst),
          HumanPercent(share)),
      std::move(evidence), run.ShareOf(avoidable));
  AddAdvice(*worst, &run.verdicts->back());
}

void JudgeLargeChunks(const JudgedRun& run, const std::vector<ChunkSizeAdvice>& advice) {
  const VerdictRule& rule = RuleOf("chunks-too-large");
  const double tail = run.Share("tail");
  const double memory = run.Metric("memory_utilization_max");
  const double chunks = run.Metric("num_chunks");
  const double cores = run.Metric("total_cores");
  const bool are_few = cores > 0 && RuleOf("too-few-chunks").threshold.Holds(chunks / cores);
  const bool tail_hurts = rule.threshold.Holds(tail) && !are_few;
  const bool memory_hurts = kMemoryOfLargeChunks.Holds(memory);
  const ChunkSizeAdvice* worst = nullptr;
  bool by_memory = false;
  double most_work = 0;
  for (const ChunkSizeAdvice& each : advice) {
    const auto too_large = [&](const std::optional<double>& most) {
      return most.has_value() && each.events_p50.has_value() && *each.events_p50 > *most;
    };
    const bool for_tail = tail_hurts && too_large(each.events_most_for_tail);
    const bool for_memory = memory_hurts && too_large(each.events_most_for_memory);
    if (!for_tail && !for_memory) continue;
    const double work = each.attempts * each.SecondsOf(each.events_p50).value_or(0);
    if (worst != nullptr && work <= most_work) continue;
    worst = &each;
    most_work = work;
    by_memory = !for_tail;
  }
  if (worst == nullptr || run.is_running()) return;
  const std::string what =
      by_memory ? fmt::format("a worker used {} of its memory limit", HumanPercent(memory))
                : fmt::format("while the last ran, free cores cost {} of the core-seconds", HumanPercent(tail));
  run.Add(rule, 0,
          fmt::format("Chunks{} are too large ({} events, {}): {}.", Of(*worst), HumanCount(*worst->events_p50),
                      HumanDuration(worst->SecondsOf(worst->events_p50).value_or(0)), what),
          {{"chunk_fits.events_p50", *worst->events_p50},
           {"chunk_size_advice.events_most", *worst->EventsMost()},
           {"budget.tail.share", tail},
           {"memory_utilization_max", memory}},
          by_memory ? std::nullopt : std::optional<double>(tail));
  AddAdvice(*worst, &run.verdicts->back());
}

/// What the largest chunk took beyond the largest that is not oversized, by the fit of its dataset; seconds.
struct Oversize {
  double excess_seconds = 0;
  double events_max = 0;
  const ChunkSizeAdvice* advice = nullptr;
};

Oversize LargestOversize(const JudgedRun& run, const std::vector<ChunkSizeAdvice>& advice) {
  Oversize largest;
  const auto& fits = run.measurement.chunk_fits;
  for (size_t i = 0; i < advice.size() && i < fits.size(); ++i) {
    if (!kAnyOversized.Holds(fits[i].oversized.value_or(0)) || !advice[i].seconds_per_event.has_value()) continue;
    const double events_max = fits[i].events_max.value_or(0);
    const double excess = (events_max - *advice[i].events_p50) * *advice[i].seconds_per_event;
    if (excess > largest.excess_seconds) largest = {excess, events_max, &advice[i]};
  }
  return largest;
}

void JudgeOversizedChunks(const JudgedRun& run, const std::vector<ChunkSizeAdvice>& advice) {
  const VerdictRule& rule = RuleOf("oversized-chunks");
  const double count = run.Metric("oversized_chunks");
  const double tail = run.Share("tail");
  if (!kAnyOversized.Holds(count) || !rule.threshold.Holds(tail) || run.is_running()) return;
  const Oversize largest = LargestOversize(run, advice);
  std::optional<double> saving;
  std::string most;
  if (largest.advice != nullptr) {
    const double cores = run.Metric("total_cores");
    saving = std::min(tail, run.ShareOf(largest.excess_seconds * cores));
    most = fmt::format(" (up to {} events{})", HumanCount(largest.events_max), Of(*largest.advice));
  }
  run.Add(rule, tail,
          fmt::format("{} over {} times the events of their dataset's median{}; the tail took {} of the core-seconds.",
                      Counted(count, "chunk has", "chunks have"), kOversizedMedians, most, HumanPercent(tail)),
          {{"oversized_chunks", count}, {"budget.tail.share", tail}}, saving);
  if (largest.advice != nullptr) AddAdvice(*largest.advice, &run.verdicts->back());
}

}  // namespace

void JudgeChunkSizes(const JudgedRun& run) {
  const std::vector<ChunkSizeAdvice> advice = AdviseChunkSizes(run.measurement);
  JudgeFew(run, "too-few-chunks", "num_chunks", run.measurement.Metric("num_chunks"), "chunk",
           "{} for {} cores cannot be spread evenly: {} of the core-seconds were idle between and after them.");
  JudgeFew(run, "too-few-clusters", "custom_metrics.tree_clusters", NumClusters(run.measurement), "cluster",
           "The trees that were read have {} for {} cores, and ROOT gives a cluster to one thread: {} of the "
           "core-seconds were idle.");
  JudgeSlowBatch(run);
  JudgeSmallChunks(run, advice);
  JudgeLargeChunks(run, advice);
  JudgeOversizedChunks(run, advice);
}

}  // namespace crema
