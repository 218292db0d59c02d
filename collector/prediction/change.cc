#include <random>

#include "collector/format/human_numbers.h"
#include "collector/idioms/normal_distribution.h"
#include "collector/idioms/sequences.h"
#include "collector/prediction/prediction.h"

namespace crema {
namespace {

// Fewer ratios do not show how much the chunks of a dataset vary: those of all datasets stand for them.
constexpr size_t kFewestRatios = 8;

// Seconds a chunk of a dataset takes: fixed + slope x events, least squares, neither of them negative.
struct Line {
  double fixed = 0;
  double slope = 0;
  /// 90 % of the slope's error to either side, for a chunk of mean size: a part of its time. Infinite: all chunks have
  /// one size, and `fixed` is what they take.
  double error = std::numeric_limits<double>::infinity();
  double At(double events) const { return std::max(1e-9, fixed + slope * std::max(0.0, events)); }
};

// No cluster is larger, and no cut is finer: beyond these a replay takes minutes and gigabytes.
constexpr double kMostLanes = 100'000;
constexpr double kMostChunks = 2'000'000;

struct LineSums {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;

  void Add(const ObservedChunk& chunk) {
    const double events = std::max(0.0, chunk.events), seconds = chunk.duration;
    n += 1, x += events, y += seconds, xx += events * events, xy += events * seconds, yy += seconds * seconds;
  }

  Line Fit() const {
    constexpr double kRounding = 1e-9;  // below it, the sums' digits are used up
    Line line;
    if (n == 0) return line;
    const double mean_events = x / n, mean = y / n, spread = xx - x * mean_events;
    line.fixed = mean;
    if (n < 3 || spread <= kRounding * xx || mean <= 0) return line;
    const double slope = (xy - x * mean) / spread;
    const double rest = std::max(0.0, yy - y * mean - slope * slope * spread);
    line.error = kSigmasTo95 * std::sqrt(rest / (n - 2) / spread) * mean_events / mean;
    line.slope = std::clamp(slope, 0.0, mean / mean_events);
    line.fixed = std::max(0.0, mean - line.slope * mean_events);
    return line;
  }
};

// The line of each dataset. With a seed: of as many of its chunks, drawn anew; so the lines' own error shows.
std::vector<Line> LinesOf(const ObservedRun& run, uint64_t seed = 0) {
  std::vector<LineSums> all(run.datasets.size()), drawn(run.datasets.size());
  std::vector<std::vector<const ObservedChunk*>> chunks(run.datasets.size());
  for (const ObservedChunk& chunk : run.chunks) {
    all[chunk.dataset].Add(chunk);
    if (seed != 0) chunks[chunk.dataset].push_back(&chunk);
  }
  std::mt19937_64 random(seed);
  std::vector<Line> lines;
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t draw = 0; draw < chunks[i].size(); ++draw) drawn[i].Add(*chunks[i][random() % chunks[i].size()]);
    const Line line = drawn[i].Fit();
    lines.push_back(std::isfinite(line.error) ? line : all[i].Fit());
  }
  return lines;
}

// What chunks of each dataset took, over what its line says. The last are those of all: they stand for a dataset with
// none of its own.
std::vector<std::vector<double>> RatiosOf(const ObservedRun& run, const std::vector<Line>& lines) {
  std::vector<std::vector<double>> ratios(run.datasets.size() + 1);
  for (const ObservedChunk& chunk : run.chunks) {
    ratios[chunk.dataset].push_back(chunk.duration / lines[chunk.dataset].At(chunk.events));
  }
  std::vector<double> of_all;
  for (std::vector<double>& of_dataset : ratios) {
    const auto count = static_cast<double>(of_dataset.size());
    if (count < 2) continue;
    // n values scatter about their own line by (n - 1) / n of what they would about the true one.
    for (double& ratio : of_dataset) ratio = std::max(1e-3, 1 + (ratio - 1) * std::sqrt(count / (count - 1)));
    of_all.insert(of_all.end(), of_dataset.begin(), of_dataset.end());
  }
  for (std::vector<double>& of_dataset : ratios) {
    if (of_dataset.size() < kFewestRatios && of_all.size() > of_dataset.size()) of_dataset.clear();
  }
  ratios.back() = std::move(of_all);
  return ratios;
}

// What a chunk takes beyond its size is drawn anew.
void DrawAnew(const std::vector<Line>& lines, const std::vector<std::vector<double>>& ratios, std::mt19937_64* random,
              ObservedChunk* chunk) {
  const std::vector<double>& of_dataset = ratios[chunk->dataset].empty() ? ratios.back() : ratios[chunk->dataset];
  if (of_dataset.empty() || chunk->duration <= 0) return;
  const double duration = lines[chunk->dataset].At(chunk->events) * of_dataset[(*random)() % of_dataset.size()];
  chunk->Scale(duration / chunk->duration);
}

// Files cut anew; what chunks take is on their dataset's line. A file that keeps its number of chunks keeps them.
absl::StatusOr<std::vector<ObservedChunk>> CutAnew(const ObservedRun& run, const std::vector<Line>& lines,
                                                   double events) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const ObservedChunk*>> files;  // by phase and file
  std::vector<std::pair<uint32_t, uint32_t>> order;
  for (const ObservedChunk& chunk : run.chunks) {
    if (chunk.events < 0) return absl::FailedPreconditionError("some chunks did not say how many events they had");
    auto& of_file = files[{chunk.phase, chunk.file}];
    if (of_file.empty()) order.emplace_back(chunk.phase, chunk.file);
    of_file.push_back(&chunk);
  }
  std::vector<ObservedChunk> cut;
  for (const auto& key : order) {
    const std::vector<const ObservedChunk*>& old = files[key];
    double all = 0, duration = 0, expected = 0, cpu = 0;
    for (const ObservedChunk* chunk : old) {
      all += chunk->events, duration += chunk->duration, cpu += chunk->cpu;
      expected += lines[chunk->dataset].At(chunk->events);
    }
    const double pieces = std::max(1.0, std::ceil(all / events));
    if (static_cast<double>(cut.size()) + pieces > std::max(kMostChunks, static_cast<double>(run.chunks.size()))) {
      return absl::InvalidArgumentError("more than 2,000,000 chunks are not replayed");
    }
    if (pieces == static_cast<double>(old.size())) {
      for (const ObservedChunk* chunk : old) cut.push_back(*chunk);
      continue;
    }
    const uint32_t dataset = old.front()->dataset;
    if (lines[dataset].error > kMostSlopeError) {
      return absl::FailedPreconditionError(
          fmt::format("the chunks of `{}` have nearly equal numbers of events, so the fixed cost of a chunk is not "
                      "known; measure one run with other chunk sizes",
                      run.datasets[dataset]));
    }
    for (double i = 0; i < pieces; ++i) {
      ObservedChunk chunk = *old.front();
      chunk.events = all / pieces;
      chunk.duration = lines[dataset].At(chunk.events) * (expected > 0 ? duration / expected : 1);
      chunk.cpu = duration > 0 ? chunk.duration * cpu / duration : 0;
      chunk.cpu_wait = 0;
      cut.push_back(chunk);
    }
  }
  SortBy(&cut, &ObservedChunk::phase);
  return cut;
}

// A worker's chunks as the others would have done them.
absl::Status DoneByOthers(const ObservedRun& run, uint32_t worker, std::vector<ObservedChunk>* chunks) {
  const std::vector<Line> lines = LinesOf(run);
  struct Sums {
    double measured = 0, expected = 0;
  };
  std::vector<Sums> others(run.datasets.size()), own(run.datasets.size());
  for (const ObservedChunk& chunk : run.chunks) {
    Sums& sums = (chunk.worker == worker ? own : others)[chunk.dataset];
    sums.measured += chunk.duration;
    sums.expected += lines[chunk.dataset].At(chunk.events);
  }
  for (ObservedChunk& chunk : *chunks) {
    if (chunk.worker != worker) continue;
    const Sums &theirs = others[chunk.dataset], &mine = own[chunk.dataset];
    if (theirs.expected <= 0) {
      return absl::FailedPreconditionError(
          fmt::format("no other worker had a chunk of `{}`", run.datasets[chunk.dataset]));
    }
    if (mine.measured > 0) chunk.Scale((theirs.measured / theirs.expected) / (mine.measured / mine.expected));
  }
  return absl::OkStatus();
}

// Where the run shows that chunks are blocked for longer while more of them are open, they are so with other lanes.
void BlockByLanes(const ObservedRun& run, double more_lanes, uint64_t seed, std::vector<ObservedChunk>* chunks) {
  if (run.blocked_by_lanes.value <= 0 || more_lanes == 1) return;
  double slope = run.blocked_by_lanes.value;
  if (seed != 0) {
    std::mt19937_64 random(~seed);
    std::normal_distribution<double> normal(slope,
                                            (run.blocked_by_lanes.high - run.blocked_by_lanes.low) / 2 / kSigmasTo95);
    slope = std::max(0.0, normal(random));
  }
  for (ObservedChunk& chunk : *chunks) {
    const double longer = slope * std::max(0.0, chunk.events) * chunk.open * (more_lanes - 1);
    chunk.duration = std::max(std::min(chunk.cpu, chunk.duration), chunk.duration + longer);
  }
}

std::vector<ObservedWorker> WorkersFor(const ObservedRun& run, const RunChange& change) {
  std::vector<ObservedWorker> workers = run.workers;
  if (change.kind == ChangeKind::kAllFromStart) {
    double first = kForever, began = kForever;
    for (const ObservedWorker& worker : workers)
      first = std::min(first, worker.joined), began = std::min(began, worker.began);
    for (ObservedWorker& worker : workers) worker.began = began, worker.joined = first, worker.left = kForever;
  }
  if (change.kind == ChangeKind::kWithoutWorker) {
    EraseWhere(&workers, [&](const ObservedWorker& worker) { return worker.name == change.name; });
  }
  if (change.kind == ChangeKind::kWorkers || (change.kind == ChangeKind::kCores && workers.size() > 1)) {
    SortBy(&workers, &ObservedWorker::joined);
    const size_t had = workers.size();
    const double wanted =
        change.kind == ChangeKind::kWorkers ? change.number : change.number * static_cast<double>(had) / run.cores();
    // Those that stayed from the first to the last stand for new ones.
    ObservedWorker like = workers[had / 2];
    like.left = kForever;
    workers.resize(std::min(had, static_cast<size_t>(std::ceil(wanted))));
    while (static_cast<double>(workers.size()) < wanted) workers.push_back(like);
    if (const double part = wanted - std::floor(wanted); part > 0) {
      ObservedWorker& last = workers.back();
      last.lanes = std::max(1, static_cast<int>(std::lround(part * last.lanes)));
      last.cores *= part;
    }
  } else if (change.kind == ChangeKind::kCores) {
    ObservedWorker& only = workers.front();
    only.lanes = std::max(1, static_cast<int>(std::lround(change.number * only.lanes / only.cores)));
    only.cores = change.number;
  } else if (change.kind == ChangeKind::kLanes) {
    const double factor = change.number / run.lanes();
    for (ObservedWorker& worker : workers)
      worker.lanes = std::max(1, static_cast<int>(std::lround(factor * worker.lanes)));
  }
  return workers;
}

/// Chunks at once that a change asks for; 0: as many as the run had.
double LanesAskedFor(const ObservedRun& run, const RunChange& change) {
  if (change.kind == ChangeKind::kLanes) return change.number;
  if (change.kind == ChangeKind::kCores) return change.number * run.lanes() / run.cores();
  if (change.kind == ChangeKind::kWorkers) return change.number * run.lanes() / static_cast<double>(run.workers.size());
  return 0;
}

// Why nobody knows how long chunks would wait for GPUs then; empty: they do not wait for any, or it is known.
std::string WhyGpuIsUnknown(const ObservedRun& run, const RunChange& change) {
  const bool is_faster = change.kind == ChangeKind::kFaster || change.kind == ChangeKind::kFasterGpu;
  const bool has_more_lanes = change.kind != ChangeKind::kWorkers && HasMoreLanes(run, change);
  if (run.has_uncounted_gpu && (is_faster || has_more_lanes || change.kind == ChangeKind::kWithoutWaiting)) {
    return "chunks may have waited for a GPU, and nobody counted for how long; measure with crema run --gpu";
  }
  if (change.kind == ChangeKind::kFasterGpu && run.section_on_gpu.work <= 0) {
    return "no kernel or copy was counted in `" + change.name + "`; measure with crema run --gpu";
  }
  const double all = SumOf<double>(run.chunks, &ObservedChunk::duration);
  const double waiting = all > 0 ? SumOf<double>(run.chunks, &ObservedChunk::gpu_wait) / all : 0;
  if (!has_more_lanes || !kGpuMatters.Holds(waiting)) return "";
  return fmt::format(
      "chunks waited for a GPU for {} of their time, and how long they wait if more of them share it is not known",
      HumanPercent(waiting));
}

// Why nobody knows how long chunks would wait for one another then; empty: they do not, or it was seen with fewer of
// them.
std::string WhyWaitIsUnknown(const ObservedRun& run, const RunChange& change) {
  const double lanes = LanesAskedFor(run, change);
  if (run.blocked_by_lanes.value > 0 || run.common_waits.words.empty() || lanes == 0 || lanes == run.lanes()) return "";
  return fmt::format(
      "chunks waited {} for {} of their time, and how long they wait if another number runs side by side is not "
      "known; compare runs with crema scaling",
      run.common_waits.words, HumanPercent(run.common_waits.share));
}

// Blocked time of the section in the chunk: what samples place there, and of the time that they do not place as much as
// of all other time that may hold it; at least what finds no room elsewhere, at most what finds room in the section.
PredictedValue BlockedInSection(const ObservedRun& run, const ObservedChunk& chunk) {
  const double sampled = chunk.section * run.section_on_gpu.blocked;
  const double anywhere = chunk.Blocked() * run.blocked_anywhere, placed = chunk.Blocked() - anywhere;
  const double computing =
      std::max(chunk.section_cpu, std::min(chunk.gpu_wait, chunk.section * run.section_on_gpu.waiting));
  const double inside = std::max(0.0, chunk.section - sampled - computing);
  const double all =
      chunk.duration - placed - (chunk.section_cpu > 0 ? std::min(chunk.cpu, chunk.duration) : computing);
  const double elsewhere = std::max(0.0, all - inside);
  const double share = anywhere > 0 ? anywhere * inside / std::max(anywhere, inside + elsewhere) : 0;
  return {sampled + share, sampled + std::max(0.0, anywhere - elsewhere), sampled + std::min(anywhere, inside)};
}

// A section's thread computes for a part of its time, and waits for the GPU in the rest. Code that is faster does not
// make the GPU faster: the section lasts at least as long as its kernels and copies. Faster kernels and copies shorten
// waiting, as far as the thread waited for them. Returns by how much the chunk is shorter, and of this the CPU time.
std::pair<double, double> Faster(const ObservedRun& run, const ObservedChunk& chunk, const RunChange& change,
                                 uint64_t seed) {
  const SectionOnGpu& on_gpu = run.section_on_gpu;
  const double less = 1 - 1 / change.number;
  const double waiting = std::min(chunk.gpu_wait, chunk.section * on_gpu.waiting), work = chunk.section * on_gpu.work;
  if (change.kind == ChangeKind::kFasterGpu) {
    const double shorter = std::min(waiting, work) * less;
    return {shorter, chunk.gpu_wait > 0 ? chunk.gpu_spin * shorter / chunk.gpu_wait : 0};
  }
  const PredictedValue blocked = BlockedInSection(run, chunk);
  const double at = seed == 0 ? blocked.value : seed % 2 == 1 ? blocked.low : blocked.high;
  const double computing = std::max(0.0, chunk.section - at - waiting);
  const double shorter = std::min(computing * less, std::max(0.0, chunk.section - work));
  const double all_computing = chunk.duration - chunk.gpu_wait - chunk.Blocked();
  const double cpu = std::max(0.0, std::min(chunk.cpu, chunk.duration) - chunk.gpu_spin);
  return {shorter, all_computing > 0 ? cpu * std::min(1.0, computing * less / all_computing) : 0};
}

// How lanes and cores are shared.
struct CoreUse {
  CoreUse(const ObservedRun& run, const RunChange& change, uint64_t draw)
      : seed(draw),
        ready(draw % 2 == 1 && run.is_short_of_cpu ? 1 : 1 / std::max(1e-9, 1 - run.without_cpu)),
        had_a_core_each(run.lanes() <= run.cores()),
        takes_turns(change.kind == ChangeKind::kWithoutWaiting && !had_a_core_each) {}

  uint64_t seed;
  double ready;  ///< core-seconds in which chunks are ready, for each of CPU: others use the rest
  bool had_a_core_each;
  bool takes_turns;            ///< without waiting, chunks that took turns on the cores would compute all at once
  bool leaves_helpers = true;  ///< a chunk that used several cores has as many as before
};

// What the chunk takes after the change; `cpu`: of that, in core-seconds.
ReplayChunk Replayed(const ObservedRun& run, const RunChange& change, const CoreUse& use, const ObservedChunk& chunk,
                     double* cpu) {
  ReplayChunk replayed;
  replayed.phase = chunk.phase;
  replayed.fixed = chunk.duration;
  *cpu = std::min(chunk.cpu, chunk.duration);
  if (*cpu > 0) replayed.cores = chunk.cpu / *cpu;
  if (change.kind == ChangeKind::kFaster || change.kind == ChangeKind::kFasterGpu) {
    const auto [seconds, cpu_seconds] = Faster(run, chunk, change, use.seed);
    replayed.fixed -= seconds, *cpu -= cpu_seconds;
  }
  if (change.kind == ChangeKind::kWithoutWaiting) {  // but for GPUs, whether the thread spins or not
    const double computing = *cpu - chunk.gpu_spin;
    const double ready = use.takes_turns ? computing * use.ready : computing + chunk.cpu_wait;
    replayed.fixed = std::min(chunk.duration, ready + chunk.gpu_wait);
    if (use.takes_turns) replayed.cpu = std::min(replayed.fixed, ready);
    replayed.fixed -= replayed.cpu;
  }
  if (!use.leaves_helpers) {
    replayed.cpu = *cpu;
    replayed.fixed -= *cpu;
  }
  if (change.kind == ChangeKind::kLanes) {
    // What chunks waited for a CPU was others' work, which stays, as far as they did not wait for each other.
    replayed.cpu = use.had_a_core_each ? *cpu : std::min(chunk.duration, *cpu * use.ready);
    replayed.fixed = std::max(0.0, chunk.duration - (use.had_a_core_each ? *cpu : *cpu + chunk.cpu_wait));
  }
  return replayed;
}

}  // namespace

double ChangedRun::CoreSeconds(double wall_time) const {
  double sum = 0;
  for (const ObservedWorker& worker : workers) {
    const double stop = worker.left < kForever ? std::min(worker.left, wall_time) : wall_time - worker.after;
    sum += worker.cores * std::max(0.0, stop - worker.began);
  }
  return sum;
}

PredictedValue BlockedShareOfSection(const ObservedRun& run) {
  PredictedValue sum;
  const double all = SumOf<double>(run.chunks, &ObservedChunk::section);
  for (const ObservedChunk& chunk : run.chunks) {
    const PredictedValue blocked = BlockedInSection(run, chunk);
    sum.value += blocked.value / all, sum.low += blocked.low / all, sum.high += blocked.high / all;
  }
  return all > 0 ? sum : PredictedValue();
}

bool HasMoreLanes(const ObservedRun& run, const RunChange& change) { return LanesAskedFor(run, change) > run.lanes(); }

std::string RunChange::Text() const {
  // in the order of the kinds, with `name` and `number`
  constexpr const char* kTexts[] = {"as it was",         "--cores {1}",          "--lanes {1}",
                                    "--workers {1}",     "--without-worker {0}", "--chunk-events {1}",
                                    "--order longest",   "--faster {0}={1}",     "--faster-gpu {0}={1}",
                                    "--without-waiting", "--all-from-start",     "--streams {1}"};
  return fmt::format(fmt::runtime(kTexts[static_cast<size_t>(kind)]), name, number);
}

absl::StatusOr<ChangedRun> Apply(const ObservedRun& run, const RunChange& change, uint64_t seed) {
  if (change.kind == ChangeKind::kStreams) {
    return absl::FailedPreconditionError("the run has no events that go from task to task (TrackEvent)");
  }
  if (LanesAskedFor(run, change) > std::max<double>(kMostLanes, run.lanes())) {
    return absl::InvalidArgumentError("more than 100,000 chunks at once are not replayed");
  }
  for (const std::string& why : {WhyGpuIsUnknown(run, change), WhyWaitIsUnknown(run, change)}) {
    if (!why.empty()) return absl::FailedPreconditionError(why);
  }
  std::vector<ObservedChunk> chunks = run.chunks;
  std::vector<Line> lines = LinesOf(run);
  const ObservedRun* drawn_from = &run;
  ObservedRun without;
  if (change.kind == ChangeKind::kChunkEvents) {
    absl::StatusOr<std::vector<ObservedChunk>> cut = CutAnew(run, lines, change.number);
    if (cut.ok() && seed != 0) {
      lines = LinesOf(run, seed);
      absl::StatusOr<std::vector<ObservedChunk>> again = CutAnew(run, lines, change.number);
      if (again.ok()) cut = std::move(again);
    }
    if (!cut.ok()) return cut.status();
    chunks = *std::move(cut);
  }
  if (change.kind == ChangeKind::kWithoutWorker) {
    const ObservedWorker* const found = FindBy(run.workers, &ObservedWorker::name, change.name);
    if (found == nullptr) return absl::NotFoundError("no worker `" + change.name + "`");
    if (run.workers.size() == 1) return absl::FailedPreconditionError("there is no other worker");
    const absl::Status done = DoneByOthers(run, static_cast<uint32_t>(found - run.workers.data()), &chunks);
    if (!done.ok()) return done;
    // What chunks vary by is what they would vary by without that worker.
    without = run;
    without.chunks = chunks;
    drawn_from = &without;
    lines = LinesOf(without);
  }
  const bool needs_cpu = absl::c_linear_search(
      std::array{ChangeKind::kWithoutWaiting, ChangeKind::kLanes, ChangeKind::kFaster}, change.kind);
  ChangedRun changed;
  changed.cpu_known = absl::c_all_of(chunks, std::mem_fn(&ObservedChunk::cpu_known));
  if (needs_cpu && !changed.cpu_known) {
    return absl::FailedPreconditionError("the CPU time of some chunks is not known");
  }
  if (seed != 0) {  // another run of the same
    const std::vector<std::vector<double>> ratios = RatiosOf(*drawn_from, lines);
    std::mt19937_64 random(seed);
    for (ObservedChunk& chunk : chunks) {
      DrawAnew(lines, ratios, &random, &chunk);
      if (seed % 2 == 0 || chunk.duration <= 0 || !run.is_short_of_cpu) continue;
      // Nobody knows how much of the CPUs others use next time: from nothing to what they used.
      const double less = chunk.cpu_wait * run.cpu_wait_of_others;
      chunk.section *= 1 - less / chunk.duration;
      chunk.duration -= less, chunk.cpu_wait -= less;
    }
  }

  ReplaySetup& setup = changed.setup;
  changed.workers = WorkersFor(run, change);
  for (const ObservedWorker& worker : changed.workers) {
    changed.cores += worker.cores;
    for (int i = 0; i < worker.lanes; ++i) setup.lanes.push_back({worker.joined, worker.left});
  }
  BlockByLanes(run, static_cast<double>(setup.lanes.size()) / run.lanes(), seed, &chunks);
  CoreUse use(run, change, seed);
  const double cores_a_lane = changed.cores / static_cast<double>(setup.lanes.size());
  use.leaves_helpers = change.kind != ChangeKind::kCores || cores_a_lane >= run.cores() / run.lanes() ||
                       absl::c_all_of(chunks, [](const auto& chunk) { return chunk.cpu <= chunk.duration; });
  if (change.kind == ChangeKind::kLanes || use.takes_turns || !use.leaves_helpers) setup.shared_cores = changed.cores;
  for (const ObservedChunk& chunk : chunks) {
    double cpu = 0;
    setup.chunks.push_back(Replayed(run, change, use, chunk, &cpu));
    changed.lane_cpu_seconds += cpu;
    changed.cpu_seconds += cpu + std::max(0.0, chunk.cpu - chunk.duration);
  }
  if (change.kind == ChangeKind::kLongestFirst) {
    SortBy(&setup.chunks, [](const ReplayChunk& chunk) { return std::pair(chunk.phase, -chunk.fixed); });
  }
  setup.gaps = run.gaps;
  setup.between = run.between;
  setup.shutdown = run.shutdown;
  return changed;
}

std::vector<ReplayResult> ReplayLateDraws(const ObservedRun& run, const RunChange& change, double most_chunks,
                                          ChangedRun* changed) {
  constexpr double kLateOfLane = 40, kLateOfLongest = 4;  // chunks; times the longest one
  std::vector<ReplayChunk>& chunks = changed->setup.chunks;
  const bool keeps_chunks = change.kind != ChangeKind::kChunkEvents && change.kind != ChangeKind::kLongestFirst &&
                            change.kind != ChangeKind::kWithoutWorker && change.kind != ChangeKind::kFaster &&
                            chunks.size() == run.chunks.size();
  const auto lanes = static_cast<double>(changed->setup.lanes.size());
  const bool is_blocked = run.blocked_by_lanes.value > 0 && lanes != run.lanes();
  if (!keeps_chunks || is_blocked || run.is_short_of_cpu || changed->setup.shared_cores > 0 || chunks.empty())
    return {};
  if (chunks.front().phase != chunks.back().phase) return {};  // the last chunks before each barrier matter, too
  double all = 0, longest = 0;
  for (const ReplayChunk& chunk : chunks) all += chunk.fixed, longest = std::max(longest, chunk.fixed);
  const double mean = all / static_cast<double>(chunks.size());
  const double late = std::ceil(lanes * std::max(kLateOfLane, mean > 0 ? kLateOfLongest * longest / mean : 0));
  if (2 * late > static_cast<double>(chunks.size())) return {};
  const size_t first = chunks.size() - static_cast<size_t>(late);

  const CoreUse use(run, change, 0);
  const std::vector<Line> lines = LinesOf(run);
  const std::vector<std::vector<double>> ratios = RatiosOf(run, lines);
  struct Spread {
    double mean = 1, variance = 0;
  };
  std::vector<Spread> spreads;
  for (const std::vector<double>& of_dataset : ratios) {
    const auto count = static_cast<double>(std::max<size_t>(1, of_dataset.size()));
    double sum = 0, squares = 0;
    for (const double ratio : of_dataset) sum += ratio, squares += ratio * ratio;
    spreads.push_back({sum / count, std::max(0.0, squares / count - sum / count * sum / count)});
  }
  double longer = 0, variance = 0;
  for (size_t i = 0; i < first; ++i) {
    const ObservedChunk& chunk = run.chunks[i];
    if (chunk.duration <= 0) continue;
    const Spread& spread = ratios[chunk.dataset].empty() ? spreads.back() : spreads[chunk.dataset];
    const double expected = chunks[i].fixed * lines[chunk.dataset].At(chunk.events) / chunk.duration;
    longer += expected * spread.mean - chunks[i].fixed;
    variance += expected * expected * spread.variance;
  }
  const auto draws = static_cast<uint64_t>(std::clamp<double>(most_chunks / late, kFewestReplays, kMostReplays));
  return ReplayLate(changed->setup, first, draws, [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    for (size_t i = first; i < chunks.size(); ++i) {
      ObservedChunk chunk = run.chunks[i];
      DrawAnew(lines, ratios, &random, &chunk);
      double cpu = 0;
      chunks[i] = Replayed(run, change, use, chunk, &cpu);
    }
    return std::normal_distribution<double>(longer, std::sqrt(variance))(random);
  });
}

}  // namespace crema
