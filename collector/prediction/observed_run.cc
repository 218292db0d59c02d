#include "collector/prediction/observed_run.h"

#include <queue>
#include <random>
#include <set>

#include "collector/diagnosis/run_head.h"
#include "collector/diagnosis/verdict_families.h"
#include "collector/idioms/sequences.h"
#include "collector/idioms/text.h"

namespace crema {
namespace {

// Chunks of one thread may seem to overlap by so much, because the clock of their times is set: a hundredth of a second
// is a lane, this is none. Of chunks that take less than ten times as long, a tenth.
constexpr double kClockError = 1e-3;

double FreeFrom(const ObservedChunk& chunk) { return chunk.stop() - std::min(kClockError, 0.1 * chunk.duration); }

// Whether a section of this name is further up in the path: its time holds that of this one.
bool IsBelow(std::string_view path, std::string_view name) {
  return fmt::format("/{}", path).find(fmt::format("/{}/", name)) != std::string::npos;
}

std::vector<std::string> InOrder(const std::map<std::string, uint32_t>& names) {
  std::vector<std::string> list(names.size());
  for (const auto& [name, index] : names) list[index] = name;
  return list;
}

// Calls `use(chunk, gap)` for each chunk that follows another on a lane of its worker: the lane that was free last,
// because a thread that has no more work leaves its lane free to the end.
void ForEachGap(const ObservedRun& run, const std::function<void(const ObservedChunk&, double)>& use) {
  std::vector<std::multimap<double, double>> free(run.workers.size());  // stops of chunks, by when their lane is free
  for (const ObservedChunk& chunk : run.chunks) {
    std::multimap<double, double>& lanes = free[chunk.worker];
    if (auto next = lanes.upper_bound(chunk.start); next != lanes.begin()) {
      --next;
      use(chunk, std::max(0.0, chunk.start - next->second));
      lanes.erase(next);
    }
    lanes.emplace(FreeFrom(chunk), chunk.stop());
  }
}

void SetPhases(ObservedRun* run) {
  std::vector<double> gaps;
  ForEachGap(*run, [&gaps](const ObservedChunk&, double gap) { gaps.push_back(gap); });
  const double longest = std::max(kGapsOfABarrier * UpperMedian(gaps), kShareOfABarrier * run->wall_time);
  uint32_t phase = 0;
  double busy_until = run->chunks.front().start;
  for (ObservedChunk& chunk : run->chunks) {
    if (const double pause = chunk.start - busy_until; pause > longest) {  // no lane was busy
      run->between.push_back(pause);
      ++phase;
    }
    busy_until = std::max(busy_until, chunk.stop());
    chunk.phase = phase;
  }
  ForEachGap(*run, [&](const ObservedChunk& chunk, double gap) {
    // the first gaps of a phase hold the pause before it
    double without = gap;
    if (chunk.phase > 0) {
      for (const double pause_before : run->between) {
        if (gap >= pause_before) without = std::min(without, gap - pause_before);
      }
    }
    run->gaps.push_back(without);
  });
}

// How many chunks were open during each, on average: the integral of open chunks, from its start to its stop.
void SetOpen(ObservedRun* run) {
  std::vector<std::tuple<double, int, ObservedChunk*>> moments;  // the chunks that are open more, as one begins or ends
  for (ObservedChunk& chunk : run->chunks) {
    if (chunk.duration <= 0) continue;
    moments.insert(moments.end(), {{chunk.start, 1, &chunk}, {chunk.stop(), -1, &chunk}});
  }
  absl::c_sort(moments);
  double time = 0, integral = 0, open = 0;
  for (const auto& [next, more, chunk] : moments) {
    integral += open * (next - time);
    time = next;
    open += more;
    chunk->open = more > 0 ? integral : (integral - chunk->open) / chunk->duration;
  }
}

// Whether the path is that of the section, or below it. `by_name`: `section` is the last name of a path.
bool IsInSection(std::string_view path, std::string_view section, bool by_name) {
  if (by_name) return LastPart(path) == section || IsBelow(path, section);
  return fmt::format("{}/", path).rfind(fmt::format("{}/", section), 0) == 0;
}

void SetSectionOnGpu(const Measurement& measurement, const std::string& section, ObservedRun* run) {
  run->has_uncounted_gpu = UsesUncountedGpu(measurement);
  if (section.empty()) return;
  const std::vector<SectionRow>& rows = measurement.sections;
  const bool by_name = absl::c_none_of(rows, [&](const SectionRow& row) { return row.path == section; });
  double all = 0, waiting = 0, work = 0, blocked = 0, anywhere = 0;
  for (const SectionRow& row : rows) {
    const std::string path = row.path.str();
    if (!IsInSection(path, section, by_name)) continue;
    const bool is_outermost = by_name ? !IsBelow(path, section) : path == section;
    if (is_outermost && !row.helper.value_or(false)) all += row.total.value_or(0);
    waiting += row.gpu_wait_seconds.value_or(0);
    work += row.gpu_seconds.value_or(0) + row.gpu_copy_seconds.value_or(0);
  }
  for (const WaitSumRow& row : measurement.waits) {
    const bool is_inside = IsInSection(row.section.str(), section, by_name);
    if (is_inside || !IsKnownWait(row.kind.str())) (is_inside ? blocked : anywhere) += row.seconds.value_or(0);
  }
  const double waits = SumOf<double>(measurement.waits, [](const auto& row) { return row.seconds.value_or(0); });
  if (waits > 0) run->blocked_anywhere = anywhere / waits;
  if (all > 0) run->section_on_gpu = {std::min(1.0, waiting / all), work / all, std::min(1.0, blocked / all)};
}

// Lanes, and when they were there.
void SetWorkers(const Measurement& measurement, ObservedRun* run) {
  std::vector<std::priority_queue<double, std::vector<double>, std::greater<>>> busy(run->workers.size());
  double last_start = 0;
  for (const ObservedChunk& chunk : run->chunks) {
    ObservedWorker& worker = run->workers[chunk.worker];
    worker.joined = std::min(worker.joined, chunk.start);
    last_start = std::max(last_start, chunk.start);
    auto& lanes = busy[chunk.worker];
    while (!lanes.empty() && lanes.top() <= chunk.start) lanes.pop();
    if (FreeFrom(chunk) > chunk.start) lanes.push(FreeFrom(chunk));
    worker.lanes = std::max(worker.lanes, static_cast<int>(lanes.size()));
  }
  std::map<std::string_view, ObservedWorker*> named;
  for (ObservedWorker& worker : run->workers) {
    worker.cores = worker.lanes;
    worker.left = kForever;
    worker.began = worker.joined;
    named[worker.name] = &worker;
  }
  for (const WorkerRow& row : measurement.workers) {
    for (const std::string& name : std::set<std::string>{row.name.str(), row.process.str()}) {
      const auto found = named.find(name);
      if (found == named.end()) continue;
      ObservedWorker& worker = *found->second;
      if (row.cores.value_or(0) > 0) worker.cores = *row.cores;
      worker.began = std::clamp(row.start.value_or(worker.joined), 0.0, worker.joined);
      const double stop = row.stop.value_or(kForever);
      worker.after = std::max(0.0, run->wall_time - stop);
      // It left while there was work to begin. One that ended when nothing was left to begin would have stayed for it.
      if (stop < last_start - kShareOfABarrier * run->wall_time) worker.left = stop;
    }
  }
}

using Free = std::pair<double, size_t>;  // since when, lane
using Lanes = std::priority_queue<Free, std::vector<Free>, std::greater<>>;

// Chunks in work, for the case that lanes share cores. They need a core for the same part of their time, so all do as
// much at once. Seconds are those of a chunk with a core of its own.
struct Group {
  double cpu_share = 0;  ///< of a second; on average over the `taken` chunks
  double taken = 0;
  double needed = 0;   ///< cores, of all
  double stretch = 1;  ///< what a second takes now
  double done = 0;     ///< by each chunk, since there was none
  Lanes chunks;        ///< what `done` is at their end
};

// Sets how much longer a second of each group takes, so that all together need no more than the cores: the root of a
// convex function, by Newton's method. `stretch`: of the CPU parts, 1 or what it was before. Returns the passes.
size_t Stretch(const std::vector<Group*>& groups, double cores, double* stretch) {
  for (size_t passes = 1;; ++passes) {
    double demand = 0, slope = std::numeric_limits<double>::min();
    for (Group* group : groups) {
      group->stretch = 1 - group->cpu_share + group->cpu_share * *stretch;
      const double used = group->needed / group->stretch;
      demand += used;
      slope += used * group->cpu_share / group->stretch;
    }
    const double next = std::max(1.0, *stretch + (demand - cores) / slope);
    if (std::abs(next - *stretch) <= 1e-12 * next || passes == 100) return passes;  // else rounding goes on
    *stretch = next;
  }
}

class Replayer {
 public:
  Replayer(const ReplaySetup& setup, uint64_t seed) : setup_(setup), random_(seed) {
    for (size_t i = 0; i < setup.lanes.size(); ++i) free_.emplace(setup.lanes[i].from, i);
    used_.resize(setup.lanes.size(), false);
  }

  ReplayResult Run() {
    result_.finished = RunTo(setup_.chunks.size());
    result_.wall_time = last_stop_ + setup_.shutdown;
    for (const ReplayLane& lane : setup_.lanes) {
      result_.lane_seconds += std::max(0.0, std::min(lane.until, result_.wall_time) - lane.from);
    }
    return result_;
  }

  // The chunks before that one; where lanes share cores, it has to be the first of a phase. False: all lanes had left.
  bool RunTo(size_t stop) {
    while (next_ < stop) {
      const uint32_t phase = setup_.chunks[next_].phase;
      if (phase != phase_) phase_begin_ = last_stop_ + (phase <= setup_.between.size() ? setup_.between[phase - 1] : 0);
      phase_ = phase;
      size_t end = next_;
      while (end < stop && setup_.chunks[end].phase == phase) ++end;
      const auto run = setup_.shared_cores > 0 ? &Replayer::RunShared : &Replayer::RunFree;
      if (!(this->*run)(next_, end, phase_begin_)) return false;
      next_ = end;
    }
    return true;
  }

  // As if what was replayed so far had taken so many lane-seconds more; goes on with another seed.
  void GoOn(double longer, uint64_t seed) {
    const double later = longer / static_cast<double>(std::max<size_t>(1, setup_.lanes.size()));
    std::vector<Free> lanes;
    for (; !free_.empty(); free_.pop()) lanes.emplace_back(free_.top().first + later, free_.top().second);
    free_ = Lanes(std::greater<>(), std::move(lanes));
    last_stop_ += later;
    result_.busy += longer;
    random_.seed(seed);
  }

 private:
  double Gap(size_t lane) {
    if (!used_[lane] || setup_.gaps.empty()) {
      used_[lane] = true;
      return 0;
    }
    return setup_.gaps[random_() % setup_.gaps.size()];
  }

  // The lane that is free first, and from when; false: there is none any more.
  bool TakeLane(double not_before, Free* taken) {
    while (!free_.empty()) {
      const Free lane = free_.top();
      free_.pop();
      const double at = std::max(lane.first, not_before);
      if (at >= setup_.lanes[lane.second].until) continue;
      *taken = {at, lane.second};
      return true;
    }
    return false;
  }

  bool RunFree(size_t next, size_t end, double begin) {
    for (; next < end; ++next) {
      Free lane;
      if (!TakeLane(begin, &lane)) return false;
      const double duration = setup_.chunks[next].fixed + setup_.chunks[next].cpu;
      const double stop = lane.first + Gap(lane.second) + duration;
      result_.busy += duration;
      last_stop_ = std::max(last_stop_, stop);
      free_.emplace(stop, lane.second);
    }
    return true;
  }

  // Progress changes whenever a chunk begins or ends; time goes from one such moment to the next. Each lane is a group.
  // With many lanes, chunks whose ratio of CPU to other time differs by less than 10 % share a group.
  bool RunShared(size_t next, size_t end, double begin) {
    constexpr size_t kGroups = 256;
    const bool is_exact = setup_.lanes.size() <= setup_.most_exact_lanes;
    std::vector<Group> groups(is_exact ? setup_.lanes.size() : kGroups);
    std::vector<Group*> working;
    std::vector<double> needed(setup_.lanes.size());  // cores, by the chunk of each
    double now = begin, stretch = 1;
    Free waiting(kForever, 0);  // the lane that takes the next chunk, from when on; kForever: none
    while (next < end || !working.empty()) {
      if (next < end && waiting.first == kForever && TakeLane(begin, &waiting)) waiting.first += Gap(waiting.second);
      if (waiting.first == kForever && working.empty()) return false;
      size_t first = working.size();  // in which a chunk ends
      double step = std::max(0.0, waiting.first - now);
      for (size_t i = 0; i < working.size(); ++i) {
        const double left = (working[i]->chunks.top().first - working[i]->done) * working[i]->stretch;
        if (left >= step) continue;
        step = left;
        first = i;
      }
      for (Group* group : working) {
        group->done += step / group->stretch;
        result_.busy += step * static_cast<double>(group->chunks.size());
      }
      now += step;
      if (first < working.size()) {
        Group& group = *working[first];
        last_stop_ = std::max(last_stop_, now);
        free_.emplace(now, group.chunks.top().second);
        group.needed -= needed[group.chunks.top().second];
        group.chunks.pop();
        if (group.chunks.empty()) {
          group = Group();
          working[first] = working.back();
          working.pop_back();
        }
        // a lane that is free now may come before the one that was to take the next chunk
        if (waiting.first > now && waiting.first < kForever) {
          free_.emplace(waiting);
          used_[waiting.second] = false;  // its gap is in the time already
          waiting.first = kForever;
        }
      } else {
        const ReplayChunk& chunk = setup_.chunks[next++];
        const double whole = std::max(1e-12, chunk.fixed + chunk.cpu), share = std::min(1.0, chunk.cpu / whole);
        const double part = std::clamp(share, 1e-5, 1 - 1e-5);
        Group& group = groups[is_exact ? waiting.second : kGroups / 2 + std::lround(11 * std::log(part / (1 - part)))];
        if (group.chunks.empty()) working.push_back(&group);
        group.cpu_share += (share - group.cpu_share) / ++group.taken;
        group.needed += needed[waiting.second] = chunk.cores * share;
        group.chunks.emplace(group.done + whole, waiting.second);
        waiting.first = kForever;
      }
      result_.steps += (2 + Stretch(working, setup_.shared_cores, &stretch)) * working.size();
    }
    return true;
  }

  const ReplaySetup& setup_;
  std::mt19937_64 random_;
  Lanes free_;
  std::vector<bool> used_;
  size_t next_ = 0;
  uint32_t phase_ = 0;
  double phase_begin_ = 0;
  double last_stop_ = 0;
  ReplayResult result_;
};

uint32_t IndexOf(const std::string& name, std::map<std::string, uint32_t>* names) {
  return names->try_emplace(name, static_cast<uint32_t>(names->size())).first->second;
}

// Its time, and of that the CPU time.
std::pair<double, double> SectionSeconds(const ChunkFact& chunk, std::string_view name) {
  std::pair<double, double> exact, by_name;
  bool is_exact = false;
  for (const SectionFact& row : chunk.sections) {
    if (row.helper || name.empty()) continue;
    if (row.path != name && (LastPart(row.path) != name || IsBelow(row.path, name))) continue;
    is_exact = is_exact || row.path == name;
    auto& [seconds, cpu] = row.path == name ? exact : by_name;
    seconds += row.total_ns / 1e9;
    cpu += row.cpu_ns.value_or(0) / 1e9;
  }
  return is_exact ? exact : by_name;
}

}  // namespace

int ObservedRun::lanes() const { return SumOf<int>(workers, &ObservedWorker::lanes); }

double ObservedRun::cores() const {
  if (events.count > 0) return events.cores;
  return SumOf<double>(workers, &ObservedWorker::cores);
}

void RunObserver::Add(const Attempt& attempt) {
  ++begun_;
  const ChunkFact& fact = attempt.chunk;
  if (!attempt.has_ended() || fact.is_detached) return;  // of events, all are summed (`EventsOf`)
  if (!zero_ns_.has_value()) zero_ns_ = fact.start_ns;
  ObservedChunk chunk;
  chunk.start = (fact.start_ns - *zero_ns_) / 1e9;
  chunk.duration = std::max<int64_t>(0, fact.stop_ns - fact.start_ns) / 1e9;
  chunk.cpu_known = fact.cpu_ns.has_value();
  const double own_cpu = std::min(chunk.duration, fact.cpu_ns.value_or(0) / 1e9);
  double others_cpu = 0;
  for (const auto& cpu_ns : {fact.helper_cpu_ns, fact.unannounced_cpu_ns, fact.children_cpu_ns}) {
    others_cpu += cpu_ns.value_or(0) / 1e9;
  }
  chunk.cpu = own_cpu + others_cpu;
  chunk.cpu_wait = std::min(chunk.duration - own_cpu, fact.cpu_wait_ns.value_or(0) / 1e9);
  if (fact.events.has_value()) chunk.events = static_cast<double>(*fact.events);
  std::tie(chunk.section, chunk.section_cpu) = SectionSeconds(fact, section_);
  chunk.section = std::min(chunk.duration, chunk.section);
  if (attempt.gpu.has_value()) {
    chunk.gpu_wait = std::min(chunk.duration, attempt.gpu->wait_ns / 1e9);
    chunk.gpu_spin = std::min(chunk.gpu_wait, attempt.gpu->wait_cpu_ns.value_or(0) / 1e9);
  }
  chunk.worker = IndexOf(attempt.process.worker, &workers_);
  std::string dataset(fact.input.dataset);  // another pass does other work
  if (!fact.input.pass.empty()) dataset.append(dataset.empty() ? "" : ", ").append(fact.input.pass);
  chunk.dataset = IndexOf(dataset, &datasets_);
  chunk.file = IndexOf(dataset + '\n' + std::string(fact.input.file), &files_);
  chunks_.push_back(chunk);
}

ObservedRun RunObserver::Finish(const Measurement& measurement) {
  ObservedRun run;
  const StateInWords state = StateOf(measurement);
  if (state.ending == RunEnding::kKilled || state.ending == RunEnding::kFailed)
    run.broke_off = "The run ended with a fault (" + state.text + "): what would have come then is not in the times. ";
  run.datasets = InOrder(datasets_);
  for (const std::string& name : InOrder(workers_)) run.workers.push_back({name, 0, 0, kForever});
  const double summed = measurement.quality.summed_chunks.value_or(0);
  const double all = static_cast<double>(begun_) + summed;
  run.coverage = all > 0 ? static_cast<double>(chunks_.size()) / all : 0;
  const std::optional<double> wall_time = measurement.Metric("wall_time");
  const Number& start_ns = measurement.run.start_ns;
  if (wall_time.has_value()) run.events = EventsOf(measurement);
  if (run.events.count > 0) {
    run.wall_time = *wall_time;
    if (!chunks_.empty()) run.why_not = "it has chunks of threads beside its events, and they share the cores";
    return run;
  }
  if (chunks_.empty() || !wall_time.has_value() || !start_ns.is_integer()) {
    run.why_not = chunks_.empty() ? "no chunk of it ended" : "its wall time is not known";
    return run;
  }
  run.wall_time = *wall_time;
  const double shift = (*zero_ns_ - start_ns.integer()) / 1e9;
  run.chunks = std::move(chunks_);
  for (ObservedChunk& chunk : run.chunks) chunk.start += shift;
  SortBy(&run.chunks, &ObservedChunk::start);
  double last_stop = 0;
  for (const ObservedChunk& chunk : run.chunks) last_stop = std::max(last_stop, chunk.stop());
  run.shutdown = std::max(0.0, run.wall_time - last_stop);
  SetWorkers(measurement, &run);
  SetPhases(&run);
  SetOpen(&run);
  for (const ContentionRow& row : measurement.contention) {
    if (const double low = row.slope_low.value_or(0); low > 0)
      run.blocked_by_lanes = {row.slope.value_or(0), low, row.slope_high.value_or(0)};
  }
  SetSectionOnGpu(measurement, section_, &run);
  run.common_waits = WaitsInCommon(measurement);
  run.without_cpu = ShareWithoutCpu(measurement);
  const double waited = SumOf<double>(run.chunks, &ObservedChunk::cpu_wait);
  const double ready = waited + SumOf<double>(run.chunks, &ObservedChunk::cpu);
  if (waited > 0) run.cpu_wait_of_others = std::min(1.0, run.without_cpu * ready / waited);
  run.is_short_of_cpu = kShortOfCpu.Holds(run.without_cpu) &&
                        kWaitForOthersMatters.Holds(waited / SumOf<double>(run.chunks, &ObservedChunk::duration));
  return run;
}

ReplayResult Replay(const ReplaySetup& setup, uint64_t seed) { return Replayer(setup, seed).Run(); }

std::vector<ReplayResult> ReplayLate(const ReplaySetup& setup, size_t first, uint64_t draws,
                                     const std::function<double(uint64_t)>& draw) {
  std::vector<ReplayResult> results;
  Replayer early(setup, 1);
  if (!early.RunTo(first)) return results;
  for (uint64_t seed = 2; seed < draws + 2; ++seed) {
    const double longer = draw(seed);
    Replayer late = early;
    late.GoOn(longer, seed);
    results.push_back(late.Run());
  }
  return results;
}

}  // namespace crema
