#include "collector/metrics/budget/budget.h"

#include "collector/measurement/budget_parts.h"

namespace crema {

ProcessCpu::ProcessCpu(const ProcessRow& process, Quantity quantity) {
  std::vector<CpuReading> all;
  const bool is_cpu = quantity == Quantity::kCpu;
  for (const CpuReading& reading : process.cpu_readings) {
    if (is_cpu) all.push_back(reading);
    if (!is_cpu && reading.run_delay_ns.has_value()) all.push_back({reading.time_ns, *reading.run_delay_ns, {}});
  }
  for (const ProcessSample& sample : process.samples) {
    const std::optional<int64_t>& sum_ns = is_cpu ? sample.cpu_ns : sample.run_delay_ns;
    if (sum_ns.has_value()) all.push_back({sample.time_ns, *sum_ns, {}});
  }
  SortBy(&all, [](const CpuReading& reading) { return std::pair(reading.time_ns, reading.cpu_ns); });
  // The only time of a process that stays on its own clock.
  if (process.start_ns > 0) readings_.push_back({process.start_ns + process.clock_offset_ns.value_or(0), 0});
  for (const CpuReading& reading : all) {
    if (!readings_.empty() && reading.time_ns <= readings_.back().time_ns) continue;
    const int64_t before_ns = readings_.empty() ? 0 : readings_.back().cpu_ns;
    readings_.push_back({reading.time_ns, std::max(before_ns, reading.cpu_ns)});
  }
}

size_t ProcessCpu::ReadingBefore(int64_t time_ns) {
  if (readings_.empty() || time_ns < readings_.front().time_ns) return readings_.size();
  while (hint_ > 0 && readings_[hint_].time_ns > time_ns) --hint_;
  while (hint_ + 1 < readings_.size() && readings_[hint_ + 1].time_ns <= time_ns) ++hint_;
  return hint_;
}

void ProcessCpu::AddChunk(int64_t start_ns, int64_t stop_ns, int64_t cpu_ns) {
  const size_t begun = ReadingBefore(start_ns);
  if (begun < readings_.size()) readings_[begun].chunk_cpu_ns += cpu_ns;
  const size_t ended = ReadingBefore(stop_ns - 1);
  if (ended >= readings_.size()) return;
  const size_t first_inside = begun < readings_.size() ? begun + 1 : 0;
  if (first_inside > ended) return;
  // A chunk that begins or ends at a reading is not open there.
  ++readings_[first_inside].opened;
  if (ended + 1 < readings_.size()) --readings_[ended + 1].opened;
}

void ProcessCpu::AddUnknown(int64_t start_ns, int64_t stop_ns) {
  size_t at = ReadingBefore(start_ns);
  if (at >= readings_.size()) at = 0;
  for (; at + 1 < readings_.size() && readings_[at].time_ns < stop_ns; ++at) {
    const int64_t from_ns = std::max(start_ns, readings_[at].time_ns);
    const int64_t to_ns = std::min(stop_ns, readings_[at + 1].time_ns);
    if (from_ns < to_ns) readings_[at].unknown_ns += to_ns - from_ns;
  }
}

std::vector<OutsideCpu> ProcessCpu::Find() const {
  std::vector<OutsideCpu> stretches;
  std::optional<OutsideCpu> stretch;  // since the last reading without an open chunk
  int64_t open = 0;
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (stretch.has_value()) {
      const Reading& last = readings_[i - 1];
      const int64_t rise_ns = readings_[i].cpu_ns - last.cpu_ns;
      stretch->cpu_ns += rise_ns - last.chunk_cpu_ns - last.unknown_ns;
      if (rise_ns > 0) stretch->pieces.push_back({last.time_ns, readings_[i].time_ns, rise_ns});
    }
    open += readings_[i].opened;
    if (open != 0) continue;
    if (stretch.has_value() && stretch->cpu_ns > 0) stretches.push_back(*std::exchange(stretch, std::nullopt));
    stretch.emplace();
  }
  return stretches;
}

FreeParts& FreeParts::operator+=(const FreeParts& other) {
  free += other.free;
  process_cpu += other.process_cpu;
  cpu_wait += other.cpu_wait;
  joined += other.joined;
  framework += other.framework;
  oversubscribed += other.oversubscribed;
  process_cpu_known = process_cpu_known || other.process_cpu_known;
  return *this;
}

LaneTimeSum FreeParts::FillWithSpread(LaneTimeSum spread) {
  const LaneTimeSum of_idle = std::min({free.idle, spread, oversubscribed});
  const LaneTimeSum of_tail = std::min({free.tail, spread - of_idle, oversubscribed - of_idle});
  free.idle -= of_idle;
  free.tail -= of_tail;
  oversubscribed -= of_idle + of_tail;
  return of_idle;
}

void FreeParts::MoveToJoined(LaneTimeSum joined_ns) {
  LaneTimeSum rest = joined_ns * kOneLane;
  for (const auto part : {&FreeTime::idle, &FreeTime::tail}) {
    const LaneTimeSum moved = std::min(free.*part, rest);
    free.*part -= moved;
    joined += moved;
    rest -= moved;
  }
}

void FreeParts::MoveToFramework(int64_t outside_tasks_ns) {
  const LaneTimeSum moved = std::min(free.idle + process_cpu.idle, LaneTimeSum{outside_tasks_ns} * kOneLane);
  const LaneTimeSum of_cpu = std::min(process_cpu.idle, moved);
  process_cpu.idle -= of_cpu;
  free.idle -= moved - of_cpu;
  framework += moved;
}

FreeByStretch::FreeByStretch(std::vector<OutsideCpu> cpu, std::vector<OutsideCpu> wait, const RunWindow& life)
    : cpu_(std::move(cpu)), wait_(std::move(wait)), life_(life) {
  for (const auto* stretches : {&cpu_, &wait_}) {
    for (const OutsideCpu& stretch : *stretches) {
      for (const OutsideCpu::Piece& piece : stretch.pieces) {
        boundaries_ns_.push_back(life_.Clip(piece.start_ns));
        boundaries_ns_.push_back(life_.Clip(piece.stop_ns));
      }
    }
  }
  absl::c_sort(boundaries_ns_);
  boundaries_ns_.erase(std::unique(boundaries_ns_.begin(), boundaries_ns_.end()), boundaries_ns_.end());
  free_.resize(boundaries_ns_.size() + 1);
}

FreeTime& FreeByStretch::At(int64_t time_ns) {
  while (at_ < boundaries_ns_.size() && boundaries_ns_[at_] <= time_ns) ++at_;
  return free_[at_];
}

FreeTime FreeByStretch::Take(const std::vector<OutsideCpu>& stretches) {
  FreeTime taken_of;
  const auto after = [this](int64_t boundary_ns) {
    return absl::c_upper_bound(boundaries_ns_, life_.Clip(boundary_ns)) - boundaries_ns_.begin();
  };
  for (const OutsideCpu& stretch : stretches) {
    struct Place {
      absl::Span<FreeTime> free;
      LaneTimeSum whole = 0;
      LaneTimeSum most = 0;
    };
    std::vector<Place> places;
    LaneTimeSum all_ns = 0, inside_ns = 0, most = 0;
    for (const OutsideCpu::Piece& piece : stretch.pieces) {
      const int64_t life_ns = life_.Clip(piece.stop_ns) - life_.Clip(piece.start_ns);
      const LaneTimeSum most_ns = LaneTimeSum{piece.most_ns} * life_ns / (piece.stop_ns - piece.start_ns);
      all_ns += piece.most_ns;
      inside_ns += most_ns;
      const size_t begin = after(piece.start_ns);
      Place& place = places.emplace_back(Place{absl::MakeSpan(free_).subspan(begin, after(piece.stop_ns) - begin)});
      for (const FreeTime& free : place.free) place.whole += free.sum();
      place.most = std::min(place.whole, most_ns * kOneLane);
      most += place.most;
    }
    const LaneTimeSum taken = std::min(most, stretch.cpu_ns * inside_ns / all_ns * kOneLane);
    if (taken <= 0) continue;
    for (const Place& place : places) {
      if (place.most == 0) continue;
      const long double share = static_cast<long double>(taken) / static_cast<long double>(most) *
                                static_cast<long double>(place.most) / static_cast<long double>(place.whole);
      for (FreeTime& free : place.free) {
        for (const auto part : FreeTime::kParts) {
          const auto rounded = static_cast<LaneTimeSum>(static_cast<long double>(free.*part) * share);
          const LaneTimeSum of_part = std::min(free.*part, rounded);
          free.*part -= of_part;
          taken_of.*part += of_part;
        }
      }
    }
  }
  return taken_of;
}

FreeParts FreeByStretch::Split() {
  FreeParts parts;
  parts.process_cpu = Take(cpu_);
  parts.cpu_wait = Take(wait_).sum();
  for (const FreeTime& free : free_) parts.free += free;
  return parts;
}

namespace {

/// Lane nanoseconds x `kOneLane`.
struct LaneParts {
  LaneTimeSum compute = 0;
  LaneTimeSum cpu_wait = 0;
  LaneTimeSum blocked = 0;
  LaneTimeSum failed = 0;
  LaneTimeSum failed_wait = 0;  ///< of it, without CPU
  LaneTimeSum unmeasured = 0;
  bool wait_known = true;

  // Parts of tasks.
  LaneTimeSum outside_chunk = 0;
  LaneTimeSum framework = 0;
  LaneTimeSum unrecorded = 0;      ///< of workers without records, which have no attempts; without the next
  LaneTimeSum unrecorded_cpu = 0;  ///< of theirs, CPU that their batch system counted

  void Add(const LaneTime& lane) {
    compute += LaneTimeSum{lane.compute_ns} * kOneLane;
    cpu_wait += LaneTimeSum{lane.cpu_wait_ns} * kOneLane;
    blocked += LaneTimeSum{lane.blocked_ns} * kOneLane;
    failed += LaneTimeSum{lane.failed_ns} * kOneLane;
    failed_wait += LaneTimeSum{lane.failed_wait_ns} * kOneLane;
    unmeasured += LaneTimeSum{lane.unmeasured_ns} * kOneLane;
    wait_known = wait_known && lane.wait_known;
  }
  LaneParts& operator+=(const LaneParts& other) {
    for (LaneTimeSum LaneParts::*part :
         {&LaneParts::compute, &LaneParts::cpu_wait, &LaneParts::blocked, &LaneParts::failed, &LaneParts::failed_wait,
          &LaneParts::unmeasured, &LaneParts::outside_chunk, &LaneParts::framework, &LaneParts::unrecorded,
          &LaneParts::unrecorded_cpu}) {
      this->*part += other.*part;
    }
    wait_known = wait_known && other.wait_known;
    return *this;
  }
  /// The parts that attempts have.
  LaneTimeSum of_attempts() const { return compute + cpu_wait + blocked + failed + unmeasured; }
  /// Leaves to lanes the cores that there were: what they occupied `beyond` these comes off the time in which they
  /// waited, in proportion; what that does not have, off the other parts, and off CPU last.
  void TakeOff(LaneTimeSum beyond) {
    const auto take = [&beyond](std::initializer_list<LaneTimeSum*> parts) {
      LaneTimeSum whole = 0;
      for (const LaneTimeSum* part : parts) whole += *part;
      LaneTimeSum taken = std::min(whole, beyond);
      if (taken <= 0) return;
      const long double share = static_cast<long double>(taken) / static_cast<long double>(whole);
      beyond -= taken;
      for (LaneTimeSum* part : parts) {
        whole -= *part;
        const auto of_part = static_cast<LaneTimeSum>(static_cast<long double>(*part) * share);
        // What rounding leaves of one is in the next.
        const LaneTimeSum from_part =
            std::clamp(of_part, std::max(LaneTimeSum{0}, taken - whole), std::min(*part, taken));
        *part -= from_part;
        taken -= from_part;
      }
    };
    failed -= failed_wait;
    take({&cpu_wait, &blocked, &failed_wait});
    failed += failed_wait;
    take({&failed, &unmeasured});
    take({&outside_chunk, &framework});
    take({&compute, &unrecorded});
  }
};

struct BudgetTotals {
  LaneParts lanes;
  FreeParts rest;
  LaneTimeSum unused_by_tasks = 0;        ///< lane nanoseconds x `kOneLane`
  bool tasks_have_several_cores = false;  ///< else there is no `unused_by_tasks`
  // While chunks ran, until the tail.
  LaneTimeSum occupied = 0;   ///< cores that lanes had
  LaneTimeSum available = 0;  ///< cores
};

void SetShares(std::vector<BudgetRow>* rows) {
  const double sum = SumOf<double>(*rows, [](const BudgetRow& row) { return *row.core_seconds; });
  if (sum <= 0) return;
  for (BudgetRow& row : *rows) row.share = *row.core_seconds / sum;
}

/// As `Budget::rows` has them.
std::vector<BudgetRow> MakeRows(const BudgetTotals& totals) {
  const LaneParts& lanes = totals.lanes;
  const FreeParts& rest = totals.rest;
  std::vector<BudgetRow> rows;
  const auto add = [&rows](std::string_view part, double core_seconds) {
    rows.push_back({part, FindBudgetPart(part)->group, core_seconds, std::nullopt});
  };
  add("compute", LaneSeconds(lanes.compute));
  if (lanes.wait_known) {
    add("cpu_wait", LaneSeconds(lanes.cpu_wait));
    add("blocked", LaneSeconds(lanes.blocked));
  } else {
    add("waiting", LaneSeconds(lanes.cpu_wait + lanes.blocked));
  }
  add("outside_chunk", LaneSeconds(lanes.outside_chunk));
  if (rest.process_cpu_known) add("process_cpu", LaneSeconds(rest.process_cpu.sum()));
  if (rest.cpu_wait > 0) add("process_cpu_wait", LaneSeconds(rest.cpu_wait));
  add("framework", LaneSeconds(lanes.framework + rest.framework));
  add("failed", LaneSeconds(lanes.failed));
  add("joined", LaneSeconds(rest.joined));
  if (totals.tasks_have_several_cores) add("unused_by_tasks", LaneSeconds(totals.unused_by_tasks));
  add("startup", LaneSeconds(rest.free.startup));
  add("idle", LaneSeconds(rest.free.idle));
  add("tail", LaneSeconds(rest.free.tail));
  add("shutdown", LaneSeconds(rest.free.shutdown));
  if (lanes.unrecorded_cpu > 0) add("unmeasured_cpu", LaneSeconds(lanes.unrecorded_cpu));
  const double unmeasured = LaneSeconds(lanes.unmeasured + lanes.unrecorded);
  if (unmeasured > 0) add("unmeasured", unmeasured);
  SetShares(&rows);
  return rows;
}

using Int128 = LaneTimeSum;

// Fractions of lanes are rounded, so "at least" and "beyond" are meant to this much: 2^-30 lanes.
constexpr int64_t kLaneTolerance = kOneLane >> 30;
constexpr size_t kNoWorker = static_cast<size_t>(-1);

/// The instants that decide which part free time belongs to.
struct Milestones {
  int64_t first_begin_ns = kNever;  ///< of any attempt, in the run
  int64_t last_stop_ns = kNever;    ///< of the ended attempts, in the run; kNever: none ended
  int64_t tail_start_ns = kNever;   ///< T; kNever: 90 % were never occupied
};

/// What the budget is made from.
struct Facts {
  const AttemptRows& attempts;
  const std::vector<ProcessRow>& processes;
  const std::vector<HelperTimes>& helpers;
  const std::vector<WorkerLife>& workers;
  const RunWindow& run;
  const EngineTime& engine;
  const std::vector<SummedAttempts>& summed;
  std::vector<size_t> worker_of_process = {};
  std::vector<AttemptRows::Ranges> rows_of_process = {};
  std::vector<std::vector<uint32_t>> summed_of_worker = {};
  std::vector<std::vector<uint32_t>> stretches_of_worker = {};
  std::vector<std::vector<uint32_t>> cores_of_worker = {};  ///< by worker: tasks, where any has several cores
  std::vector<SummedLanes> lanes_of_sums = {};              ///< by worker

  LaneTime LaneOf(const AttemptRow& attempt) const {
    return SplitLaneTime(attempt, IntervalOf(attempt, processes), helpers, run);
  }
  const AttemptRows::Ranges& RowsOf(size_t worker) const { return rows_of_process[workers[worker].process]; }
};

/// A task's lane without its chunk, which may have been summed.
void AddStretch(const TaskStretch& stretch, const RunWindow& run, const SummedLanes& sums, Changes& changes) {
  const RunWindow whole = {run.Clip(stretch.start_ns), run.Clip(stretch.stop_ns)};
  const RunWindow inside = {sums.window.Clip(whole.start_ns), sums.window.Clip(whole.stop_ns)};
  if (stretch.around_chunk || sums.task_share == kOneLane || inside.start_ns >= inside.stop_ns) {
    return AddLanes(whole.start_ns, whole.stop_ns, kOneLane, changes);
  }
  AddLanes(whole.start_ns, inside.start_ns, kOneLane, changes);
  AddLanes(inside.start_ns, inside.stop_ns, sums.task_share, changes);
  AddLanes(inside.stop_ns, whole.stop_ns, kOneLane, changes);
}

/// The last moment from `from_ns` to `last_stop_ns` at which 90 % of the live cores were occupied, or held by tasks, or
/// may have been occupied by attempts that were summed; else kNever.
int64_t FindTailStart(const Facts& facts, int64_t from_ns, int64_t last_stop_ns) {
  const RunWindow window = {from_ns, last_stop_ns};
  Changes changes;
  facts.attempts.ForEachOpenAfter(from_ns, [&](const AttemptRow& attempt) {
    if (HasEnded(attempt) && attempt.stop_ns() <= from_ns) return;
    const LaneTime lane = facts.LaneOf(attempt);
    AddLanes(window.Clip(lane.inside.start_ns), window.Clip(lane.inside.stop_ns), lane.lanes, changes);
  });
  for (size_t i = 0; i < facts.workers.size(); ++i) {
    const SummedLanes& sums = facts.lanes_of_sums[i];
    for (uint32_t index : facts.stretches_of_worker[i]) {
      AddStretch(facts.engine.stretches[index], window, sums, changes);
    }
    for (const LaneSegment& segment : sums.segments) {
      const int64_t most = std::max(segment.lanes, segment.free);
      AddLanes(window.Clip(segment.start_ns), window.Clip(segment.stop_ns), most, changes);
    }
    const WorkerLife& worker = facts.workers[i];
    AddCores(window.Clip(worker.start_ns), window.Clip(worker.stop_ns), worker.cores, changes);
  }
  HeldCores held;
  for (const TaskCores& task : facts.engine.cores_of_tasks) held.Add(task, window);
  held.AddBoundaries(changes);
  int64_t tail_start_ns = kNever;
  Sweep(changes, [&](int64_t now_ns, int64_t to_ns, int64_t lanes, int64_t cores) {
    const int64_t taken = std::max(lanes, held.At(now_ns));
    const bool full = Int128{taken + kLaneTolerance} * 10 >= Int128{cores} * 9;
    if (cores > 0 && full) tail_start_ns = to_ns;
  });
  return tail_start_ns;
}

Milestones FindMilestones(const Facts& facts) {
  Milestones milestones;
  bool ended = false;
  int64_t last_stop_ns = facts.run.start_ns;
  for (const AttemptRow& attempt : facts.attempts) {
    milestones.first_begin_ns = std::min(milestones.first_begin_ns, facts.run.Clip(attempt.start_ns));
    if (!HasEnded(attempt)) continue;
    ended = true;
    last_stop_ns = std::max(last_stop_ns, facts.run.Clip(attempt.stop_ns()));
  }
  for (const SummedAttempts& summed : facts.summed) {
    ended = true;
    milestones.first_begin_ns = std::min(milestones.first_begin_ns, facts.run.Clip(summed.row.start_ns));
    last_stop_ns = std::max(last_stop_ns, facts.run.Clip(summed.stop_ns));
  }
  if (!ended) return milestones;
  milestones.last_stop_ns = last_stop_ns;
  // T is near the end as a rule: look at the last 64th of the run first, then further back.
  for (int64_t back = 64; back >= 1 && milestones.tail_start_ns == kNever; back /= 8) {
    const int64_t from_ns = last_stop_ns - (last_stop_ns - facts.run.start_ns) / back;
    milestones.tail_start_ns = FindTailStart(facts, from_ns, last_stop_ns);
  }
  for (const SummedLanes& sums : facts.lanes_of_sums) {
    const bool is_among_sums = milestones.tail_start_ns > sums.window.start_ns &&
                               milestones.tail_start_ns <= sums.window.stop_ns && !sums.segments.empty();
    if (is_among_sums) milestones.tail_start_ns = kNever;  // nobody knows then
  }
  return milestones;
}

/// By worker: the indices of the rows that are of its process.
template <class Row, class ProcessOf>
std::vector<std::vector<uint32_t>> RowsOfWorkers(const Facts& facts, const std::vector<Row>& rows,
                                                 const ProcessOf& process_of) {
  std::vector<std::vector<uint32_t>> rows_of_worker(facts.workers.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t worker = facts.worker_of_process[process_of(rows[i])];
    if (worker != kNoWorker) rows_of_worker[worker].push_back(static_cast<uint32_t>(i));
  }
  return rows_of_worker;
}

/// Where the sums of one worker were among its lanes. Their chunks were open inside tasks, where there were any: what
/// these have beside them is what no chunk took.
SummedLanes PlaceSums(const Facts& facts, size_t worker) {
  SummedLanes sums;
  if (facts.summed_of_worker[worker].empty()) return sums;
  Int128 lane_time = 0;
  sums.window = {kNever, 0};
  for (uint32_t index : facts.summed_of_worker[worker]) {
    const LaneTime lane = SplitLaneTime(facts.summed[index], facts.helpers, facts.run);
    lane_time += Int128{lane.lanes} * (lane.inside.stop_ns - lane.inside.start_ns);
    sums.window.start_ns = std::min(sums.window.start_ns, lane.inside.start_ns);
    sums.window.stop_ns = std::max(sums.window.stop_ns, lane.inside.stop_ns);
  }
  Int128 task_time = 0;
  for (uint32_t index : facts.stretches_of_worker[worker]) {
    const TaskStretch& stretch = facts.engine.stretches[index];
    if (stretch.around_chunk) continue;
    const int64_t start_ns = sums.window.Clip(facts.run.Clip(stretch.start_ns));
    task_time += Int128{sums.window.Clip(facts.run.Clip(stretch.stop_ns)) - start_ns} * kOneLane;
  }
  if (task_time > 0) {
    const Int128 left = std::max(Int128{0}, task_time - lane_time);
    sums.task_share = static_cast<int64_t>(left / (task_time / kOneLane));
  }
  Changes changes;
  facts.attempts.ForEachOf(facts.RowsOf(worker), [&](size_t, const AttemptRow& attempt) {
    const LaneTime lane = facts.LaneOf(attempt);
    AddLanes(lane.inside.start_ns, lane.inside.stop_ns, lane.lanes, changes);
  });
  for (uint32_t index : facts.stretches_of_worker[worker]) {
    AddStretch(facts.engine.stretches[index], facts.run, sums, changes);
  }
  AddCores(facts.workers[worker].start_ns, facts.workers[worker].stop_ns, facts.workers[worker].cores, changes);
  sums.segments = FillFreeLanes(std::move(changes), sums.window, lane_time);
  return sums;
}

/// Where free time at this moment belongs: the first that applies.
Int128& PartOf(int64_t time_ns, int64_t first_begin_ns, const Milestones& milestones, FreeTime& total) {
  if (time_ns < first_begin_ns) return total.startup;
  if (time_ns >= milestones.last_stop_ns) return total.shutdown;
  if (time_ns >= milestones.tail_start_ns) return total.tail;
  return total.idle;
}

/// The run delay of an ended attempt; what is not known may have been all of it.
void AddWait(const AttemptRow& row, const RunWindow& interval, const std::vector<HelperTimes>& helpers,
             ProcessCpu& wait) {
  const std::optional<int64_t> of_helpers_ns = HelperCpuWait(row, helpers);
  if (row.cpu_wait_ns < 0 || !of_helpers_ns.has_value()) return wait.AddUnknown(interval.start_ns, interval.stop_ns);
  wait.AddChunk(interval.start_ns, interval.stop_ns, row.cpu_wait_ns + *of_helpers_ns);
}

/// The CPU time that is known of an ended attempt; helpers without one may have computed all the time.
void AddCpu(const AttemptRow& row, const RunWindow& interval, const std::vector<HelperTimes>& helpers,
            ProcessCpu& cpu) {
  HelperTimes helper;
  if (row.helpers != AttemptRow::kNone) helper = helpers[row.helpers];
  const int64_t all_ns = helper.cpu_ns < 0 ? helper.scope_ns : helper.cpu_ns;
  const int64_t helper_cpu_ns = std::max<int64_t>(0, all_ns - helper.children_ns);  // theirs is no CPU of the process
  if (row.cpu_ns < 0) cpu.AddUnknown(interval.start_ns, interval.stop_ns);
  if (row.cpu_ns >= 0 || helper_cpu_ns > 0) {
    cpu.AddChunk(interval.start_ns, interval.stop_ns, std::max<int64_t>(row.cpu_ns, 0) + helper_cpu_ns);
  }
}

/// Free and occupied together are the cores of every worker, and what it had beyond them.
BudgetTotals AddUpBudget(const Facts& facts, const Milestones& milestones) {
  BudgetTotals totals;
  totals.tasks_have_several_cores = !facts.engine.cores_of_tasks.empty();
  const bool any_ended = milestones.last_stop_ns != kNever;
  const int64_t busy_until_ns = any_ended ? std::min(milestones.tail_start_ns, milestones.last_stop_ns) : 0;
  for (size_t i = 0; i < facts.workers.size(); ++i) {
    const WorkerLife& worker = facts.workers[i];
    const ProcessRow& process = facts.processes[worker.process];
    if (process.is_unrecorded && process.is_job) {
      const Int128 lanes = Int128{LanesOfCores(worker.cores)} * (worker.stop_ns - worker.start_ns);
      const bool is_whole = process.joined_ns == worker.start_ns && process.left_ns == worker.stop_ns;
      const Int128 cpu = is_whole ? std::min(lanes, Int128{process.engine_cpu_ns.value_or(0)} * kOneLane) : Int128{0};
      totals.lanes.unrecorded_cpu += cpu;
      totals.lanes.unrecorded += lanes - cpu;
      continue;
    }
    LaneParts parts;
    Int128 spread = 0;
    Changes changes;
    changes.begins_ns.reserve(AttemptRows::Count(facts.RowsOf(i)));
    changes.stops_ns.reserve(AttemptRows::Count(facts.RowsOf(i)));
    int64_t first_begin_ns = process.is_unrecorded ? 0 : kNever;  // else nothing but its first chunk is waited for
    int64_t joined_ns = 0;
    ProcessCpu cpu(process), wait(process, ProcessCpu::Quantity::kRunDelay);
    facts.attempts.ForEachOf(facts.RowsOf(i), [&](size_t, const AttemptRow& attempt) {
      const LaneTime lane = facts.LaneOf(attempt);
      parts.Add(lane);
      if (lane.has_owner) joined_ns += lane.joined_ns;
      if (cpu.is_known()) AddCpu(attempt, IntervalOf(attempt, facts.processes), facts.helpers, cpu);
      if (wait.is_known()) AddWait(attempt, IntervalOf(attempt, facts.processes), facts.helpers, wait);
      AddLanes(lane.inside.start_ns, lane.inside.stop_ns, lane.lanes, changes);
      if (lane.lanes != kOneLane) spread += Int128{lane.lanes} * (lane.inside.stop_ns - lane.inside.start_ns);
      first_begin_ns = std::min(first_begin_ns, attempt.start_ns);
    });
    const SummedLanes& sums = facts.lanes_of_sums[i];
    for (uint32_t index : facts.summed_of_worker[i]) {
      const SummedAttempts& summed = facts.summed[index];
      const LaneTime lane = SplitLaneTime(summed, facts.helpers, facts.run);
      parts.Add(lane);
      if (lane.has_owner) joined_ns += lane.joined_ns;
      AddCpu(summed.row, {summed.row.start_ns, summed.stop_ns}, facts.helpers, cpu);
      AddWait(summed.row, {summed.row.start_ns, summed.stop_ns}, facts.helpers, wait);
      first_begin_ns = std::min(first_begin_ns, summed.row.start_ns);
    }
    for (const LaneSegment& segment : sums.segments) {
      AddLanes(segment.start_ns, segment.stop_ns, segment.lanes, changes);
    }
    for (uint32_t index : facts.stretches_of_worker[i]) {
      const TaskStretch& stretch = facts.engine.stretches[index];
      const int64_t start_ns = facts.run.Clip(stretch.start_ns);
      const int64_t stop_ns = facts.run.Clip(stretch.stop_ns);
      if (start_ns >= stop_ns) continue;
      AddStretch(stretch, facts.run, sums, changes);
      cpu.AddUnknown(start_ns, stop_ns);
      wait.AddUnknown(start_ns, stop_ns);
      if (stretch.around_chunk) {
        parts.outside_chunk += Int128{stop_ns - start_ns} * kOneLane;
        continue;
      }
      const int64_t among_sums_ns = sums.window.Clip(stop_ns) - sums.window.Clip(start_ns);
      (process.is_unrecorded ? parts.unrecorded : parts.framework) +=
          Int128{stop_ns - start_ns - among_sums_ns} * kOneLane + Int128{among_sums_ns} * sums.task_share;
    }
    AddCores(worker.start_ns, worker.stop_ns, worker.cores, changes);
    const RunWindow life = {worker.start_ns, worker.stop_ns};
    FreeByStretch free_time(cpu.Find(), wait.Find(), life);
    free_time.AddBoundaries(changes);
    for (int64_t boundary_ns :
         {first_begin_ns, milestones.first_begin_ns, milestones.last_stop_ns, milestones.tail_start_ns}) {
      // So that no stretch belongs to two parts.
      if (boundary_ns != kNever) changes.others.push_back({facts.run.Clip(boundary_ns)});
    }
    HeldCores held;
    for (uint32_t index : facts.cores_of_worker[i]) held.Add(facts.engine.cores_of_tasks[index], facts.run);
    held.AddBoundaries(changes);
    Int128 oversubscribed = 0;
    Sweep(changes, [&](int64_t from_ns, int64_t to_ns, int64_t lanes, int64_t cores) {
      const Int128 free = Int128{cores} - lanes;
      if (from_ns >= milestones.first_begin_ns && to_ns <= busy_until_ns) {
        totals.available += Int128{cores} * (to_ns - from_ns);
        totals.occupied += Int128{std::min(lanes, cores)} * (to_ns - from_ns);
      }
      if (free < -kLaneTolerance) {
        oversubscribed += -free * (to_ns - from_ns);
      } else if (free > 0) {
        const Int128 unused = std::clamp(Int128{held.At(from_ns)} - lanes, Int128{0}, free);
        (process.is_unrecorded ? parts.unrecorded : totals.unused_by_tasks) += unused * (to_ns - from_ns);
        PartOf(from_ns, first_begin_ns, milestones, free_time.At(from_ns)) += (free - unused) * (to_ns - from_ns);
      }
    });
    FreeParts rest = free_time.Split();
    rest.oversubscribed = oversubscribed;
    totals.occupied += rest.FillWithSpread(spread);
    rest.process_cpu_known = cpu.is_known();
    if (worker.process < facts.engine.outside_tasks_ns.size()) {
      rest.MoveToFramework(facts.engine.outside_tasks_ns[worker.process]);
    }
    rest.MoveToJoined(joined_ns);
    totals.rest += rest;
    parts.TakeOff(rest.oversubscribed);
    totals.lanes += parts;
  }
  return totals;
}

/// Takes up to so many core-seconds from a part; how many there were.
double TakeFrom(std::string_view part, double core_seconds, Budget* budget) {
  for (BudgetRow& row : budget->rows) {
    if (row.part != part) continue;
    const double taken = std::min(*row.core_seconds, core_seconds);
    row.core_seconds = *row.core_seconds - taken;
    return taken;
  }
  return 0;
}

}  // namespace

void SetGpuWait(double spun_seconds, double blocked_seconds, Budget* budget) {
  double taken = TakeFrom("compute", spun_seconds, budget);
  taken += TakeFrom("blocked", blocked_seconds, budget) + TakeFrom("waiting", blocked_seconds, budget);
  const auto after = absl::c_find_if(budget->rows, [](const BudgetRow& row) {
    const std::string_view part = row.part.str();
    return part != "compute" && part != "cpu_wait" && part != "blocked";
  });
  budget->rows.insert(after, BudgetRow{"gpu_wait", FindBudgetPart("gpu_wait")->group, taken, std::nullopt});
  SetShares(&budget->rows);
}

Budget ComputeBudget(const AttemptRows& attempts, const std::vector<ProcessRow>& processes,
                     const std::vector<HelperTimes>& helpers, const std::vector<WorkerLife>& workers,
                     const RunWindow& run, const EngineTime& engine, const std::vector<SummedAttempts>& summed) {
  Facts facts = {attempts, processes, helpers, workers, run, engine, summed};
  facts.worker_of_process.assign(processes.size(), kNoWorker);
  for (size_t i = 0; i < workers.size(); ++i) facts.worker_of_process[workers[i].process] = i;
  facts.rows_of_process = attempts.RangesByProcess(processes.size());
  facts.summed_of_worker = RowsOfWorkers(facts, summed, [](const SummedAttempts& sums) { return sums.row.process; });
  facts.stretches_of_worker =
      RowsOfWorkers(facts, engine.stretches, [](const TaskStretch& stretch) { return stretch.process; });
  facts.cores_of_worker =
      RowsOfWorkers(facts, engine.cores_of_tasks, [](const TaskCores& task) { return task.process; });
  for (size_t worker = 0; worker < workers.size(); ++worker) facts.lanes_of_sums.push_back(PlaceSums(facts, worker));
  const Milestones milestones = FindMilestones(facts);
  const BudgetTotals totals = AddUpBudget(facts, milestones);
  Budget budget;
  budget.rows = MakeRows(totals);
  const Int128 core_ns = SumOf<Int128>(workers, [](const WorkerLife& worker) {
    return Int128{LanesOfCores(worker.cores)} * (worker.stop_ns - worker.start_ns);
  });
  budget.core_seconds = LaneSeconds(core_ns);
  budget.occupied_core_seconds = LaneSeconds(totals.lanes.of_attempts());
  budget.oversubscribed_core_seconds = LaneSeconds(totals.rest.oversubscribed);
  if (milestones.tail_start_ns != kNever) {
    budget.tail_start_ns = milestones.tail_start_ns;
    budget.tail_time = static_cast<double>(milestones.last_stop_ns - milestones.tail_start_ns) / 1e9;
  }
  if (totals.available > 0) budget.balance = LaneSeconds(totals.occupied) / LaneSeconds(totals.available);
  return budget;
}

}  // namespace crema
