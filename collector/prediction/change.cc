#include "collector/prediction/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace crema {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

using Kind = RunChange::Kind;

// Seconds a chunk of a dataset takes: a + b x events, least squares; b is 0 where events do not differ.
struct Line {
  double fixed = 0;
  double slope = 0;
  double At(double events) const { return std::max(1e-9, fixed + slope * std::max(0.0, events)); }
};

std::vector<Line> LinesOf(const ObservedRun& run) {
  struct Sums {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  };
  std::vector<Sums> sums(run.datasets.size());
  for (const ObservedChunk& chunk : run.chunks) {
    Sums& sum = sums[chunk.dataset];
    const double x = std::max(0.0, chunk.events);
    sum.n += 1, sum.x += x, sum.y += chunk.duration, sum.xx += x * x, sum.xy += x * chunk.duration;
  }
  std::vector<Line> lines;
  for (const Sums& sum : sums) {
    const double spread = sum.n * sum.xx - sum.x * sum.x;
    Line line;
    // Sizes that differ by less than a hundredth tell no slope: then all is in proportion to events.
    if (sum.n >= 3 && spread > 1e-4 * sum.x * sum.x) line.slope = (sum.n * sum.xy - sum.x * sum.y) / spread;
    line.fixed = sum.n > 0 ? (sum.y - line.slope * sum.x) / sum.n : 0;
    if (line.slope < 0 || line.fixed < 0) line = {0, sum.x > 0 ? sum.y / sum.x : 0};
    if (line.slope == 0) line.fixed = sum.n > 0 ? sum.y / sum.n : 0;
    lines.push_back(line);
  }
  return lines;
}

// Another run of the same: what a chunk takes beyond its size is drawn anew.
std::vector<ObservedChunk> DrawnAnew(const ObservedRun& run, std::vector<ObservedChunk> chunks, uint64_t seed) {
  if (seed == 0) return chunks;
  const std::vector<Line> lines = LinesOf(run);
  std::vector<std::vector<double>> ratios(run.datasets.size());
  for (const ObservedChunk& chunk : run.chunks) {
    ratios[chunk.dataset].push_back(chunk.duration / lines[chunk.dataset].At(chunk.events));
  }
  std::mt19937_64 random(seed);
  for (ObservedChunk& chunk : chunks) {
    const std::vector<double>& of_dataset = ratios[chunk.dataset];
    if (of_dataset.empty() || chunk.duration <= 0) continue;
    const double duration = lines[chunk.dataset].At(chunk.events) * of_dataset[random() % of_dataset.size()];
    const double factor = duration / chunk.duration;
    chunk.cpu *= factor, chunk.cpu_wait *= factor, chunk.section *= factor;
    chunk.duration = duration;
  }
  return chunks;
}

// Files cut anew; what chunks take is on their dataset's line.
absl::StatusOr<std::vector<ObservedChunk>> CutAnew(const ObservedRun& run, double events) {
  const std::vector<Line> lines = LinesOf(run);
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
    for (double i = 0; i < pieces; ++i) {
      ObservedChunk chunk = *old.front();
      chunk.events = all / pieces;
      chunk.duration = lines[chunk.dataset].At(chunk.events) * (expected > 0 ? duration / expected : 1);
      chunk.cpu = duration > 0 ? chunk.duration * cpu / duration : 0;
      chunk.cpu_wait = 0;
      cut.push_back(chunk);
    }
  }
  std::stable_sort(cut.begin(), cut.end(),
                   [](const ObservedChunk& a, const ObservedChunk& b) { return a.phase < b.phase; });
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
    const double factor = (theirs.measured / theirs.expected) / (mine.measured / mine.expected);
    chunk.duration *= factor, chunk.cpu *= factor, chunk.cpu_wait *= factor, chunk.section *= factor;
  }
  return absl::OkStatus();
}

std::vector<ObservedWorker> WorkersFor(const ObservedRun& run, const RunChange& change) {
  std::vector<ObservedWorker> workers = run.workers;
  if (change.kind == Kind::kAllFromStart) {
    double first = kForever;
    for (const ObservedWorker& worker : workers) first = std::min(first, worker.joined);
    for (ObservedWorker& worker : workers) worker.joined = first, worker.left = kForever;
  }
  if (change.kind == Kind::kWithoutWorker) {
    workers.erase(std::remove_if(workers.begin(), workers.end(),
                                 [&](const ObservedWorker& worker) { return worker.name == change.name; }),
                  workers.end());
  }
  if (change.kind == Kind::kWorkers || (change.kind == Kind::kCores && workers.size() > 1)) {
    std::stable_sort(workers.begin(), workers.end(),
                     [](const ObservedWorker& a, const ObservedWorker& b) { return a.joined < b.joined; });
    const size_t had = workers.size();
    const double wanted =
        change.kind == Kind::kWorkers ? change.number : change.number * static_cast<double>(had) / run.cores();
    // Those that stayed from the first to the last stand for new ones.
    ObservedWorker like = workers[had / 2];
    like.left = kForever;
    workers.resize(std::min(had, static_cast<size_t>(std::ceil(wanted))));
    while (static_cast<double>(workers.size()) < wanted) workers.push_back(like);
    const double part = wanted - std::floor(wanted);
    if (part > 0) {
      ObservedWorker& last = workers.back();
      last.lanes = std::max(1, static_cast<int>(std::lround(part * last.lanes)));
      last.cores *= part;
    }
  } else if (change.kind == Kind::kCores) {
    ObservedWorker& only = workers.front();
    only.lanes = std::max(1, static_cast<int>(std::lround(change.number * only.lanes / only.cores)));
    only.cores = change.number;
  } else if (change.kind == Kind::kLanes) {
    const double factor = change.number / run.lanes();
    for (ObservedWorker& worker : workers)
      worker.lanes = std::max(1, static_cast<int>(std::lround(factor * worker.lanes)));
  }
  return workers;
}

}  // namespace

std::string RunChange::Text() const {
  switch (kind) {
    case Kind::kNone:
      return "as it was";
    case Kind::kCores:
      return fmt::format("--cores {}", number);
    case Kind::kLanes:
      return fmt::format("--lanes {}", number);
    case Kind::kWorkers:
      return fmt::format("--workers {}", number);
    case Kind::kWithoutWorker:
      return "--without-worker " + name;
    case Kind::kChunkEvents:
      return fmt::format("--chunk-events {}", number);
    case Kind::kLongestFirst:
      return "--order longest";
    case Kind::kFaster:
      return fmt::format("--faster {}={}", name, number);
    case Kind::kWithoutWaiting:
      return "--without-waiting";
    case Kind::kAllFromStart:
      return "--all-from-start";
  }
  return "";
}

absl::StatusOr<ChangedRun> Apply(const ObservedRun& run, const RunChange& change, uint64_t seed) {
  std::vector<ObservedChunk> chunks = run.chunks;
  if (change.kind == Kind::kChunkEvents) {
    absl::StatusOr<std::vector<ObservedChunk>> cut = CutAnew(run, change.number);
    if (!cut.ok()) return cut.status();
    chunks = *std::move(cut);
  }
  if (change.kind == Kind::kWithoutWorker) {
    const auto found = std::find_if(run.workers.begin(), run.workers.end(),
                                    [&](const ObservedWorker& worker) { return worker.name == change.name; });
    if (found == run.workers.end()) return absl::InvalidArgumentError("no worker `" + change.name + "`");
    if (run.workers.size() == 1) return absl::FailedPreconditionError("there is no other worker");
    const absl::Status done = DoneByOthers(run, static_cast<uint32_t>(found - run.workers.begin()), &chunks);
    if (!done.ok()) return done;
  }
  const bool needs_cpu = change.kind == Kind::kWithoutWaiting || change.kind == Kind::kLanes;
  const auto has_cpu = [](const ObservedChunk& chunk) { return chunk.cpu_known; };
  if (needs_cpu && !std::all_of(chunks.begin(), chunks.end(), has_cpu)) {
    return absl::FailedPreconditionError("the CPU time of some chunks is not known");
  }
  chunks = DrawnAnew(run, std::move(chunks), seed);

  ChangedRun changed;
  ReplaySetup& setup = changed.setup;
  const std::vector<ObservedWorker> workers = WorkersFor(run, change);
  for (const ObservedWorker& worker : workers) {
    changed.cores += worker.cores;
    for (int i = 0; i < worker.lanes; ++i) setup.lanes.push_back({worker.joined, worker.left});
  }
  if (change.kind == Kind::kLanes) setup.shared_cores = changed.cores;
  const bool had_a_core_each = run.lanes() <= run.cores();
  for (const ObservedChunk& chunk : chunks) {
    ReplayChunk replayed;
    replayed.phase = chunk.phase;
    replayed.fixed = chunk.duration;
    if (change.kind == Kind::kFaster) replayed.fixed -= chunk.section * (1 - 1 / change.number);
    if (change.kind == Kind::kWithoutWaiting) replayed.fixed = std::min(chunk.duration, chunk.cpu);
    if (change.kind == Kind::kLanes) {
      replayed.cpu = std::min(chunk.cpu, chunk.duration);
      // Where lanes had a core each, what they waited for a CPU was others' work, which stays.
      replayed.fixed = std::max(0.0, chunk.duration - replayed.cpu - (had_a_core_each ? 0 : chunk.cpu_wait));
    }
    setup.chunks.push_back(replayed);
  }
  if (change.kind == Kind::kLongestFirst) {
    std::stable_sort(setup.chunks.begin(), setup.chunks.end(), [](const ReplayChunk& a, const ReplayChunk& b) {
      return a.phase != b.phase ? a.phase < b.phase : a.fixed > b.fixed;
    });
  }
  setup.gaps = run.gaps;
  setup.between = run.between;
  setup.shutdown = run.shutdown;
  return changed;
}

}  // namespace crema
