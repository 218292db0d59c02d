// Verdicts on what takes longer than its like.
#include <algorithm>
#include <string_view>

#include "collector/appearance/human_numbers.h"
#include "collector/document/document_fields.h"
#include "collector/insight/short_name.h"
#include "collector/insight/verdict_families.h"
#include "collector/metrics/attempts/slow_spells.h"
#include "fmt/format.h"

namespace crema {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOutsideSections = "(other)";

void JudgeStragglers(const JudgedRun& run) {
  const double count = Metric(run.document, "straggler_chunks").value_or(0);
  double excess = 0;
  for (const Json& row : ListField(run.document, "stragglers")) {
    const std::optional<double> duration = NumberField(row, "duration");
    const std::optional<double> predicted = NumberField(row, "predicted");
    if (duration.has_value() && predicted.has_value()) excess += std::max(0.0, *duration - *predicted);
  }
  const double share = excess / run.budget().core_seconds;
  const VerdictRule& rule = RuleOf("stragglers");
  if (!kAnyStraggler.Holds(count) || !rule.threshold.Holds(share)) return;
  run.Add(rule, share,
          fmt::format("{} took {} longer than chunks of the same size do, {} of the core-seconds.",
                      Counted(count, "straggler", "stragglers"), HumanDuration(excess), HumanPercent(share)),
          {{"straggler_chunks", count}, {"stragglers.excess_seconds", excess}}, share);
}

/// Workers or files that took longer than the fits of their chunks' datasets give.
struct SlowOnes {
  const Json* worst = nullptr;  ///< largest excess
  double seen = 0;              ///< of this kind, slow or not
  double slow = 0;
  double excess_seconds = 0;
};

SlowOnes FindSlow(const Json& document, std::string_view by, const Bound& attempts, const Bound& factor) {
  SlowOnes found;
  double largest = 0;
  for (const Json& row : ListField(document, "expected_time")) {
    if (TextField(row, "by") != by) continue;
    ++found.seen;
    const double duration = NumberField(row, "duration").value_or(0);
    const double predicted = NumberField(row, "predicted").value_or(0);
    if (!attempts.Holds(NumberField(row, "attempts").value_or(0)) || predicted <= 0) continue;
    if (!factor.Holds(duration / predicted)) continue;
    ++found.slow;
    found.excess_seconds += duration - predicted;
    if (duration - predicted <= largest) continue;
    largest = duration - predicted;
    found.worst = &row;
  }
  return found;
}

void AddSlow(const JudgedRun& run, const VerdictRule& rule, const SlowOnes& found, std::string_view others) {
  const Json& row = *found.worst;
  const double duration = NumberField(row, "duration").value_or(0);
  const double predicted = NumberField(row, "predicted").value_or(0);
  const std::string name = ShortName(TextField(row, "name"));
  const std::string more = found.slow > 1 ? fmt::format("; {} more are slow", HumanCount(found.slow - 1)) : "";
  run.Add(rule, 0,
          fmt::format("{} took {} times as long as chunks of the same size do {}: {} more, over {}{}.", name,
                      HumanFactor(duration / predicted), others, HumanDuration(duration - predicted),
                      Counted(NumberField(row, "attempts").value_or(0), "chunk", "chunks"), more),
          {{"expected_time.attempts", NumberField(row, "attempts").value_or(0)},
           {"expected_time.duration", duration},
           {"expected_time.predicted", predicted}},
          found.excess_seconds / run.budget().core_seconds);
}

void JudgeSlowWorkersAndFiles(const JudgedRun& run) {
  const auto is_much = [&run](const SlowOnes& found) {
    return found.worst != nullptr && kSeveral.Holds(found.seen) &&
           kMuchExcess.Holds(found.excess_seconds / run.budget().core_seconds);
  };
  const VerdictRule& worker_rule = RuleOf("slow-worker");
  const SlowOnes workers = FindSlow(run.document, "worker", kChunksOfSlowWorker, worker_rule.threshold);
  if (is_much(workers)) {
    AddSlow(run, worker_rule, workers, "elsewhere");
    return;  // its files are slow because it is
  }
  const VerdictRule& file_rule = RuleOf("slow-file");
  const SlowOnes files = FindSlow(run.document, "file", kChunksOfSlowFile, file_rule.threshold);
  if (is_much(files)) AddSlow(run, file_rule, files, "in other files");
}

/// `node1:411`, `file x.root`, `everything`.
std::string WhoWasSlow(const Json& spell) {
  const std::string by = TextField(spell, "by");
  if (by == ToString(SpellOf::kRun)) return "everything";
  return (by == ToString(SpellOf::kWorker) ? "" : by + " ") + ShortName(TextField(spell, "name"));
}

/// `, most of it in section read, blocked on I/O`: where the excess of a spell went.
std::string WhereItWent(const Json& spell) {
  const std::string reason = TextField(spell, "reason");
  std::string_view doing;
  if (reason == ToString(StragglerReason::kCpu)) doing = "computing";
  if (reason == ToString(StragglerReason::kCpuWait)) doing = "waiting for a CPU";
  if (reason == ToString(StragglerReason::kBlocked)) doing = "blocked on I/O, locks or a device";
  if (reason == ToString(StragglerReason::kJoined)) doing = "waiting for helpers";
  const std::string section = TextField(spell, "section");
  if (section.empty()) return doing.empty() ? "" : fmt::format(", most of it {}", doing);
  return fmt::format(", most of it in section {}{}{}", ShortName(section), doing.empty() ? "" : ", ", doing);
}

void JudgeSpells(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("slow-spell");
  double excess = 0;
  double count = 0;
  const Json* worst = nullptr;
  for (const Json& spell : ListField(run.document, "slow_spells")) {
    const double duration = NumberField(spell, "duration").value_or(0);
    const double predicted = NumberField(spell, "predicted").value_or(0);
    if (predicted <= 0 || !rule.threshold.Holds(duration / predicted)) continue;
    excess += duration - predicted;
    ++count;
    if (worst == nullptr) worst = &spell;  // they are sorted
  }
  if (worst == nullptr || !kMuchExcess.Holds(excess / run.budget().core_seconds)) return;
  const double duration = NumberField(*worst, "duration").value_or(0);
  const double predicted = NumberField(*worst, "predicted").value_or(0);
  const double attempts = NumberField(*worst, "attempts").value_or(0);
  run.Add(rule, 0,
          fmt::format("From {} to {}, {} took {} times as long as chunks of the same size do: {} more{}, over {}{}.",
                      HumanClock(NumberField(*worst, "start").value_or(0)),
                      HumanClock(NumberField(*worst, "stop").value_or(0)), WhoWasSlow(*worst),
                      HumanFactor(duration / predicted), HumanDuration(duration - predicted), WhereItWent(*worst),
                      Counted(attempts, "chunk", "chunks"),
                      count > 1 ? fmt::format("; {} more such spells", HumanCount(count - 1)) : ""),
          {{"slow_spells.start", NumberField(*worst, "start").value_or(0)},
           {"slow_spells.stop", NumberField(*worst, "stop").value_or(0)},
           {"slow_spells.attempts", attempts},
           {"slow_spells.duration", duration},
           {"slow_spells.predicted", predicted}},
          excess / run.budget().core_seconds);
}

void JudgeSkew(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("skewed-dataset");
  const double busy = Metric(run.document, "busy_time").value_or(0);
  const Json* worst = nullptr;
  double largest = 0;
  for (const Json& row : ListField(run.document, "datasets")) {
    const double median = NumberField(row, "duration_p50").value_or(0);
    const double high = NumberField(row, "duration_p95").value_or(0);
    const double sum = NumberField(row, "duration_sum").value_or(0);
    if (median <= 0 || !kAttemptsOfSpread.Holds(NumberField(row, "attempts").value_or(0))) continue;
    if (busy > 0 && !kBusyTimeOfSpread.Holds(sum / busy)) continue;
    if (!rule.threshold.Holds(high / median) || high / median <= largest) continue;
    largest = high / median;
    worst = &row;
  }
  if (worst == nullptr) return;
  run.Add(
      rule, largest,
      fmt::format("Chunks of {} are uneven: one in twenty takes over {} where half take under {}.",
                  ShortName(TextField(*worst, "name")), HumanDuration(NumberField(*worst, "duration_p95").value_or(0)),
                  HumanDuration(NumberField(*worst, "duration_p50").value_or(0))),
      {{"datasets.duration_p50", NumberField(*worst, "duration_p50").value_or(0)},
       {"datasets.duration_p95", NumberField(*worst, "duration_p95").value_or(0)},
       {"datasets.attempts", NumberField(*worst, "attempts").value_or(0)}},
      std::nullopt);
}

void JudgeHotSection(const JudgedRun& run) {
  const VerdictRule& rule = RuleOf("hot-section");
  const Json* hottest = nullptr;
  double share = 0;
  int sections = 0;
  for (const Json& row : ListField(run.document, "sections")) {
    const Json& helper = Field(row, "helper");
    if (TextField(row, "path") == kOutsideSections || (helper.is_boolean() && helper.get<bool>())) continue;
    ++sections;
    const double self = NumberField(row, "share").value_or(0);
    if (self <= share) continue;
    share = self;
    hottest = &row;
  }
  if (!kSeveral.Holds(sections) || !rule.threshold.Holds(share)) return;  // one section around everything says nothing
  std::string on_cpu;
  const std::optional<double> cpu = NumberField(*hottest, "cpu");
  const std::optional<double> total = NumberField(*hottest, "total");
  if (cpu.has_value() && total.value_or(0) > 0)
    on_cpu = fmt::format(", {} of it on a CPU", HumanPercent(*cpu / *total));
  run.Add(rule, share,
          fmt::format("Section {} takes {} of the chunks' time{}.", ShortName(TextField(*hottest, "path")),
                      HumanPercent(share), on_cpu),
          {{"sections.share", share}}, std::nullopt);
}

}  // namespace

void JudgeOutliers(const JudgedRun& run) {
  JudgeStragglers(run);
  JudgeSlowWorkersAndFiles(run);
  JudgeSpells(run);
  JudgeSkew(run);
  JudgeHotSection(run);
}

}  // namespace crema
