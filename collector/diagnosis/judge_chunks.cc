// Verdicts on how the work was cut into chunks.

#include "absl/strings/match.h"
#include "collector/diagnosis/chunk_size_advice.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/diagnosis/words.h"
#include "collector/format/human_numbers.h"
#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

std::string Of(const ChunkSizeAdvice& advice) {
  return advice.Whose().empty() ? "" : " of " + ShortName(advice.Whose());
}

/// The suggestion of the table with the advice of a dataset behind it.
void AddAdvice(const ChunkSizeAdvice& advice, Verdict* verdict) {
  const std::string words = AdviceInWords(advice);
  if (!words.empty()) verdict->suggestion += fmt::format(" By the fit{}: {}.", Of(advice), words);
}

/// `count` pieces of work are few for the cores; `{}` of the sentence: how many, the cores, the idle share.
void JudgeFew(const JudgedRun& run, std::string_view id, const std::string& key, const std::optional<double>& count,
              std::string_view what, std::string_view sentence) {
  const std::optional<double> cores = run.measurement.Metric("total_cores");
  if (!count.has_value() || !cores.has_value() || !kSeveralCores.Holds(*cores) || run.is_running()) return;
  const double idle_share = run.Share("idle"), tail_share = run.Share("tail"), idle = idle_share + tail_share;
  if (!run.Holds(id, *count / *cores) || !kIdleOfFewChunks.Holds(idle)) return;
  run.Add(
      id, 0,
      fmt::format(fmt::runtime(sentence), Counted(*count, what, fmt::format("{}s", what)),
                  Counted(std::round(*cores), "core", "cores"), HumanPercent(idle)),
      {{key, *count}, {"total_cores", *cores}, {"budget.idle.share", idle_share}, {"budget.tail.share", tail_share}},
      idle);
}

void JudgeSlowBatch(const JudgedRun& run) {
  double waited = 0;
  double times = 0;
  for (const auto& row : run.measurement.process_sections) {
    // of the guards for RDataFrame, also where the program runs the loop inside a section of its own
    if (!absl::EndsWith("/" + row.path.str(), "/wait for next files")) continue;
    waited += row.total.value_or(0);
    times += row.count.value_or(0);
  }
  const double share = run.ShareOf(waited);
  if (!run.Holds("slow-batch", share)) return;
  run.Add("slow-batch", 0,
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

void JudgeSmallChunks(const JudgedRun& run, const std::vector<ChunkSizeAdvice>& advice) {
  const ChunkSizeAdvice* worst = LargestBy(advice, AvoidableFixedCost).first;
  const double avoidable = SumOf<double>(advice, AvoidableFixedCost);
  const double fixed = SumOf<double>(advice, [](const ChunkSizeAdvice& each) {
    return AvoidableFixedCost(each) > 0 ? each.attempts * each.fixed_seconds_low : 0;
  });
  const double share = run.ShareOf(fixed);
  if (worst == nullptr || !run.Holds("chunks-too-small", share)) return;
  const std::string low = HumanDuration(worst->fixed_seconds_low), high = HumanDuration(worst->fixed_seconds_high);
  std::vector<std::pair<std::string, double>> evidence = {{"chunk_fits.fixed_seconds", *worst->fixed_seconds},
                                                          {"chunk_fits.seconds_per_event", *worst->seconds_per_event},
                                                          {"chunk_fits.events_p50", *worst->events_p50}};
  if (worst->events_least.has_value()) evidence.emplace_back("chunk_size_advice.events_least", *worst->events_least);
  Verdict& verdict = run.Add(
      "chunks-too-small", share,
      fmt::format(
          "Chunks are too small: their fixed cost ({} in a chunk of {} events{}) took at least {} of the core-seconds.",
          low == high ? low : low + " to " + high, HumanCount(*worst->events_p50), Of(*worst), HumanPercent(share)),
      std::move(evidence), run.ShareOf(avoidable));
  AddAdvice(*worst, &verdict);
}

void JudgeLargeChunks(const JudgedRun& run, const std::vector<ChunkSizeAdvice>& advice) {
  const double tail = run.Share("tail");
  const double memory = run.Metric("memory_utilization_max");
  const double chunks = run.Metric("num_chunks");
  const double cores = run.Metric("total_cores");
  const bool are_few = cores > 0 && run.Holds("too-few-chunks", chunks / cores);
  const bool tail_hurts = run.Holds("chunks-too-large", tail) && !are_few;
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
                : fmt::format("{} of the core-seconds went to free cores while the last ran", HumanPercent(tail));
  run.Add("chunks-too-large", 0,
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
  const double count = run.Metric("oversized_chunks");
  const double tail = run.Share("tail");
  if (!kAnyOversized.Holds(count) || !run.Holds("oversized-chunks", tail) || run.is_running()) return;
  const Oversize largest = LargestOversize(run, advice);
  std::optional<double> saving;
  std::string most;
  if (largest.advice != nullptr) {
    const double cores = run.Metric("total_cores");
    saving = std::min(tail, run.ShareOfCores(largest.excess_seconds * cores));
    most = fmt::format(" (up to {} events{})", HumanCount(largest.events_max), Of(*largest.advice));
  }
  run.Add("oversized-chunks", tail,
          fmt::format("{} over {} times the events of their dataset's median{}; the tail took {} of the core-seconds.",
                      Counted(count, "chunk has", "chunks have"), kOversizedMedians, most, HumanPercent(tail)),
          {{"oversized_chunks", count}, {"budget.tail.share", tail}}, saving);
  if (largest.advice != nullptr) AddAdvice(*largest.advice, &run.verdicts->back());
}

/// Whether their number can leave cores idle: not if one thread has enough for all, or if the cores divide it evenly.
bool CanBeUneven(const JudgedRun& run) {
  const double chunks = run.Metric("num_chunks"), cores = std::max(1.0, std::round(run.Metric("total_cores")));
  if (chunks >= cores && run.Metric("peak_workers") == 1 && run.Metric("max_open_chunks") == 1) return false;
  return std::fmod(chunks, cores) != 0 || kIdleOfFewChunks.Holds(run.Share("tail"));
}

}  // namespace

void JudgeChunkSizes(const JudgedRun& run) {
  const std::vector<ChunkSizeAdvice> advice = AdviseChunkSizes(run.measurement);
  if (CanBeUneven(run))
    JudgeFew(run, "too-few-chunks", "num_chunks", run.measurement.Metric("num_chunks"), "chunk",
             "{} for {} cannot be spread evenly: {} of the core-seconds were idle between and after them.");
  const CustomMetricRow* tree = FindBy(run.measurement.custom_metrics, &CustomMetricRow::name, "tree_clusters");
  const std::optional<double> clusters = tree == nullptr ? std::nullopt : std::optional<double>(tree->sum);
  JudgeFew(run, "too-few-clusters", "custom_metrics.tree_clusters", clusters, "cluster",
           "The trees that were read have {} for {}, and ROOT gives a cluster to one thread: {} of the "
           "core-seconds were idle.");
  JudgeSlowBatch(run);
  JudgeSmallChunks(run, advice);
  JudgeLargeChunks(run, advice);
  JudgeOversizedChunks(run, advice);
}

// Verdicts on outliers: workers, files and chunks slower than comparable ones.

namespace {

/// Where most of the stragglers' excess went.
struct Excess {
  double seconds = 0;
  double of_first = 0;  ///< in chunks that were the first of their threads
  std::map<std::string, double> by_section, by_file, by_reason;

  /// The one that has most of it; empty: none has.
  std::string Most(const std::map<std::string, double>& parts) const {
    for (const auto& [name, part] : parts) {
      if (!name.empty() && name != kOtherName && kMostOfIt.Holds(part / seconds)) return name;
    }
    return "";
  }
};

/// The excess of the stragglers for which `is_meant`.
template <class IsMeant>
Excess ExcessOf(const Measurement& measurement, IsMeant is_meant) {
  std::map<std::string, double> first_chunks;
  for (const WorkerRow& worker : measurement.workers) {
    if (worker.first_chunk.has_value()) first_chunks[worker.name.str()] = *worker.first_chunk;
  }
  // threads begin together: what began before a usual chunk could end is the first of its thread
  const double usual = measurement.Metric("chunk_duration_p50").value_or(0);
  Excess excess;
  for (const StragglerRow& row : measurement.stragglers) {
    if (!row.duration.has_value() || !row.predicted.has_value() || !is_meant(row)) continue;
    const double seconds = std::max(0.0, *row.duration - *row.predicted);
    excess.seconds += seconds;
    excess.by_section[row.section.str()] += seconds;
    excess.by_file[row.file.str()] += seconds;
    excess.by_reason[row.reason.str()] += seconds;
    const auto first = first_chunks.find(row.worker.str());
    if (first != first_chunks.end() && row.start.value_or(0) < first->second + usual) excess.of_first += seconds;
  }
  return excess;
}

/// `, most of it in section read, blocked`: where time beyond the prediction went, as far as it is known.
std::string WhereItWent(const std::string& section, const std::string& reason) {
  std::string_view doing;
  if (reason == ToString(StragglerReason::kCpu)) doing = "computing";
  if (reason == ToString(StragglerReason::kCpuWait)) doing = "waiting for a CPU";
  if (reason == ToString(StragglerReason::kBlocked)) doing = "blocked";
  if (reason == ToString(StragglerReason::kJoined)) doing = "waiting for helpers";
  if (section.empty()) return doing.empty() ? "" : fmt::format(", most of it {}", doing);
  return fmt::format(", most of it in section {}{}{}", ShortName(section), doing.empty() ? "" : ", ", doing);
}

void JudgeStragglers(const JudgedRun& run) {
  const double count = run.Metric("straggler_chunks");
  const Excess excess = ExcessOf(run.measurement, [](const StragglerRow&) { return true; });
  const double share = run.ShareOf(excess.seconds);
  if (!kAnyStraggler.Holds(count) || !run.Holds("stragglers", share)) return;
  const bool are_first = kMostOfIt.Holds(excess.of_first / excess.seconds);
  const std::string section = excess.Most(excess.by_section);
  const auto files = static_cast<double>(run.measurement.files.size());
  const std::string file = kSeveral.Holds(files) && kSeveral.Holds(count) ? excess.Most(excess.by_file) : "";
  std::string where = section.empty() ? "" : " in section " + ShortName(section);
  if (!file.empty()) where += (where.empty() ? " in file " : " and in file ") + ShortName(file);
  Verdict& verdict = run.Add(
      "stragglers", share,
      fmt::format("{} took {}{} longer than chunks of the same size do, {} of the core-seconds{}{}.",
                  Counted(count, "straggler", "stragglers"),
                  count > static_cast<double>(run.measurement.stragglers.size()) ? "at least " : "",
                  HumanDuration(excess.seconds), HumanPercent(share), where.empty() ? "" : ", most of it" + where,
                  are_first ? "; most of it was in the first chunks of threads" : ""),
      {{"straggler_chunks", count}, {"stragglers.excess_seconds", excess.seconds}}, share);
  if (!run.measurement.AskedForStacks() && excess.Most(excess.by_reason) == ToString(StragglerReason::kCpu)) {
    verdict.suggestion += " They computed, or waited in a loop: crema run --stacks shows in which functions.";
  }
  if (!are_first) return;
  if (!run.Holds("startup-dominated", share)) verdict.severity = Severity::kInfo;
  verdict.suggestion = "If the first chunks prepare something, prepare it once, before the first chunk.";
}

/// Workers or files that took longer than the fits of their chunks' datasets give.
struct SlowOnes {
  const ExpectedTimeRow* worst = nullptr;  ///< largest excess
  double seen = 0;                         ///< of this kind, slow or not
  std::set<std::string> slow;              ///< their names
  double attempts = 0;                     ///< of the slow ones, and so are these
  double duration = 0;
  double predicted = 0;
  double excess_seconds = 0;
};

/// The part of a file's excess that is not the file's fault: its stragglers computed, or waited for a CPU or for
/// helpers. nullopt where one straggler took most of it, so that the file's chunks do not agree.
std::optional<double> ExcessOfOthers(const Measurement& measurement, const ExpectedTimeRow& file) {
  double others = 0, largest = 0;
  for (const StragglerRow& straggler : measurement.stragglers) {
    if (!(straggler.file == file.name)) continue;
    const double excess = straggler.duration.value_or(0) - straggler.predicted.value_or(0);
    const std::string reason = straggler.reason.str();
    const bool may_be_file =
        reason == ToString(StragglerReason::kBlocked) || reason == ToString(StragglerReason::kUnknown);
    if (!may_be_file) others += excess;
    if (may_be_file) largest = std::max(largest, excess);
  }
  const double excess = file.duration.value_or(0) - file.predicted.value_or(0) - others;
  if (largest > 0 && kMostOfIt.Holds(largest / excess)) return std::nullopt;
  return others;
}

/// How many times what the fits give the chunks of those took that are not slow: all may have had slow chunks. 0: none.
double UsualFactor(const Measurement& measurement, std::string_view by, const Bound& factor) {
  double duration = 0, predicted = 0;
  for (const ExpectedTimeRow& row : measurement.expected_time) {
    const double of_row = row.predicted.value_or(0);
    if (row.by.str() != by || of_row <= 0 || factor.Holds(row.duration.value_or(0) / of_row)) continue;
    duration += row.duration.value_or(0);
    predicted += of_row;
  }
  return predicted > 0 ? std::max(1.0, duration / predicted) : 0;
}

SlowOnes FindSlow(const Measurement& measurement, std::string_view by, const Bound& attempts, const Bound& factor) {
  SlowOnes found;
  double largest = 0;
  const double usual = UsualFactor(measurement, by, factor);
  for (const ExpectedTimeRow& row : measurement.expected_time) {
    if (row.by.str() != by || row.name.str().empty() || row.name.str() == kOtherName) continue;  // stands for many
    ++found.seen;
    double duration = row.duration.value_or(0);
    const double predicted = row.predicted.value_or(0);
    if (!attempts.Holds(row.attempts.value_or(0)) || predicted <= 0) continue;
    if (usual <= 0 || !factor.Holds(duration / predicted / usual)) continue;
    if (by == "file") {
      const std::optional<double> others = ExcessOfOthers(measurement, row);
      if (!others.has_value() || !factor.Holds((duration - *others) / predicted)) continue;
      duration -= *others;
    }
    found.slow.insert(row.name.str());
    found.attempts += row.attempts.value_or(0);
    found.duration += duration;
    found.predicted += predicted;
    found.excess_seconds += duration - predicted;
    if (duration - predicted <= largest) continue;
    largest = duration - predicted;
    found.worst = &row;
  }
  return found;
}

/// Which of slow workers and slow files the records blame.
enum class Blame { kBoth, kWorkers, kFiles, kEither };

/// Where the stragglers of the ones are mostly those of the others, too, they are slow because of these, if these have
/// more: other chunks that were not slow, or none of the ones explains them all.
Blame WhomToBlame(const Measurement& measurement, const SlowOnes& workers, const SlowOnes& files) {
  double of_workers = 0, of_files = 0, common = 0;
  for (const StragglerRow& straggler : measurement.stragglers) {
    const double excess = straggler.duration.value_or(0) - straggler.predicted.value_or(0);
    const bool is_of_worker = workers.slow.count(straggler.worker.str()) > 0;
    const bool is_of_file = files.slow.count(straggler.file.str()) > 0;
    if (is_of_worker) of_workers += excess;
    if (is_of_file) of_files += excess;
    if (is_of_worker && is_of_file) common += excess;
  }
  if (of_files <= 0) return Blame::kWorkers;
  const bool are_in_files = of_workers > 0 && kMostOfIt.Holds(common / of_workers);
  const bool are_of_workers = kMostOfIt.Holds(common / of_files);
  if (!are_in_files) return are_of_workers ? Blame::kWorkers : Blame::kBoth;
  if (!are_of_workers) return Blame::kFiles;
  const auto num_workers = static_cast<double>(workers.slow.size());
  const auto num_files = static_cast<double>(files.slow.size());
  const auto are_others_slow = [](const SlowOnes& of, const SlowOnes& without, std::string_view id) {
    const double predicted = of.predicted - without.predicted;
    return predicted > 0 && JudgedRun::Holds(id, (of.duration - without.duration) / predicted);
  };
  if (kOthersToo.Holds(workers.attempts / files.attempts)) {
    return are_others_slow(workers, files, "slow-worker") ? Blame::kWorkers : Blame::kFiles;
  }
  if (kOthersToo.Holds(files.attempts / workers.attempts)) {
    return are_others_slow(files, workers, "slow-file") ? Blame::kFiles : Blame::kWorkers;
  }
  if (kSeveral.Holds(num_files / num_workers)) return Blame::kWorkers;
  return kSeveral.Holds(num_workers / num_files) ? Blame::kFiles : Blame::kEither;
}

/// `by`: a straggler's worker or file. `rest`: goes on with the sentence.
void AddSlow(const JudgedRun& run, std::string_view id, const SlowOnes& found, Text StragglerRow::*by,
             std::string_view others, std::string_view rest = {}) {
  const ExpectedTimeRow& row = *found.worst;
  const double duration = row.duration.value_or(0);
  const double predicted = row.predicted.value_or(0);
  const std::string name = ShortName(row.name.str());
  const double others_slow = static_cast<double>(found.slow.size()) - 1;
  const std::string more =
      others_slow > 0 ? fmt::format("; {} more {} slow", HumanCount(others_slow), others_slow > 1 ? "are" : "is") : "";
  Excess excess =
      ExcessOf(run.measurement, [&](const StragglerRow& straggler) { return (straggler.*by).str() == row.name.str(); });
  excess.seconds = duration - predicted;  // of all its chunks: stragglers may be a small part of it
  const std::string reason = excess.Most(excess.by_reason);
  run.Add(id, 0,
          fmt::format("{} took {} times as long as chunks of the same size do {}: {} more{}, over {}{}{}.", name,
                      HumanFactor(duration / predicted), others, HumanDuration(duration - predicted),
                      WhereItWent(excess.Most(excess.by_section), reason),
                      Counted(row.attempts.value_or(0), "chunk", "chunks"), more, rest),
          {{"expected_time.attempts", row.attempts.value_or(0)},
           {"expected_time.duration", duration},
           {"expected_time.predicted", predicted}},
          run.ShareOf(found.excess_seconds));
  const bool is_blocked_worker = by == &StragglerRow::worker && reason == ToString(StragglerReason::kBlocked);
  if (is_blocked_worker && !run.measurement.CannotSeeWaits()) {
    run.verdicts->back().suggestion = fmt::format(
        "Its chunks were blocked, by what they read or by a lock: crema {} shows which, for all workers "
        "together.",
        run.measurement.HasWaitingFunctions() ? "show --table waits" : "run --waits");
  }
}

void JudgeSlowWorkersAndFiles(const JudgedRun& run) {
  const auto is_much = [&run](const SlowOnes& found) {
    return found.worst != nullptr && kSeveral.Holds(found.seen) && kMuchExcess.Holds(run.ShareOf(found.excess_seconds));
  };
  const SlowOnes workers = FindSlow(run.measurement, "worker", kChunksOfSlowWorker, RuleOf("slow-worker").threshold);
  const SlowOnes files = FindSlow(run.measurement, "file", kChunksOfSlowFile, RuleOf("slow-file").threshold);
  Blame blame = is_much(workers) ? Blame::kWorkers : Blame::kFiles;
  if (is_much(workers) && is_much(files)) blame = WhomToBlame(run.measurement, workers, files);
  if (is_much(workers) && blame != Blame::kFiles) {
    std::string rest;
    if (blame == Blame::kEither) {
      const bool are_two = workers.slow.size() == 1 && files.slow.size() == 1;
      rest = fmt::format("; most of these chunks are of {}, so either may be slow",
                         are_two ? ShortName(files.worst->name.str()) : "slow files");
    }
    AddSlow(run, "slow-worker", workers, &StragglerRow::worker, "elsewhere", rest);
    if (!rest.empty()) run.verdicts->back().suggestion += " Read them at other workers to see which of the two it is.";
  }
  if (!is_much(files) || blame == Blame::kWorkers || blame == Blame::kEither) return;
  AddSlow(run, "slow-file", files, &StragglerRow::file, "in other files");
}

/// `node1:411`, `file x.root`, `everything`.
std::string WhoWasSlow(const SlowPeriodRow& period) {
  const std::string by = period.by.str();
  if (by == ToString(PeriodOf::kRun)) return "everything";
  return (by == ToString(PeriodOf::kWorker) ? "" : by + " ") + ShortName(period.name.str());
}

void JudgePeriods(const JudgedRun& run) {
  double excess = 0;
  double count = 0;
  const SlowPeriodRow* worst = nullptr;
  for (const SlowPeriodRow& period : run.measurement.slow_spells) {
    const double duration = period.duration.value_or(0);
    const double predicted = period.predicted.value_or(0);
    if (predicted <= 0 || !run.Holds("slow-spell", duration / predicted)) continue;
    excess += duration - predicted;
    ++count;
    if (worst == nullptr) worst = &period;  // they are sorted
  }
  if (worst == nullptr || !kMuchExcess.Holds(run.ShareOf(excess))) return;
  const double duration = worst->duration.value_or(0);
  const double predicted = worst->predicted.value_or(0);
  const double attempts = worst->attempts.value_or(0);
  const std::string from = HumanClock(worst->start.value_or(0)), until = HumanClock(worst->stop.value_or(0));
  run.Add("slow-spell", 0,
          fmt::format("{}, {} took {} times as long as chunks of the same size do: {} more{}, over {}{}.",
                      from == until ? "At " + from : fmt::format("From {} to {}", from, until), WhoWasSlow(*worst),
                      HumanFactor(duration / predicted), HumanDuration(duration - predicted),
                      WhereItWent(worst->section.str(), worst->reason.str()), Counted(attempts, "chunk", "chunks"),
                      count > 1 ? "; " + Counted(count - 1, "more such spell", "more such spells") : ""),
          {{"slow_spells.start", worst->start.value_or(0)},
           {"slow_spells.stop", worst->stop.value_or(0)},
           {"slow_spells.attempts", attempts},
           {"slow_spells.duration", duration},
           {"slow_spells.predicted", predicted}},
          run.ShareOf(excess));
}

void JudgeSkew(const JudgedRun& run) {
  const double busy = run.Metric("busy_time");
  std::map<std::string, int> passes_of;
  for (const ChunkFitRow& fit : run.measurement.chunk_fits) ++passes_of[fit.dataset.str()];
  const auto [worst, largest] = LargestBy(run.measurement.datasets, [&](const BreakdownRow& row) {
    const double median = row.duration_p50.value_or(0);
    if (median <= 0 || !kAttemptsOfSpread.Holds(row.attempts.value_or(0))) return 0.0;
    if (busy > 0 && !kBusyTimeOfSpread.Holds(row.duration_sum.value_or(0) / busy)) return 0.0;
    // the quantiles are of all attempts, and of all passes
    if (!kFailedOfSpread.Holds(row.failed.value_or(0) / *row.attempts) || passes_of[row.name.str()] > 1) return 0.0;
    const double spread = row.duration_p95.value_or(0) / median;
    return run.Holds("skewed-dataset", spread) ? spread : 0;
  });
  if (worst == nullptr) return;
  run.Add("skewed-dataset", largest,
          fmt::format("Chunks of {} are uneven: one in twenty takes over {} where half take under {}.",
                      ShortName(worst->name.str()), HumanDuration(worst->duration_p95.value_or(0)),
                      HumanDuration(worst->duration_p50.value_or(0))),
          {{"datasets.duration_p50", worst->duration_p50.value_or(0)},
           {"datasets.duration_p95", worst->duration_p95.value_or(0)},
           {"datasets.attempts", worst->attempts.value_or(0)}});
}

/// Events of another kind may cost more: this is not a fault, but it is where to look.
void JudgeCostlyDataset(const JudgedRun& run) {
  double events = 0, seconds = 0;
  if (run.measurement.quality.chunks_without_events.value_or(0) > 0) return;
  for (const ChunkFitRow& fit : run.measurement.chunk_fits) {
    if (fit.pass.has_value()) return;  // another pass does other work, perhaps on one dataset only
  }
  for (const BreakdownRow& row : run.measurement.datasets) {
    events += row.events.value_or(0);
    seconds += row.duration_sum.value_or(0);
  }
  for (const BreakdownRow& row : run.measurement.datasets) {
    const double own_events = row.events.value_or(0);
    const double own_seconds = row.duration_sum.value_or(0);
    if (own_events <= 0 || own_events >= events || own_seconds >= seconds) continue;
    const double factor = own_seconds / own_events / ((seconds - own_seconds) / (events - own_events));
    if (!run.Holds("costly-dataset", factor) || !kMuchOfTheTime.Holds(own_seconds / seconds)) continue;
    run.Add("costly-dataset", 0,
            fmt::format("Events of {} take {} times as long as those of other datasets: {} of the chunks' time for {} "
                        "of the events.",
                        ShortName(row.name.str()), HumanFactor(factor), HumanPercent(own_seconds / seconds),
                        HumanPercent(own_events / events)),
            {{"datasets.duration_sum", own_seconds}, {"datasets.events", own_events}});
    return;  // only one has so much of the time
  }
}

/// The share of a section's own time in which its threads were blocked.
double BlockedIn(const Measurement& measurement, const SectionRow& section) {
  const double seconds = SumOf<double>(measurement.waits, [&](const WaitSumRow& row) {
    return row.section.str() == section.path.str() ? row.seconds.value_or(0) : 0;
  });
  return section.self.value_or(0) > 0 ? seconds / *section.self : 0;
}

/// The function that has most of a section's samples, of all datasets; null: none has.
const FunctionRow* FunctionOfMost(const Measurement& measurement, const SectionRow& section) {
  std::map<std::string, std::pair<double, const FunctionRow*>> functions;
  double all = 0;
  for (const FunctionRow& row : measurement.functions) {
    if (row.section.str() != section.path.str()) continue;
    auto& [samples, one] = functions[row.function.str()];
    const double error = row.share.value_or(0) > 0 ? row.share_error.value_or(1) / *row.share : 1;
    samples += row.samples.value_or(0) * std::max(0.0, 1 - error);  // at least
    one = &row;
    all += row.samples.value_or(0);
  }
  for (const auto& [name, function] : functions) {
    if (kMostOfIt.Holds(function.first / all)) return function.second;
  }
  return nullptr;
}

void JudgeHotSection(const JudgedRun& run) {
  const auto is_section = [](const SectionRow& row) { return !(row.path == kOtherName); };
  const auto sections = static_cast<double>(absl::c_count_if(run.measurement.sections, is_section));
  const auto [hottest, share] = LargestBy(
      run.measurement.sections, [&](const SectionRow& row) { return is_section(row) ? row.share.value_or(0) : 0; });
  if (!kSeveral.Holds(sections)) return;  // one section around everything says nothing
  if (!run.Holds("hot-section", share)) return;
  std::string on_cpu;
  const Number &cpu = hottest->cpu, &total = hottest->total;
  const double self = hottest->self.value_or(0);
  if (cpu.has_value() && total.value_or(0) > 0 && kNearlyAllOfIt.Holds(self / *total))  // else it includes inner ones
    on_cpu = fmt::format(", {} of it on a CPU", HumanPercent(*cpu / *total));
  const FunctionRow* const function = FunctionOfMost(run.measurement, *hottest);
  Verdict& verdict = run.Add(
      "hot-section", share,
      fmt::format("Section {} takes {} of the chunks' time{}{}.", ShortName(hottest->path.str()), HumanPercent(share),
                  on_cpu, function == nullptr ? "" : ", most of its samples in " + ShortName(function->function.str())),
      {{"sections.share", share}});
  const std::string& path = hottest->path.str();
  const bool has_stacks =
      absl::c_any_of(run.measurement.functions, [&path](const FunctionRow& row) { return row.section.str() == path; });
  if (kMostOfIt.Holds(BlockedIn(run.measurement, *hottest))) {
    verdict.suggestion = "It is blocked for most of its time: crema show --table waits lists what it waits for.";
  } else if (!has_stacks && kMostOfIt.Holds(run.Metric("unannounced_cpu_time") / run.Metric("chunk_cpu_time"))) {
    verdict.suggestion =
        "Threads without guards took most of the chunks' CPU time, and stacks do not show them: put TrackHelper into "
        "these threads (docs/guards.md).";
  } else if (run.measurement.AskedForStacks()) {  // without a stack the table says why
    verdict.suggestion = "Look there first: crema show --table functions.";
    if (function != nullptr && !absl::EndsWith(function->file.str(), ".py")) {
      verdict.suggestion +=
          " If this is a loop that waits for another thread, let it sleep (a condition variable): "
          "samples cannot distinguish waiting in a loop from work.";
    }
  }
}

}  // namespace

void JudgeOutliers(const JudgedRun& run) {
  JudgeStragglers(run);
  JudgeSlowWorkersAndFiles(run);
  JudgePeriods(run);
  JudgeSkew(run);
  JudgeCostlyDataset(run);
  JudgeHotSection(run);
}

}  // namespace crema
