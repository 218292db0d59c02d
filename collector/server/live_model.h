// A run while it goes on: sums that grow with every record, and what the last seconds were like. Its memory does not
// grow with the records.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_MODEL_H_
#define CREMA_COLLECTOR_SERVER_LIVE_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "collector/records/facts.h"
#include "collector/records/tree_facts.h"
#include "collector/server/live_history.h"
#include "collector/server/live_worker.h"

namespace crema {

struct LiveOptions {
  std::string name;                     ///< shown as the run's name
  std::string run;                      ///< which run's records to take: an id, `all`, or empty for the first one seen
  std::optional<int64_t> total_events;  ///< of the whole run
  std::map<std::string, int64_t> total_events_of_dataset;  ///< of these
};

/// What the cores did in one second, in nanoseconds.
struct RunSecond {
  int64_t events = 0;
  int64_t bytes = 0;
  int64_t failed = 0;
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
  int64_t chunks = 0;
  int64_t open = 0;
  int64_t failed = 0;
  int64_t attempts = 0;
  int64_t events = 0;
  int64_t bytes_read = 0;
  int64_t busy_ns = 0;
  int64_t cpu_ns = 0;
  int64_t timed_events = 0;  ///< events of the attempts in busy_ns
};

struct LiveTotals {
  int64_t chunks = 0;  ///< with a result
  int64_t attempts = 0;
  int64_t failed = 0;
  int64_t lost = 0;
  int64_t unrecorded = 0;  ///< ended, and their records are lost: neither failed nor lost
  int64_t recovered = 0;   ///< chunks with a result after a failed attempt
  int64_t recomputed = 0;
  int64_t events = 0;
  bool events_known = false;
  int64_t bytes_read = 0;
  bool bytes_known = false;
  int64_t busy_ns = 0;
  int64_t cpu_ns = 0;
  bool cpu_known = false;
  int64_t blocked_ns = 0;
  int64_t records = 0;
  int64_t malformed = 0;
  int64_t unknown = 0;
  int64_t dropped = 0;
  int64_t summed = 0;        ///< of `attempts`, those without a line
  bool chunks_exact = true;  ///< false: there were more chunks than can be told apart here
};

/// What `crema run` noted of the command.
struct LiveCommand {
  bool known = false;
  bool running = false;
  std::string name;
  std::string command;
  int64_t start_ns = 0;
  std::optional<int64_t> stop_ns;
  std::optional<int64_t> exit_status;
  std::optional<int64_t> memory_limit_bytes;
};

/// Until a worker whose memory grows reaches its limit; nullopt: it does not grow, has no limit, or is far from it.
std::optional<double> SecondsToLimit(const LiveWorker& worker);

class LiveModel {
 public:
  using WorkerId = uint32_t;
  static constexpr size_t kMostChunks = 1'500'000;  ///< told apart, 8 bytes each
  static constexpr size_t kMostDatasets = 1000;
  static constexpr size_t kMostWorkers = 10'000;   ///< with rows; what the others record is in one row, `(other)`
  static constexpr size_t kMostFailures = 10'000;  ///< chunks whose recovery is watched for

  explicit LiveModel(LiveOptions options);

  /// A log's process line. nullopt: it is of another run; its records are to be left out. Logs of one process are one
  /// worker.
  std::optional<WorkerId> AddProcess(const ProcessFact& process);
  /// What a recorder of it has told so far; stays where it is.
  LiveRecorder& RecorderOf(WorkerId worker, int64_t recorder) { return recorders_[{worker, recorder}]; }
  /// A record of any other type.
  void Add(WorkerId worker, const Record& record);
  /// What is new in a line of sums; nullopt: nothing, the line is only counted.
  void AddSums(WorkerId worker, const std::optional<SumsFact>& added);
  void CountFault(bool is_unknown, int64_t lines = 1) { (is_unknown ? totals_.unknown : totals_.malformed) += lines; }
  /// Its log was read to its present end. `running`: a process still holds it.
  void SetLife(WorkerId worker, bool running);

  void SetCommand(const LiveCommand& command) { command_ = command; }
  /// The GPUs of a host, as `crema run` sampled them last; none when it has ended.
  void SetGpus(const std::string& host, std::vector<TreeGpu> gpus) { gpus_[host] = std::move(gpus); }
  /// A sample by `crema run`, of a process that does not sample itself.
  void AddMemory(const std::string& host, int64_t pid, int64_t time_ns, int64_t rss_bytes,
                 const ProcessCounts& counts = {});
  /// What a scheduler says of a worker: its name, its cores and limit.
  void AddSchedulerWorker(const std::string& host, int64_t pid, const std::string& name, int64_t cores,
                          std::optional<int64_t> memory_limit_bytes);
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
  const std::vector<LiveDataset>& datasets() const { return datasets_; }
  const LiveEvents& events() const { return events_; }
  const LatestChunks& latest_chunks() const { return latest_chunks_; }
  const std::map<std::string, LiveScheduler>& schedulers() const { return schedulers_; }
  /// Nothing is known of the run but what schedulers report of themselves: no process has recorded anything.
  bool has_schedulers_only() const { return !schedulers_.empty() && workers_.empty() && !command_.known; }
  const RateSeries& series() const { return series_; }
  const RecentSeconds<RunSecond, 2 * kRecentSeconds + 62>& recent() const { return recent_; }

  LiveState state() const;
  int64_t start_ns() const;
  /// Of a run that goes on: now.
  int64_t stop_ns() const;
  /// Until when a worker lived: now, or the latest time stamp on its lines.
  int64_t LifeEnd(const LiveWorker& worker) const;
  double wall_seconds() const;
  double core_seconds() const;
  double live_cores() const;
  int64_t open_chunks() const;
  /// Chunks that failed or were lost, and have no result by now.
  int64_t unrecovered() const { return static_cast<int64_t>(failures_.size()); }
  std::optional<int64_t> total_events() const;
  std::optional<int64_t> total_events_of(const std::string& dataset) const;
  /// Seconds since anything was recorded.
  double quiet_seconds() const;

 private:
  uint32_t Dataset(std::string_view name);
  void AddBegin(LiveWorker& worker, const BeginFact& begin);
  void AddChunk(LiveWorker& worker, const ChunkFact& chunk);
  void AddToStream(LiveWorker& worker, const ChunkFact& chunk, uint32_t dataset);
  void AddSums(LiveWorker& worker, const SumsFact& added);
  void AddTimes(LiveWorker& worker, const SumsFact& added, const LiveDataset& dataset);
  void AddTask(LiveWorker& worker, const TaskFact& task);
  void AddSample(LiveWorker& worker, const SampleFact& sample);
  void CountResult(LiveWorker& worker, const ChunkFact& chunk, LiveDataset& dataset, uint64_t identity);
  void NoteFailure(const LiveWorker& worker, const ChunkFact& chunk, uint64_t identity);
  void CountFailure(uint64_t identity);
  /// Its open chunks are lost attempts; how many there were.
  int64_t LoseOpenChunks(LiveWorker& worker);
  /// It ended, and the record of it is lost.
  void LoseRecord(LiveWorker& worker, int64_t number);
  void AddTimes(LiveWorker& worker, const ChunkFact& chunk, const LiveDataset& dataset);
  /// The second to which what ended at `stop_ns` belongs, clocks of hosts being what they are.
  double SecondOf(const LiveWorker& worker, int64_t stop_ns) const;
  template <class Take>
  void Spread(double stop, double seconds, const Take& take);
  void AddMemoryPoint(LiveWorker& worker, int64_t time_ns, int64_t rss_bytes, const ProcessCounts& counts);
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
  std::map<std::pair<WorkerId, int64_t>, LiveRecorder> recorders_;
  absl::flat_hash_map<std::string, std::vector<WorkerId>> worker_index_;  // by host, pid and start
  absl::flat_hash_map<std::pair<std::string, int64_t>, std::vector<WorkerId>> workers_of_pid_;
  std::vector<LiveDataset> datasets_;
  absl::flat_hash_map<std::string, uint32_t> dataset_index_;
  absl::flat_hash_set<uint64_t> results_;
  absl::flat_hash_map<uint64_t, int64_t> failures_;  // chunk: how often it failed
  std::optional<int64_t> announced_events_;
  std::map<std::string, int64_t> planned_events_;
  struct SchedulerWorker {
    std::string name;
    int64_t cores = 0;
    std::optional<int64_t> memory_limit_bytes;
  };
  std::map<std::pair<std::string, int64_t>, SchedulerWorker> scheduler_workers_;
  std::map<std::string, LiveScheduler> schedulers_;  // by address
  std::vector<WorkerId> joined_;                     // since the last tick, with their first chunk
  LiveEvents events_;
  LatestChunks latest_chunks_;
  RateSeries series_;
  RecentSeconds<RunSecond, 2 * kRecentSeconds + 62> recent_;
  LiveState noted_state_ = LiveState::kRunning;
  bool state_is_noted_ = false;
  std::map<std::string, std::vector<TreeGpu>> gpus_;  ///< by host
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_MODEL_H_
