// A run while it goes on: sums that grow with every record, and what the last seconds were like. Its memory does not
// grow with the records.
#pragma once

#include <deque>

#include "absl/container/flat_hash_set.h"
#include "collector/diagnosis/evidence.h"
#include "collector/engines/engines.h"
#include "collector/idioms/sequences.h"
#include "collector/metrics/attempts/breakdown.h"
#include "collector/metrics/workers/worker_life.h"
#include "collector/records/tree_facts.h"
#include "collector/sources/record_log.h"

namespace crema {

// What the model keeps of the past, bounded: the last events and chunks, and rates since the start of the run.

/// `info`, `good`, `warning`, `bad`.
const char* ToString(EventKind kind);

struct LiveEvent {
  int64_t number = 0;  ///< from 1, in the order in which they were noticed
  int64_t time_ns = 0;
  EventKind kind = EventKind::kInfo;
  std::string text;
};

/// The last `kMost` of them; the record logs keep everything.
class LiveEvents {
 public:
  static constexpr size_t kMost = 200;

  /// The number of the new event.
  int64_t Add(int64_t time_ns, EventKind kind, std::string text);
  /// Says otherwise what goes on; nothing happens where the event is no longer kept.
  void Update(int64_t number, std::string text);
  const std::deque<LiveEvent>& all() const { return events_; }
  /// By when they happened; of a log that was read afterwards, events come in late.
  std::vector<LiveEvent> NewestFirst() const;
  int64_t count() const { return count_; }

 private:
  std::deque<LiveEvent> events_;
  int64_t count_ = 0;
};

/// Seconds that the stream shows.
inline constexpr int64_t kStreamSeconds = 120;

struct LatestChunk {
  int64_t number = 0;   ///< in the order of coming
  uint32_t worker = 0;  ///< index into `LiveModel::workers`
  int32_t lane = 0;     ///< of its thread in the worker
  uint32_t dataset = 0;
  bool failed = false;
  int waiting_percent = -1;  ///< -1: not known
  int64_t start_ns = 0;      ///< Unix time
  int64_t stop_ns = 0;
};

class LatestChunks {
 public:
  static constexpr size_t kMost = 3000;

  /// Gives it its number.
  void Add(LatestChunk chunk);
  /// Forgets what ended over two minutes before.
  void Forget(int64_t now_ns);

  const std::deque<LatestChunk>& all() const { return chunks_; }

 private:
  std::deque<LatestChunk> chunks_;
  int64_t next_ = 0;
};

/// Bins of one width, 1 s at first. When they become more than `kMost`, neighbours are joined and the width doubles.
class RateSeries {
 public:
  static constexpr size_t kMost = 600;

  struct Bin {
    double events = 0;
    double bytes = 0;
  };

  /// `seconds` since the run's start; earlier ones count as at the start.
  void Add(double seconds, double events, double bytes);

  double bin_seconds() const { return bin_seconds_; }
  const std::vector<Bin>& bins() const { return bins_; }

 private:
  double bin_seconds_ = 1;
  std::vector<Bin> bins_;
};

/// What goes on is said anew so often: what changes each second cannot be read.
inline constexpr int64_t kUpdateSeconds = 5;

/// A clock that differs by more from what passed was set by somebody: a late tick differs by less.
inline constexpr int64_t kLeastJumpNs = 2'000'000'000;

/// One `Bin` for each of the last `kSeconds` seconds. `Bin` is a sum: value-initialised it is nothing, and `+=` adds.
template <class Bin, size_t kSeconds>
class RecentSeconds {
 public:
  /// The bin of a second; nullptr where it has gone by. A later second than any before makes room for itself.
  Bin* Find(int64_t second) {
    if (second > latest_) Advance(second);
    if (second < 0 || second <= latest_ - static_cast<int64_t>(kSeconds)) return nullptr;
    return &bins_[static_cast<size_t>(second) % kSeconds];
  }
  const Bin& At(int64_t second) const {
    static const Bin kNothing{};
    if (second < 0 || second > latest_ || second <= latest_ - static_cast<int64_t>(kSeconds)) return kNothing;
    return bins_[static_cast<size_t>(second) % kSeconds];
  }
  /// The sum of the seconds `first` to `last`, both included.
  Bin Sum(int64_t first, int64_t last) const {
    Bin sum{};
    for (int64_t second = first; second <= last; ++second) sum += At(second);
    return sum;
  }

 private:
  void Advance(int64_t second) {
    const int64_t begin = second - latest_ > static_cast<int64_t>(kSeconds) ? second - kSeconds + 1 : latest_ + 1;
    for (int64_t each = begin < 0 ? 0 : begin; each <= second; ++each) bins_[static_cast<size_t>(each) % kSeconds] = {};
    latest_ = second;
  }

  std::array<Bin, kSeconds> bins_{};
  int64_t latest_ = -1;
};

/// Seconds over which "now" is measured.
inline constexpr int64_t kRecentSeconds = 30;

/// What a worker finished in one second.
struct WorkerSecond {
  double chunks = 0;
  double events = 0;
  double busy_ns = 0;
  double waiting_ns = 0;   ///< run delay and blocked
  double expected_ns = 0;  ///< what its chunks take on average over the run, by their dataset and events
  double judged_ns = 0;    ///< of `busy_ns`, that of the chunks of which this is known
  WorkerSecond& operator+=(const WorkerSecond& other) {
    for (const auto part : {&WorkerSecond::chunks, &WorkerSecond::events, &WorkerSecond::busy_ns,
                            &WorkerSecond::waiting_ns, &WorkerSecond::expected_ns, &WorkerSecond::judged_ns}) {
      this->*part += other.*part;
    }
    return *this;
  }
};

/// What attempts add up to.
struct LiveSums : AttemptSums {
  ByteSums bytes;

  double events_so_far() const { return events.In(1).value_or(0); }
  void Add(const LiveSums& other) {
    AttemptSums::Add(other);
    bytes.Add(other.bytes);
  }
  using AttemptSums::Add;
};

/// One recorder of a process: its log may be read again, after it was copied or begun anew.
struct LiveLog {
  uint32_t worker = 0;  ///< index into `LiveModel::workers`
  int64_t recorder = 0;
  uint64_t run_hash = 0;
  uint64_t hash = 0;
  std::unique_ptr<AttemptAssembler> attempts;
  SumsSoFar sums;
  bool has_end = false;
};

struct LiveWorker : ProcessRow {
  LiveSums sums;
  std::vector<std::unique_ptr<LiveLog>> logs;
  bool is_following = false;  ///< its log was read to the end before: what comes is new

  int64_t most_open = 0;
  HelpedTime helped;
  absl::flat_hash_map<uint64_t, int32_t> lane_of_thread;  ///< in the order in which they came

  using Recent = RecentSeconds<WorkerSecond, 2 * kRecentSeconds + 2>;
  std::unique_ptr<Recent> recent = std::make_unique<Recent>();  ///< nullptr: it is one of the others

  int64_t rss_bytes = 0;            ///< 0: not sampled
  std::vector<MemoryPoint> memory;  ///< allocated, in the last two minutes; of the others none
  bool memory_is_warned = false;
  int64_t memory_at_warning = 0;
  std::optional<int> exit_status;  ///< that `crema run` saw
  int64_t memory_event = 0;        ///< its number
  bool slow_is_warned = false;
  int64_t slow_since_ns = 0;
  int64_t slow_event = 0;

  /// Where there are many processes, the others count in all totals, and have no rows and warnings of their own: the
  /// last seconds that a row shows are most of the memory that a worker takes.
  void BecomeOther() { recent.reset(); }
  bool is_other() const { return recent == nullptr; }
  /// nullptr: the second has gone by, or it is one of the others.
  WorkerSecond* SecondAt(int64_t second) { return is_other() ? nullptr : recent->Find(second); }
  /// The sum of the seconds `first` to `last`, both included. It is empty for one of the others.
  WorkerSecond SumOf(int64_t first, int64_t last) const {
    return is_other() ? WorkerSecond() : recent->Sum(first, last);
  }

  static constexpr size_t kMostLanes = 64;  ///< that can be distinguished
  /// The lane of a thread that begins or ends a chunk; -1: there are too many, or the thread was not recorded.
  template <class Fact>
  int32_t AddLane(const Fact& fact) {
    const uint64_t thread = IdOfThread(fact);
    if (thread != 0 && lane_of_thread.size() < kMostLanes) {
      lane_of_thread.try_emplace(thread, static_cast<int32_t>(lane_of_thread.size()));
    }
    return LaneOf(fact);
  }
  template <class Fact>
  int32_t LaneOf(const Fact& fact) const {
    return ValueOr(lane_of_thread, IdOfThread(fact), -1);
  }

  /// Chunks that have begun and not ended; of which only the record seems to be missing.
  int64_t open_chunks() const { return CountBegun() - unrecorded_chunks(); }
  int64_t unrecorded_chunks() const {
    return crema::SumOf<int64_t>(logs, [](const auto& log) { return log->attempts->unrecorded(); });
  }
  /// Calls `visit(log, begun)` for each open chunk.
  template <class Visit>
  void ForEachOpen(const Visit& visit) const {
    for (const auto& log : logs) {
      log->attempts->ForEachOpen([&](const BegunAttempt& begun) { visit(*log, begun); });
    }
  }

  bool has_recorded() const { return sums.attempts > 0 || CountBegun() > 0; }
  bool is_at_work() const { return state == ProcessState::kRunning && has_recorded(); }
  int64_t peak_rss_bytes() const { return counts.rss_peak_bytes.value_or(0); }
  double cores() const {
    const int64_t most = std::max<int64_t>(1, most_open);
    return CoresOf(
               *this, lanes_peak, [most] { return most; },
               [&](int64_t lanes) { return CoresOfLanes(lanes, most, most_open, helped); })
        .cores;
  }
  /// How many of the chunks that it has open have a core.
  double busy_cores() const { return std::min(cores(), static_cast<double>(open_chunks())); }

 private:
  int64_t CountBegun() const {
    return crema::SumOf<int64_t>(logs, [](const auto& log) { return log->attempts->begun(); });
  }
};

/// Tasks of one prefix.
struct SchedulerTasks {
  int64_t finished = 0;  ///< since it is followed
  double compute_seconds = 0;
  std::optional<double> compute_seconds_in_all;  ///< since the scheduler began; nullopt: it does not say
};

/// The `most` values of which `measure` gives the most, with their names.
template <class Value, class Measure>
std::vector<std::pair<std::string, Value>> Largest(const std::map<std::string, Value>& values, size_t most,
                                                   const Measure& measure) {
  std::vector<std::pair<std::string, Value>> rows(values.begin(), values.end());
  SortLargestFirst(&rows, [&](const auto& row) { return measure(row.second); });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

/// A scheduler. It knows only the finished tasks that the log reports.
class LiveScheduler {
 public:
  static constexpr size_t kMostPrefixes = 1000;
  static constexpr size_t kMostWorkers = 10'000;

  explicit LiveScheduler(int64_t since_ns) : since_ns_(since_ns) {}

  /// `second` as of `LiveModel`.
  void Add(const SchedulerFact& reported, int64_t second);
  /// Since it began, by prefix.
  void SetComputeSeconds(const std::map<std::string, double>& by_prefix);

  /// When it was first heard of.
  int64_t since_ns() const { return since_ns_; }
  /// One of its own numbers, such as `workers`; nullopt: it does not report it.
  std::optional<int64_t> count(const std::string& name) const;
  const std::map<std::string, int64_t>& counts() const { return counts_; }
  /// It is known to live, and has tasks that have not ended.
  bool is_at_work() const { return is_there_ && has_tasks(); }
  bool has_tasks() const { return count("tasks").value_or(0) > 0; }
  /// Why finished tasks are not reported at present; empty: they are.
  const std::string& stream_problem() const { return stream_problem_; }
  /// Since it is followed, as far as they were reported; nullopt: none ever was.
  std::optional<int64_t> finished() const;
  /// Per second over the last ones, up to 30; nullopt: they are not reported, or not yet for a whole second.
  std::optional<double> finished_rate(int64_t second) const;
  const std::map<std::string, SchedulerTasks>& tasks() const { return tasks_; }
  /// Finished tasks by the worker's address.
  const std::map<std::string, int64_t>& finished_by_worker() const { return finished_by_worker_; }

 private:
  int64_t since_ns_;
  std::map<std::string, int64_t> counts_;
  bool is_there_ = false;
  std::string stream_problem_ = "nothing was reported yet";
  std::optional<int64_t> streams_since_;  // the second from which on its stream is read without a gap
  bool has_streamed_ = false;
  int64_t finished_ = 0;
  std::map<std::string, SchedulerTasks> tasks_;
  std::map<std::string, int64_t> finished_by_worker_;
  RecentSeconds<int64_t, kRecentSeconds + 2> recent_;
};

struct LiveOptions {
  std::string name;                     ///< shown as the run's name
  std::string run;                      ///< which run's records to take: an id, `all`, or empty for the first one seen
  std::optional<int64_t> total_events;  ///< of the whole run
  std::map<std::string, int64_t> total_events_of_dataset;  ///< of these
};

/// What the cores did in one second, in nanoseconds.
struct RunSecond {
  double events = 0;
  double bytes = 0;
  double compute_ns = 0;
  double waiting_ns = 0;
  double joined_ns = 0;
  double failed_ns = 0;
  double task_ns = 0;      ///< of an engine's tasks, their chunks with them
  double chunk_ns = 0;     ///< of ended attempts
  double occupied_ns = 0;  ///< lanes of open chunks, seen at the ticks
  double core_ns = 0;
  RunSecond& operator+=(const RunSecond& other);
};

struct LiveDataset {
  std::string name;
  LiveSums sums;
};

/// Sets those of `counts` that attempts add up to as they come.
struct LiveTotals : AttemptTotals {
  ByteSums bytes;
  int64_t recovered = 0;  ///< chunks with a result after a failed attempt
  int64_t records = 0;
  int64_t malformed = 0;
  int64_t unknown = 0;
  int64_t dropped = 0;
  bool chunks_exact = true;  ///< false: there were more chunks than can be distinguished here

  int64_t gone() const { return counts.num_failed_attempts + counts.num_lost_attempts; }
  int64_t events_so_far() const { return events.Integer().value_or(0); }
};

/// What `crema run` noted of the command.
struct LiveCommand {
  bool known = false;
  bool running = false;
  std::string command;
  int64_t start_ns = 0;
  std::optional<int64_t> stop_ns;
  std::optional<int64_t> exit_status;
};

/// Until a worker whose memory grows reaches its limit; nullopt: it does not grow, has no limit, or is far from it.
std::optional<double> SecondsToLimit(const LiveWorker& worker);

class LiveModel {
 public:
  using WorkerId = uint32_t;
  static constexpr size_t kMostChunks = 1'500'000;  ///< distinguished, 8 bytes each
  static constexpr size_t kMostDatasets = 1000;
  static constexpr size_t kMostWorkers = 10'000;   ///< with rows; what the others record is in one row, `(other)`
  static constexpr size_t kMostFailures = 10'000;  ///< chunks whose recovery is watched for

  explicit LiveModel(LiveOptions options);

  /// A log's process line. nullptr: it is of another run; its records are to be left out. Logs of one process are of
  /// one worker. The log stays where it is; where it was added before, it goes on.
  LiveLog* AddProcess(const ProcessFact& process);
  /// A record of any other type. One that was there before changes nothing.
  void Add(LiveLog& log, const Record& record);
  void CountFault(bool is_unknown, int64_t lines = 1) { (is_unknown ? totals_.unknown : totals_.malformed) += lines; }
  /// Its log was read to its present end. `running`: a process still holds it.
  void SetLife(WorkerId worker, bool running);
  /// `crema run` waited for the process.
  void AddExit(const std::string& host, const TreeReapFact& reaped);

  LiveCommand* mutable_command() { return &command_; }
  /// The GPUs of a host, as `crema run` sampled them last; none when it has ended.
  void SetGpus(const std::string& host, std::vector<TreeGpu> gpus) { gpus_[host] = std::move(gpus); }
  /// A sample by `crema run`, of a process that does not sample itself.
  void AddMemory(const std::string& host, int64_t pid, int64_t time_ns, int64_t rss_bytes,
                 const ProcessCounts& counts = {});
  /// What a scheduler says of a worker: its name, its cores and limit.
  void AddSchedulerWorker(const ClusterWorkerFact& worker);
  void SetEngine(std::string engine) { engine_ = std::move(engine); }
  /// Events that each dataset is to have, as the run itself says: what the user says goes before it.
  void SetPlan(std::map<std::string, int64_t> events) { planned_events_ = std::move(events); }
  /// An engine's measurement begins, or ends; its workers may have been there before, and go on to serve others.
  void BeginSession(int64_t time_ns) {
    session_start_ns_ = time_ns;
    session_stop_ns_.reset();
    planned_events_.clear();
  }
  void EndSession(int64_t time_ns) { session_stop_ns_ = time_ns; }

  /// What a scheduler reports of itself; made where it is not known yet.
  LiveScheduler& SchedulerAt(const std::string& address) {
    return schedulers_.try_emplace(address, now_ns_).first->second;
  }

  /// Something that people should read; it happened now, or when the records say.
  int64_t Note(EventKind kind, std::string text) { return NoteAt(now_ns_, kind, std::move(text)); }
  int64_t NoteAt(int64_t time_ns, EventKind kind, std::string text) {
    return events_.Add(std::min(time_ns, now_ns_), kind, std::move(text));
  }

  /// Time passes: `now_ns` (Unix) is what the clock shows, `passed_ns` what passed since the last tick on a clock that
  /// never jumps. Judges what has changed. Before the first record is added, `Tick` must have been called once.
  void Tick(int64_t now_ns, int64_t passed_ns);

  int64_t now_ns() const { return now_ns_; }
  /// Index of the present second among those of `recent()`.
  int64_t second() const { return second_; }
  const LiveOptions& options() const { return options_; }
  const LiveTotals& totals() const { return totals_; }
  const LiveCommand& command() const { return command_; }
  const std::map<std::string, std::vector<TreeGpu>>& gpus() const { return gpus_; }
  const std::string& engine() const { return engine_; }
  const std::string& run_id() const { return run_id_; }
  const std::vector<LiveWorker>& workers() const { return workers_; }
  /// Events per second that it finished lately: in the last 30 s, or since it began; the run stops at `stop_ns`.
  double EventRateOf(const LiveWorker& worker, int64_t stop_ns) const;
  const std::vector<LiveDataset>& datasets() const { return datasets_; }
  /// The index of a dataset that chunks have begun in.
  uint32_t DatasetOf(std::string_view name) const;
  /// Chunks that are open now, by dataset.
  std::vector<int64_t> OpenByDataset() const;
  const LiveEvents& events() const { return events_; }
  const LatestChunks& latest_chunks() const { return latest_chunks_; }
  const std::map<std::string, LiveScheduler>& schedulers() const { return schedulers_; }
  /// Nothing is known of the run but what schedulers report of themselves: no process has recorded anything.
  bool has_schedulers_only() const { return !schedulers_.empty() && workers_.empty() && !command_.known; }
  const RateSeries& series() const { return series_; }
  const RecentSeconds<RunSecond, 2 * kRecentSeconds + 62>& recent() const { return recent_; }

  ProcessState state() const;
  int64_t start_ns() const;
  /// For a run that goes on: now.
  int64_t stop_ns() const;
  /// Until when a worker lived: now, or the latest time stamp on its lines.
  int64_t LifeEnd(const LiveWorker& worker) const;
  double wall_seconds() const;
  double core_seconds() const;
  double live_cores() const;
  int64_t open_chunks() const;
  /// Attempts that ended without a record: they count neither as failed nor as lost.
  int64_t unrecorded() const;
  /// Those that have ended, however.
  int64_t attempts() const {
    return totals_.counts.num_attempts - totals_.counts.num_unrecorded_attempts + unrecorded();
  }
  /// Chunks that failed or were lost, and have no result by now.
  int64_t unrecovered() const { return static_cast<int64_t>(failures_.size()); }
  std::optional<int64_t> total_events() const;
  std::optional<int64_t> total_events_of(const std::string& dataset) const;
  /// Seconds since anything was recorded.
  double quiet_seconds() const { return quiet_seconds_; }

 private:
  uint32_t Dataset(std::string_view name);
  void AddAttempt(LiveLog& log, const Attempt& attempt);
  void AddSums(LiveWorker& worker, const SumsFact& added);
  /// What attempts took, of a chunk's line or of a line of sums; before their result is counted.
  template <class Fact>
  void AddCost(const Fact& fact, LiveWorker& worker);
  /// The worker of this process; a new one where there is none yet.
  WorkerId WorkerOf(const ProcessFact& process);
  static void TakeScheduler(const ClusterWorkerFact& known, LiveWorker& worker);
  /// Whether it is the first result of its chunk.
  bool CountResult(const LiveWorker& worker, const ChunkFact& chunk, uint64_t identity);
  void NoteFailure(const LiveWorker& worker, const ChunkFact& chunk, uint64_t identity);
  void CountFailure(uint64_t identity);
  /// Those of its chunks that have not ended are lost attempts; how many there were.
  int64_t LoseOpenChunks(LiveWorker& worker);
  /// `ended`: one attempt, or those of a line of sums, whose time is that from the begin of the first to the end of the
  /// last. Attempts count when they end; their time counts where it was spent.
  void AddTimes(LiveWorker& worker, const LiveSums& dataset, const SummedAttempts& ended, int64_t bytes,
                double counted_seconds);
  void AddTaskTime(const LiveWorker& worker, const TaskFact& task);
  /// The second to which what ended at `stop_ns` belongs, clocks of hosts being what they are.
  double SecondOf(const LiveWorker& worker, int64_t stop_ns) const;
  void AddMemoryPoint(LiveWorker& worker, int64_t time_ns, int64_t rss_bytes, const ProcessCounts& counts);
  /// Decides by its exit status, where that is known, how a worker that reported nothing has ended.
  void JudgeExit(LiveWorker& worker);
  void JudgeMemory(LiveWorker& worker);
  void JudgeSpeed(LiveWorker& worker);
  void NoteJoins();

  LiveOptions options_;
  std::string run_id_;
  bool has_run_id_ = false;
  bool foreign_noted_ = false;
  int64_t now_ns_ = 0;
  int64_t origin_ns_ = 0;  // of the seconds: well before now, so that none is negative
  int64_t shift_ns_ = 0;   // what the clock has jumped since
  int64_t second_ = 0;
  double quiet_seconds_ = 0;
  int64_t records_at_tick_ = 0;
  std::optional<int64_t> first_start_ns_;

  LiveTotals totals_;
  LiveCommand command_;
  std::string engine_;
  std::optional<int64_t> session_start_ns_;
  std::optional<int64_t> session_stop_ns_;
  std::vector<LiveWorker> workers_;
  absl::flat_hash_map<std::string, std::vector<WorkerId>> worker_index_;  // by host, pid and start
  absl::flat_hash_map<std::pair<std::string, int64_t>, std::vector<WorkerId>> workers_of_pid_;
  std::vector<HelperTimes> helpers_;  // those of the attempt that is being added
  std::vector<LiveDataset> datasets_;
  absl::flat_hash_map<std::string, uint32_t> dataset_index_;
  absl::flat_hash_set<uint64_t> results_;
  absl::flat_hash_map<uint64_t, int64_t> failures_;  // chunk: how often it failed
  std::optional<int64_t> announced_events_;
  std::map<std::string, int64_t> planned_events_;
  std::map<std::pair<std::string, int64_t>, ClusterWorkerFact> scheduler_workers_;
  std::map<std::string, LiveScheduler> schedulers_;  // by address
  std::vector<WorkerId> joined_;                     // since the last tick, with their first chunk
  LiveEvents events_;
  LatestChunks latest_chunks_;
  RateSeries series_;
  RecentSeconds<RunSecond, 2 * kRecentSeconds + 62> recent_;
  ProcessState noted_state_ = ProcessState::kRunning;
  bool state_is_noted_ = false;
  std::map<std::string, std::vector<TreeGpu>> gpus_;  ///< by host
};

}  // namespace crema
