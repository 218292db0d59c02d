// Verdicts that say "this part of the core-seconds is large"; then on the kernel, GPUs, and waiting in common.

#include "absl/strings/match.h"
#include "collector/diagnosis/verdicts.h"
#include "collector/format/human_numbers.h"
#include "collector/idioms/text.h"
#include "collector/measurement/catalog.h"
#include "collector/metrics/statistics/bounded_names.h"

namespace crema {
namespace {

/// A verdict on threads that got no CPU says what kept it from them, where a quota did.
void NameQuota(const JudgedRun& run) {
  const std::string quota = QuotaThatHeldBack(run.measurement);
  if (quota.empty()) return;
  Verdict& verdict = run.verdicts->back();
  verdict.sentence.back() = ':';
  verdict.sentence += " " + quota + ".";
  verdict.evidence.emplace_back("throttled_time", *run.measurement.Metric("throttled_time"));
  verdict.suggestion =
      "Ask for a larger CPU quota (cpu.max of the cgroup, `--cpus` of a container), or run as many threads as it "
      "allows.";
}

/// A verdict on a part of the budget; nullptr where it does not fire. `{}` of the sentence: the share. `rest` goes on
/// with the sentence, before its full stop.
Verdict* JudgePart(const JudgedRun& run, std::string_view id, std::string_view part, std::string_view words,
                   std::string_view rest = {}) {
  const double share = run.Share(part);
  if (!run.Holds(id, share)) return nullptr;
  std::string sentence = fmt::format(fmt::runtime(words), HumanPercent(share));
  if (!rest.empty()) sentence.replace(sentence.size() - 1, 1, std::string(rest) + ".");
  return &run.Add(id, share, std::move(sentence), {{fmt::format("budget.{}.share", part), share}}, share);
}

/// Inside chunks and outside.
void JudgeShortageOfCpu(const JudgedRun& run) {
  const double inside = run.Share("cpu_wait"), outside = run.Share("process_cpu_wait"), all = inside + outside;
  if (!run.Holds("cpu-contention", all)) return;
  Verdict& verdict =
      run.Add("cpu-contention", all,
              fmt::format("Threads were runnable but got no CPU for {} of the core-seconds{}.", HumanPercent(all),
                          kMostOfIt.Holds(outside / all) ? ", mostly outside chunks" : ""),
              {{"budget.cpu_wait.share", inside}}, all);
  if (outside > 0) verdict.evidence.emplace_back("budget.process_cpu_wait.share", outside);
  if (run.measurement.Metric("oversubscribed_core_seconds") == 0) {
    const std::optional<double> allocated = run.measurement.Metric("allocated_cores");
    const double most = run.Metric("peak_cores");
    verdict.suggestion =
        allocated.has_value() && most > *allocated
            ? fmt::format("The workers share {} and wanted up to {} at once: run fewer workers, or fewer threads.",
                          Counted(*allocated, "core", "cores"), HumanCount(most))
            : "Other programs, other workers, or threads without guards used these cores. Run alone, or ask for cores "
              "that nobody shares.";
  }
  const double waited = all * run.budget().core_seconds;
  if (const std::string other = ProcessWithoutGuards(run.measurement, waited); !other.empty()) {
    verdict.sentence += fmt::format(" P{}.", other.substr(1));
  }
  NameQuota(run);
}

/// Empty where the section is none in which ROOT compiles.
std::string CureOfCompilation(const std::string& section) {
  if (!absl::StrContains(section, "just-in-time compilation")) return "";
  return " ROOT compiles nothing at run time if nodes get C++ functions instead of text, and results get their types "
         "(Histo1D<float>(...)).";
}

/// Against time outside chunks that a section fills.
std::string AdviceOn(const std::string& section) {
  return "Do what this section does less often: in larger tasks, or once in each worker." + CureOfCompilation(section);
}

void JudgeAround(const JudgedRun& run) {
  const std::string section = SectionThatFills(run.measurement, run.Metric("outside_chunk_time"));
  if (!section.empty()) {
    Verdict* verdict = JudgePart(run, "opening-bound", "outside_chunk",
                                 "Tasks spent {} of the core-seconds around your chunks.", section);
    if (verdict != nullptr) verdict->suggestion = AdviceOn(section);
    return;
  }
  const bool is_set_up = IsMostlySetUp(run.measurement);
  Verdict* verdict = JudgePart(
      run, "opening-bound", "outside_chunk",
      is_set_up ? "Tasks spent {} of the core-seconds around your chunks, most of it before the first chunk of each "
                  "thread. What they did there was not measured."
                : "Tasks spent {} of the core-seconds around your chunks. What they did there was not measured.");
  if (!is_set_up || verdict == nullptr) return;
  verdict->evidence.emplace_back("first_before_chunk_time", *run.measurement.Metric("first_before_chunk_time"));
  verdict->suggestion = "Import before the run what tasks need (a worker's preload, `client.run`), and keep workers.";
}

bool HasHelpers(const Measurement& measurement) {
  const std::optional<double> lanes = measurement.Metric("lane_time");
  if (!lanes.has_value()) return false;
  return lanes != measurement.Metric("busy_time") || measurement.Metric("chunk_joined").value_or(0) > 0;
}

/// Idle core-seconds while a chunk was open that has helpers: known where a worker has one chunk at a time.
std::optional<double> IdleInside(const JudgedRun& run) {
  const Measurement& measurement = run.measurement;
  const std::optional<double> cores = measurement.Metric("cores_per_worker");
  const std::optional<double> busy = measurement.Metric("busy_time");
  const std::optional<double> lanes = measurement.Metric("lane_time");
  const double most_open = run.Metric("max_open_chunks");
  if (!cores.has_value() || !busy.has_value() || !lanes.has_value() || !HasHelpers(measurement) || most_open < 1 ||
      most_open > run.Metric("peak_workers")) {
    return std::nullopt;
  }
  const double all = run.budget().core_seconds;
  const double inside = *cores * *busy - *lanes - all * run.Share("joined");
  return std::clamp(inside, 0.0, all * run.Share("idle"));
}

/// `; no helper joins section fit, which took 1.80 s`: what of the owners' time is longest among what is theirs alone.
std::string OwnersAlone(const Measurement& measurement) {
  const auto [longest, seconds] = LargestBy(measurement.sections, [&](const SectionRow& row) {
    const bool is_helped = absl::c_any_of(measurement.sections, [&row](const SectionRow& other) {
      return other.helper.value_or(false) && other.path == row.path;
    });
    return row.helper.value_or(false) || row.path == kOtherName || is_helped ? 0 : row.self.value_or(0);
  });
  if (longest == nullptr) return "";
  return fmt::format("; no helper joins section {}, which took {}", ShortName(longest->path.str()),
                     HumanDuration(seconds));
}

/// `; section merge, outside chunks, took 1.50 s`: the innermost one that is long enough to fill most of `gap` seconds,
/// and fits into it.
std::string SectionOfGap(const Measurement& measurement, std::string_view part, double gap) {
  const double workers = std::max(1.0, measurement.Metric("peak_workers").value_or(1));
  const SectionRow* found = nullptr;
  double seconds = 0;
  constexpr std::string_view kBetweenTasks = "between tasks";  // of ROOT
  for (const SectionRow& row : measurement.process_sections) {
    if (part != "idle" && row.path.str() == kBetweenTasks) continue;
    // workers have the section side by side, or one of them has it alone
    const double each = std::max(row.total.value_or(0) / workers, row.max.value_or(0));
    if (!kMostOfIt.Holds(each / gap) || !kFitsIn.Holds(each / gap)) continue;
    if (found != nullptr && row.path.str().size() <= found->path.str().size()) continue;
    found = &row;
    seconds = each;
  }
  if (found == nullptr) return "";
  return fmt::format("; section {}{}, outside chunks, took {}", ShortName(found->path.str()),
                     LastPart(found->path.str()) == kCompileGuards ? " of crema" : "", HumanDuration(seconds));
}

/// Cores that no chunk used between `from` and `until`, in seconds. `when`: the words; `rest`: goes on with it.
void JudgeGap(const JudgedRun& run, std::string_view id, std::string_view part, std::string_view when, double from,
              double until, double gap, std::string_view rest = {}) {
  const std::string others = OthersBusy(run.measurement, from, until, gap);
  const bool may_be_busy = OthersMayBeBusy(run.measurement, from, until, gap);
  const std::string_view cores = others.empty() && !may_be_busy ? "free cores" : "cores that no chunk used";
  const std::string sentence = fmt::format("{{}} of the core-seconds went to {} {}.", cores, when);
  const std::string more = SectionOfGap(run.measurement, part, gap) + others + std::string(rest);
  Verdict* verdict = JudgePart(run, id, part, sentence, more);
  if (verdict == nullptr) return;
  if (absl::StrContains(more, absl::StrCat(kCompileGuards, " of crema,"))) verdict->suggestion = kGuardsAreCompiledOnce;
  verdict->suggestion += CureOfCompilation(more);
  if (others.empty() || verdict->suggestion == kGuardsAreCompiledOnce) return;
  verdict->suggestion +=
      " Let these processes (a compiler, a download) run before the workers start, or while chunks run.";
}

void JudgeIdle(const JudgedRun& run) {
  const std::optional<double> inside = IdleInside(run);
  const double idle = run.budget().core_seconds * run.Share("idle");
  if (!inside.has_value() || !kMostOfIt.Holds(*inside / idle)) {
    const double wall = run.Metric("wall_time");
    const bool may_be_inside = HasHelpers(run.measurement) && !inside.has_value();
    JudgeGap(run, "idle-workers", "idle",
             may_be_inside ? "between chunks, or inside them beside too few helpers" : "between chunks", 0, wall,
             wall * (run.Share("idle") + run.Share("process_cpu")));
    return;
  }
  Verdict* verdict =
      JudgePart(run, "idle-workers", "idle", "{} of the core-seconds went to cores without a helper, inside chunks.",
                OwnersAlone(run.measurement));
  if (verdict == nullptr) return;
  verdict->suggestion = "Give helpers a part of what the owner does alone, or run several chunks at once.";
}

/// `; 2 of 4 workers began their first chunk after 2.70 s or later`.
std::string LateWorkers(const Measurement& measurement) {
  const double wall = measurement.Metric("wall_time").value_or(0);
  double late = 0, earliest = wall, all = 0;
  for (const WorkerRow& worker : measurement.workers) {
    if (!worker.first_chunk.has_value()) continue;
    ++all;
    if (!JudgedRun::Holds("startup-dominated", *worker.first_chunk / wall)) continue;
    ++late;
    earliest = std::min(earliest, *worker.first_chunk);
  }
  if (late == 0 || late == all) return "";
  return fmt::format("; {} of {} workers began their first chunk {} after the run's start or later", HumanCount(late),
                     HumanCount(all), HumanDuration(earliest));
}

void JudgeEnds(const JudgedRun& run) {
  const double wall = run.Metric("wall_time");
  double first = wall, last = 0;
  for (const WorkerRow& worker : run.measurement.workers) {
    first = std::min(first, worker.first_chunk.value_or(wall));
    last = std::max(last, worker.last_chunk.value_or(0));
  }
  JudgeGap(run, "startup-dominated", "startup", "before the first chunk", 0, first, first,
           LateWorkers(run.measurement));
  JudgeGap(run, "shutdown-dominated", "shutdown", "after the last chunk", last, wall, wall - last);
}

/// `; thread 140293 of node:17 ran 16 of 24 chunks`, where that is clearly more than its share.
std::string BusiestThread(const Measurement& measurement) {
  const auto chunks_of = [](const BreakdownRow& row) { return row.attempts.value_or(0); };
  const auto [most, chunks] = LargestBy(measurement.threads, chunks_of);
  const double all = SumOf<double>(measurement.threads, chunks_of);
  const auto threads = static_cast<double>(measurement.threads.size());
  if (!kSeveral.Holds(threads) || !kMoreThanItsShare.Holds(chunks / (all / threads))) return "";
  return fmt::format("; thread {} ran {} of {} chunks", most->name.str(), HumanCount(chunks), HumanCount(all));
}

void JudgeTail(const JudgedRun& run) {
  double longest = 0;
  for (const BreakdownRow& row : run.measurement.datasets) longest = std::max(longest, row.duration_max.value_or(0));
  const double tail = run.Metric("tail_time");
  const bool is_beyond_chunks = longest > 0 && kSeveral.Holds(tail / longest);
  const std::string rest = is_beyond_chunks ? BusiestThread(run.measurement) : "";
  Verdict* const verdict =
      JudgePart(run, "long-tail", "tail", "{} of the core-seconds went to free cores while the last chunks ran.", rest);
  if (verdict == nullptr || !is_beyond_chunks) return;
  verdict->evidence.emplace_back("tail_time", tail);
  verdict->suggestion = fmt::format(
      "The tail takes {}, the longest chunk {}: smaller chunks hardly help. If each thread has a part of its own, let "
      "them take chunks from one queue; crema show --table threads has what each ran.",
      HumanDuration(tail), HumanDuration(longest));
}

/// How many workers left before the others' last chunks ended, with results that were computed again elsewhere. 0: not
/// all results that were computed again were theirs.
int WorkersThatTookResults(const Measurement& measurement, double again) {
  const double end =
      LargestBy(measurement.workers, [](const WorkerRow& row) { return row.last_chunk.value_or(0); }).second;
  int workers = 0;
  for (const WorkerRow& row : measurement.workers) {
    const double replaced =
        row.attempts.value_or(0) - row.chunks.value_or(0) - row.failed.value_or(0) - row.lost.value_or(0);
    const bool has_left = !row.left_reason.empty() || row.state.str() == "lost";
    if (replaced <= 0 || !has_left || row.stop.value_or(end) >= end) continue;
    again -= replaced;
    ++workers;
  }
  return again > 0 ? 0 : workers;
}

/// A chunk that is computed again is not a failure: maybe a pass of its own that was given no name.
void JudgeRepeats(const JudgedRun& run) {
  const double without_result = run.Metric("num_failed_attempts") + run.evidence.lost;
  const double again = run.Metric("num_recomputed_chunks");
  if (again <= 0) {
    JudgePart(run, "retry-waste", "failed", "Attempts that gave no result cost {} of the core-seconds.");
    return;
  }
  std::string sentence =
      Counted(again, "chunk that had a result was", "chunks that had a result were") + " computed again";
  sentence += without_result > 0
                  ? ", and " + Counted(without_result, "attempt", "attempts") + " gave no result: together"
                  : ":";
  sentence += " {} of the core-seconds.";
  Verdict* const verdict = JudgePart(run, "retry-waste", "failed", sentence);
  if (verdict == nullptr) return;
  verdict->suggestion =
      "Is a file in the input twice, or does the program loop over its input again? If it is intended, give each pass "
      "a name: Chunk::pass, CREMA_PASS.";
  if (const int workers = WorkersThatTookResults(run.measurement, again); workers > 0) {
    const std::string& engine = run.measurement.run.engine.str();
    verdict->suggestion = fmt::format(
        "{} that left had held their results, so {} computed them again. See why: crema show --table workers.",
        Counted(workers, "worker", "workers"), engine.empty() ? "the program" : engine);
  }
}

constexpr std::string_view kNotSeen = " What it waited for is not known.";
constexpr std::string_view kCoarseSamples =
    " What it waited for is not sure, because its threads also waited for CPUs (crema show --table waits).";

void JudgeWaiting(const JudgedRun& run) {
  if (UsesUncountedGpu(run.measurement)) return;
  const BudgetRows& budget = run.budget();
  // The budget has one row `waiting` where the kernel does not report the run delay, else `blocked`.
  const bool is_blocked = budget.Share("waiting") == 0;
  const std::string_view part = is_blocked ? "blocked" : "waiting";
  const double waiting = budget.Share(part);
  const double compute = budget.Share("compute");
  if (!run.Holds("waiting-bound", waiting) && !(kWaitsToo.Holds(waiting) && waiting > compute)) return;
  const bool is_known = !WaitWords(run.measurement).empty();
  const bool is_coarse = absl::c_any_of(
      run.measurement.waits, [](const WaitSumRow& row) { return row.coarse.value_or(false) && row.low.has_value(); });
  const std::string_view why = is_known || !is_blocked ? "" : is_coarse ? kCoarseSamples : kNotSeen;
  std::string other = is_blocked ? ProcessWithoutGuards(run.measurement, run.Metric("chunk_blocked")) : "";
  if (!other.empty()) other = fmt::format(" P{}.", other.substr(1));
  Verdict& verdict =
      run.Add("waiting-bound", waiting,
              fmt::format("Your code {} for {} of the core-seconds{} and computed for {}.{}{}",
                          is_blocked ? "was blocked" : "waited (the kernel does not report for what; maybe for a CPU)",
                          HumanPercent(waiting), WhereMostWaiting(run.measurement, Waiting::kBlocked),
                          HumanPercent(compute), why, other),
              {{fmt::format("budget.{}.share", part), waiting}, {"budget.compute.share", compute}}, waiting);
  if (std::string advice = WaitAdvice(run.measurement); !advice.empty()) verdict.suggestion = std::move(advice);
  if (why == kCoarseSamples) verdict.suggestion = "Measure again on cores that nobody else uses.";
}

/// Nobody reports how long a thread waited for this lock: at most while it was blocked and the lock was not to be had.
void JudgePythonsLock(const JudgedRun& run) {
  const std::optional<double> taken = run.measurement.Metric("gil_contention");
  if (!taken.has_value() || !kLockIsTaken.Holds(*taken)) return;
  const double share = *taken * run.Share("blocked");
  if (!run.Holds("gil-contention", share)) return;
  run.Add("gil-contention", share,
          fmt::format("Python's global interpreter lock was not free for {} of the time in which a worker executed "
                      "several tasks. Threads may have waited for it for up to {} of the core-seconds.",
                      HumanPercent(*taken), HumanPercent(share)),
          {{"gil_contention", *taken}, {"budget.blocked.share", run.Share("blocked")}}, share);
}

void JudgeCompute(const JudgedRun& run) {
  if (UsesUncountedGpu(run.measurement)) return;
  const double compute = run.Share("compute");
  if (!run.Holds("compute-bound", compute)) return;
  Verdict& verdict = run.Add("compute-bound", compute,
                             fmt::format("CPU in your code took {} of the core-seconds.", HumanPercent(compute)),
                             {{"budget.compute.share", compute}});
  const bool are_one_by_one = run.Metric("peak_workers") == 1 && run.Metric("max_open_chunks") == 1;
  if (!are_one_by_one || run.Metric("lane_time") != run.Metric("busy_time")) return;  // or helpers worked
  verdict.suggestion =
      "Faster code in the largest section shortens the run. More cores help only if chunks run side by side, in "
      "several threads or processes: here they ran one after the other.";
}

/// By where the cores come from: who declared them needs no advice to declare them.
std::string_view CureOfOversubscription(std::string_view cores_source) {
  if (cores_source == "declared") {
    return "Run as many threads as were declared (CREMA_THREADS), or declare those that run.";
  }
  if (cores_source == "allowed") return "More threads worked than the process was allowed cores: run fewer.";
  if (cores_source == "scheduler") return "More threads worked than the scheduler gave each worker: run fewer.";
  return "Set CREMA_THREADS to the cores each process was given.";
}

/// Threads that only wait need no core: the CPU that threads wanted counts, beyond the cores that they occupied.
void JudgeOversubscription(const JudgedRun& run) {
  const Measurement& measurement = run.measurement;
  const double core_seconds = run.Metric("core_seconds");
  const std::optional<double> occupied = measurement.Metric("core_efficiency");
  const std::optional<double> cpu = measurement.Metric("chunk_cpu_time");
  if (core_seconds <= 0 || !occupied.has_value() || !cpu.has_value()) return;
  const double wanted = *cpu + run.Metric("lane_cpu_wait");
  const double beyond = std::min(run.Metric("oversubscribed_core_seconds"), wanted - *occupied * core_seconds);
  if (!run.Holds("oversubscribed", beyond / core_seconds)) return;
  run.Add(
      "oversubscribed", beyond / core_seconds,
      fmt::format("Threads computed for {} and waited for a CPU for {}: more of them were open than there were cores.",
                  HumanDuration(*cpu), HumanDuration(wanted - *cpu)),
      {{"oversubscribed_core_seconds", run.Metric("oversubscribed_core_seconds")}, {"lane_cpu_wait", wanted - *cpu}});
  run.verdicts->back().suggestion = CureOfOversubscription(measurement.run.cores_source.str());
  NameQuota(run);
}

/// Whose suggestion helps against a part of the budget.
constexpr std::pair<std::string_view, std::string_view> kRulesOfParts[] = {
    {"blocked", "waiting-bound"},
    {"waiting", "waiting-bound"},
    {"cpu_wait", "cpu-contention"},
    {"gpu_wait", "gpu-bound"},
    {"outside_chunk", "opening-bound"},
    {"framework", "framework-overhead"},
    {"process_cpu_wait", "cpu-contention"},
    {"failed", "retry-waste"},
    {"startup", "startup-dominated"},
    {"unused_by_tasks", "unused-cores"},
    {"idle", "idle-workers"},
    {"tail", "long-tail"},
    {"shutdown", "shutdown-dominated"},
};

}  // namespace

void JudgeRest(const JudgedRun& run) {
  for (const NamedLoss& loss : LossesOfBudget(run.measurement, run.budget())) {
    const auto key_of = [](std::string_view part) { return fmt::format("budget.{}.share", part); };
    const auto goes_before = [&](const Verdict& verdict) {
      const bool repeats = absl::c_linear_search(loss.said_by, verdict.id);
      const bool is_larger = verdict.cause.empty() && verdict.saving.value_or(0) >= loss.share;
      if (!loss.is_kind && !repeats && is_larger) return true;
      return absl::c_any_of(verdict.evidence, [&](const auto& evidence) {
        return absl::c_any_of(loss.parts, [&](std::string_view part) { return key_of(part) == evidence.first; });
      });
    };
    if (!run.Holds("largest-loss", loss.share)) continue;
    if (absl::c_any_of(*run.verdicts, goes_before)) continue;
    Verdict& verdict = run.Add("largest-loss", loss.share, loss.sentence, {}, loss.share);
    for (const std::string_view part : loss.parts) verdict.evidence.emplace_back(key_of(part), run.Share(part));
    for (const auto& [part, id] : kRulesOfParts) {
      if (part == loss.parts.front()) verdict.suggestion = RuleOf(id).suggestion;
    }
    if (loss.parts.front() == "joined" && HasUnannouncedThreads(run.measurement)) {
      verdict.suggestion =
          "Threads without guards worked for these chunks. How long they waited for a CPU is not known: TrackHelper in "
          "these threads measures it.";
    }
    if (loss.parts.front() != "process_cpu") continue;
    const std::string section = SectionThatFills(run.measurement, loss.share * run.budget().core_seconds);
    if (!section.empty()) verdict.suggestion = AdviceOn(section);
  }
}

bool IsMostlySetUp(const Measurement& measurement) {
  const double around = measurement.Metric("outside_chunk_time").value_or(0);
  return around > 0 && kMostOfIt.Holds(measurement.Metric("first_before_chunk_time").value_or(0) / around);
}

void JudgeBudget(const JudgedRun& run) {
  JudgeCompute(run);
  JudgeWaiting(run);
  JudgePythonsLock(run);
  JudgeShortageOfCpu(run);
  JudgeTail(run);
  JudgePart(run, "unused-cores", "unused_by_tasks",
            "Cores that tasks were given and did not use cost {} of the core-seconds.");
  JudgePart(run, "framework-overhead", "framework",
            "The framework's own tasks and handling cost {} of the core-seconds.");
  JudgeIdle(run);
  JudgeEnds(run);
  JudgeAround(run);
  JudgeRepeats(run);
  JudgeOversubscription(run);
}

// Verdicts on what the kernel did for chunks (system calls, page faults), and for a command without chunks.

namespace {

/// CPU time of the owner threads of chunks.
double OwnersCpu(const Measurement& measurement) {
  double seconds = measurement.Metric("chunk_cpu_time").value_or(0);
  for (const char* others : {"helper_cpu_time", "unannounced_cpu_time", "children_cpu_time"}) {
    seconds -= measurement.Metric(others).value_or(0);
  }
  return seconds;
}

/// Figures of the owner threads of chunks, and of the processes around them.
struct KernelWork {
  const JudgedRun& run;
  double system_seconds = run.Metric("system_cpu_time");
  double cpu_seconds = OwnersCpu(run.measurement);
  double busy_seconds = run.Metric("busy_time");
  double minor_faults = run.Metric("minor_faults");
  double major_faults = run.Metric("chunk_major_faults");
  SmallReadCalls calls = ReadCalls(run.measurement);

  double system_share() const { return cpu_seconds > 0 ? std::min(1.0, system_seconds / cpu_seconds) : 0; }
  double minor_rate() const { return cpu_seconds > 0 ? minor_faults / cpu_seconds : 0; }
  double major_rate() const { return busy_seconds > 0 ? major_faults / busy_seconds : 0; }
};

void JudgeKernelTime(const JudgedRun& run, const KernelWork& work) {
  const double of_all = run.ShareOfCores(work.system_seconds);
  if (!run.Holds("kernel-time", work.system_share()) || !kMuchKernelTime.Holds(of_all)) return;
  std::string reason;
  if (kManyMinorFaults.Holds(work.minor_rate())) {
    reason =
        fmt::format("; it answered {} minor page faults meanwhile: pages of new memory", HumanCount(work.minor_faults));
  } else if (work.calls.are_many_and_small()) {
    reason = fmt::format("; it answered {} read calls of {} each meanwhile", HumanCount(work.calls.calls),
                         HumanData(work.calls.mean_bytes()));
  }
  run.Add("kernel-time", work.system_share(),
          fmt::format("{} of the CPU time of your chunks was spent in the kernel, {} of the core-seconds{}.",
                      HumanPercent(work.system_share()), HumanPercent(of_all), reason),
          {{"system_cpu_time", work.system_seconds}, {"chunk_cpu_time", work.cpu_seconds}});
}

void JudgePageFaults(const JudgedRun& run, const KernelWork& work) {
  const double core_seconds = run.budget().core_seconds;
  const double stopped = run.Share("blocked") + run.Share("waiting") + work.system_seconds / core_seconds;
  const bool has_major = run.Holds("page-faults", work.major_rate()) && kMuchRequestTime.Holds(stopped);
  const bool has_minor =
      kManyMinorFaults.Holds(work.minor_rate()) && kMuchRequestTime.Holds(work.system_seconds / core_seconds);
  if (has_major) {
    run.Add("page-faults", 0,
            fmt::format("{} major page faults stopped your chunks, {} in each second of them: pages of mapped files, "
                        "or of swapped memory, came from storage.",
                        HumanCount(work.major_faults), HumanCount(work.major_rate())),
            {{"chunk_major_faults", work.major_faults}, {"busy_time", work.busy_seconds}});
  } else if (has_minor) {
    run.Add("page-faults", 0,
            fmt::format("{} minor page faults in your chunks, {} in each second of their CPU time: the kernel filled "
                        "in pages of new memory, or of files that it had.",
                        HumanCount(work.minor_faults), HumanCount(work.minor_rate())),
            {{"minor_faults", work.minor_faults}, {"system_cpu_time", work.system_seconds}});
    run.verdicts->back().suggestion =
        "Reuse memory instead of taking new memory for each chunk or event: keep buffers, or keep what is freed "
        "(MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_, another allocator).";
  }
}

}  // namespace

void JudgeCommand(const JudgedRun& run) {
  const Measurement& measurement = run.measurement;
  const std::optional<TreeBudget> budget = ReadTreeBudget(measurement);
  if (!IsProcessTreeOnly(measurement) || !budget.has_value()) return;
  if (!kEnoughCoreSeconds.Holds(budget->core_seconds)) return;
  if (const double waited = budget->Share(kTreeWait); run.Holds("cpu-contention", waited)) {
    run.Add("cpu-contention", waited,
            fmt::format("Threads of the command were runnable but got no CPU for {} of the core-seconds.",
                        HumanPercent(waited)),
            {{"tree_cpu_wait", run.Metric("tree_cpu_wait")}}, waited);
  }
  const double system = budget->Share(kTreeKernel);
  const double of_cpu = system > 0 ? system / (system + budget->Share(kTreeProgram)) : 0;
  if (run.Holds("kernel-time", of_cpu) && kMuchKernelTime.Holds(system)) {
    run.Add("kernel-time", of_cpu,
            fmt::format("{} of the command's CPU time was spent in the kernel, {} of the core-seconds.",
                        HumanPercent(of_cpu), HumanPercent(system)),
            {{"tree_cpu_system", run.Metric("tree_cpu_system")}, {"tree_cpu_user", run.Metric("tree_cpu_user")}});
  }
}

void JudgeKernel(const JudgedRun& run) {
  const KernelWork work = {run};
  JudgeKernelTime(run, work);
  JudgePageFaults(run, work);
}

// Verdicts on GPUs, as `crema run --gpu` counted what they did.

namespace {

// For the run, as far as processes recorded it: nullopt if several of them or several devices worked at once, so that
// the sum says nothing.
std::optional<double> ShareAtWork(const JudgedRun& run) {
  const std::optional<double> busy = run.measurement.Metric("gpu_busy_seconds");
  const double wall = run.Metric("wall_time");
  if (!busy.has_value() || wall <= 0 || *busy > wall) return std::nullopt;
  return *busy / wall;
}

// " (most of it the kernel X in section Y)": by the time on the devices.
std::string LongestKernel(const JudgedRun& run, double all_seconds) {
  const std::vector<GpuKernelRow>& rows = run.measurement.gpu_kernels;
  if (rows.empty() || !kMostOfIt.Holds(rows.front().seconds.value_or(0) / all_seconds)) return "";
  const std::string section = rows.front().section.str();
  return fmt::format(" (most of it in the kernel {}{})", ShortName(rows.front().kernel.str()),
                     section.empty() ? "" : " of section " + ShortName(section));
}

void JudgeBound(const JudgedRun& run, double kernels, double copies) {
  const double waiting = run.Share("gpu_wait");
  if (!run.Holds("gpu-bound", waiting) || copies > kernels) return;
  if (!kGpuMatters.Holds(run.ShareOfCores(kernels))) return;  // it waited for something else
  const std::optional<double> at_work = ShareAtWork(run);
  run.Add(
      "gpu-bound", waiting,
      fmt::format("Your code waited for the GPU for {} of the core-seconds. Kernels ran for {}{}{}.",
                  HumanPercent(waiting), HumanDuration(kernels), LongestKernel(run, kernels),
                  at_work.has_value() ? ", and the GPU was at work for " + HumanPercent(*at_work) + " of the run" : ""),
      {{"budget.gpu_wait.share", waiting}, {"gpu_seconds", kernels}});
}

void JudgeCopies(const JudgedRun& run, double kernels, double copies) {
  const double waiting = run.Share("gpu_wait");
  const double to_device = run.Metric("gpu_to_device_bytes");
  const double from_device = run.Metric("gpu_from_device_bytes");
  if (!run.Holds("gpu-copies", waiting) || copies <= kernels || to_device + from_device <= 0) return;
  run.Add("gpu-copies", waiting,
          fmt::format("Your code waited for the GPU for {} of the core-seconds, and copies ({} to it, {} from it) took "
                      "longer than kernels: {} and {}.",
                      HumanPercent(waiting), HumanData(to_device), HumanData(from_device), HumanDuration(copies),
                      HumanDuration(kernels)),
          {{"budget.gpu_wait.share", waiting}, {"gpu_copy_seconds", copies}, {"gpu_seconds", kernels}}, waiting);
}

void JudgeStarved(const JudgedRun& run, double kernels) {
  const std::optional<double> share = ShareAtWork(run);
  // Kernels of programs that do not record, or of others, leave no room either.
  const std::optional<double> of_anybody = run.measurement.Metric("gpu_utilization");
  if (!share.has_value() || !kGpuMatters.Holds(run.ShareOfCores(kernels))) return;
  if (!run.Holds("gpu-starved", *share) || !run.Holds("gpu-starved", of_anybody.value_or(0))) return;
  if (run.Holds("gpu-bound", run.Share("gpu_wait"))) return;
  run.Add(
      "gpu-starved", *share,
      fmt::format("Kernels and copies of the processes that record ran for {} of the run only{}.", HumanPercent(*share),
                  of_anybody.has_value()
                      ? "; while they used the GPU, some kernel ran for " + HumanPercent(*of_anybody) + " of the time"
                      : ""),
      {{"gpu_busy_seconds", *run.measurement.Metric("gpu_busy_seconds")},
       {"wall_time", *run.measurement.Metric("wall_time")}});
}

}  // namespace

bool UsesUncountedGpu(const Measurement& measurement) {
  if (measurement.Metric("gpu_wait_cpu_seconds").has_value()) return false;
  const std::string_view why = measurement.metrics.Reason("gpu_wait_cpu_seconds");
  const bool was_counted_in_part = !why.empty() && why != FindMetric("gpu_wait_cpu_seconds")->why_null;
  return was_counted_in_part || measurement.Metric("gpu_utilization").has_value() ||  // which MIG does not have
         measurement.Metric("gpu_peak_memory_bytes").value_or(0) > 0;
}

void JudgeGpu(const JudgedRun& run) {
  const double kernels = run.Metric("gpu_seconds");
  if (const double copies = run.Metric("gpu_copy_seconds"); kernels + copies > 0) {
    JudgeBound(run, kernels, copies);
    JudgeCopies(run, kernels, copies);
    JudgeStarved(run, kernels);
  }
  const std::optional<double> others = run.measurement.Metric("gpu_utilization_of_others");
  if (!others.has_value() || !run.Holds("gpu-shared", *others)) return;
  run.Add("gpu-shared", *others,
          fmt::format("While your program used the GPU, other processes used {} of its processors on average.",
                      HumanPercent(*others)),
          {{"gpu_utilization_of_others", *others}});
}

// Verdict on what chunks wait for together.

void JudgeContention(const JudgedRun& run) {
  if (run.measurement.contention.empty()) return;
  const ContentionRow& row = run.measurement.contention.front();
  const double slope = row.slope.value_or(0), low = row.slope_low.value_or(0), high = row.slope_high.value_or(0);
  if (!(low > 0)) return;
  const double excess_low = row.excess_low.value_or(0), share = run.ShareOf(excess_low);
  if (!run.Holds("shared-bottleneck", share)) return;
  run.Add("shared-bottleneck", share,
          fmt::format("Chunks wait for something that all of them share. With each further open chunk, an event is "
                      "blocked for {} longer. What they share serves about {} events a second ({} to {}).",
                      HumanDuration(slope), HumanCount(1 / slope), HumanCount(1 / high), HumanCount(1 / low)),
          {{"contention.slope", slope},
           {"contention.slope_low", low},
           {"contention.slope_high", high},
           {"contention.lanes_low", row.lanes_low.value_or(0)},
           {"contention.lanes_high", row.lanes_high.value_or(0)},
           {"contention.excess_low", excess_low}},
          run.ShareOf(row.excess.value_or(0)));
}

}  // namespace crema
