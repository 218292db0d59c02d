// One worker of a live run: what its log has told so far, what it does now, and from where on the page warns of it.
#ifndef CREMA_COLLECTOR_SERVER_LIVE_WORKER_H_
#define CREMA_COLLECTOR_SERVER_LIVE_WORKER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "collector/insight/memory_growth.h"
#include "collector/metrics/workers/worker_life.h"
#include "collector/records/cluster_facts.h"
#include "collector/records/facts.h"
#include "collector/records/seen_numbers.h"
#include "collector/records/sums_so_far.h"

namespace crema {

// Memory that grows: what counts as growth stands in collector/insight/memory_growth.h.
inline constexpr double kSoonSeconds = 600;  ///< to the limit: time enough to do something about it

// A worker that is slow: kSpellFactor (slow_spells.h) as for the verdict slow-spell, where the last minute has many
// chunks of it; with more tolerance where it has few.
inline constexpr double kSlowFactor = 2;      ///< of few: times what chunks of this dataset and size take elsewhere
inline constexpr double kNormalFactor = 1.3;  ///< well below both, so that it does not go to and fro
inline constexpr int64_t kLeastChunks = 5;    ///< in the last minute: the mean of fewer may be one slow chunk
inline constexpr int64_t kManyChunks = 20;    ///< in the last minute: their mean is no one chunk's

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
  /// Of the seconds `first` to `last`, both with.
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

enum class LiveState {
  kRunning,
  kEnded,
  kUnreported,  ///< nothing says how it ended: metrics/workers/process_ends.h
  kLost,
};

struct OpenChunk {
  uint32_t dataset = 0;
  uint64_t identity = 0;  ///< a hash of what makes it the same chunk again
  int64_t start_ns = 0;
  std::string file;
  std::optional<int64_t> entry_start;
  std::optional<int64_t> entry_stop;
  uint64_t thread = 0;  ///< which runs it; 0: not told
  int32_t lane = -1;    ///< its thread's in the worker; -1: not known
};

/// What a worker finished in one second.
struct WorkerSecond {
  int64_t events = 0;
  int64_t busy_ns = 0;
  int64_t waiting_ns = 0;  ///< run delay and blocked
  double expected_ns = 0;  ///< what its chunks take on average over the run, by their dataset and events
  int64_t judged_ns = 0;   ///< of `busy_ns`, that of the chunks of which this is known
  int64_t chunks = 0;
  WorkerSecond& operator+=(const WorkerSecond& other) {
    events += other.events;
    busy_ns += other.busy_ns;
    waiting_ns += other.waiting_ns;
    expected_ns += other.expected_ns;
    judged_ns += other.judged_ns;
    chunks += other.chunks;
    return *this;
  }
};

/// What one recorder of a process has told: its log may be read again, after it was copied or begun anew.
struct LiveRecorder {
  SeenNumbers ended;  ///< chunks
  SumsSoFar sums;
  bool has_end = false;
};

struct LiveWorker {
  std::string name;
  std::string run_id;
  std::string host;
  int64_t pid = 0;
  std::optional<int64_t> pid_namespace;
  std::string boot_id;  ///< empty: not known
  int64_t start_ns = 0;
  int64_t last_ns = 0;  ///< latest time stamp on its lines
  LiveState state = LiveState::kRunning;
  bool is_following = false;  ///< its log was read to the end before: what comes is new

  std::optional<int64_t> declared_cores;
  std::optional<int64_t> scheduler_cores;
  std::optional<double> allowed_cores;  ///< by affinity and cgroup quota
  int64_t lanes_peak = 0;
  int64_t most_open = 0;
  HelpedTime helped;
  bool chunks_overlap = false;                            ///< its threads begin chunks while others of theirs are open
  std::map<int64_t, OpenChunk> open;                      ///< by chunk number
  absl::flat_hash_set<int64_t> unrecorded;                ///< numbers of chunks whose records seem to be lost
  absl::flat_hash_map<uint64_t, int32_t> lane_of_thread;  ///< in the order in which they came
  absl::flat_hash_map<uint64_t, int64_t> open_of_thread;  ///< the chunk that each thread began last, while it is open

  int64_t chunks = 0;  ///< ok attempts
  int64_t failed = 0;
  int64_t lost = 0;
  int64_t events = 0;
  int64_t busy_ns = 0;
  int64_t cpu_ns = 0;
  int64_t bytes_read = 0;
  using Recent = RecentSeconds<WorkerSecond, 2 * kRecentSeconds + 2>;
  std::unique_ptr<Recent> recent = std::make_unique<Recent>();  ///< nullptr: it is one of the others

  std::optional<int64_t> memory_limit_bytes;
  int64_t rss_bytes = 0;  ///< 0: not sampled
  int64_t peak_rss_bytes = 0;
  std::vector<MemoryPoint> memory;  ///< allocated, in the last two minutes; of the others none
  bool memory_is_warned = false;
  int64_t memory_at_warning = 0;
  int64_t memory_event = 0;  ///< its number
  bool slow_is_warned = false;
  int64_t slow_since_ns = 0;
  int64_t slow_event = 0;

  /// Of many processes, the others count in all totals, and have no rows and warnings of their own: what a row shows of
  /// the last seconds is most of what a worker takes.
  void BecomeOther() { recent.reset(); }
  bool is_other() const { return recent == nullptr; }
  /// nullptr: the second has gone by, or it is one of the others.
  WorkerSecond* SecondAt(int64_t second) { return is_other() ? nullptr : recent->Find(second); }
  /// Of the seconds `first` to `last`, both with; nothing of the others.
  WorkerSecond SumOf(int64_t first, int64_t last) const {
    return is_other() ? WorkerSecond() : recent->Sum(first, last);
  }

  static constexpr size_t kMostLanes = 64;  ///< that can be told apart
  /// -1: there are too many, or the thread was not told.
  int32_t LaneOf(uint64_t thread) {
    if (thread == 0) return -1;
    if (lane_of_thread.size() >= kMostLanes && lane_of_thread.count(thread) == 0) return -1;
    return lane_of_thread.try_emplace(thread, static_cast<int32_t>(lane_of_thread.size())).first->second;
  }

  bool has_recorded() const { return chunks + failed + lost > 0 || !open.empty(); }
  /// docs/metrics.md: declared, else the scheduler's, else the most lanes (without those of owners that wait for their
  /// helpers), else the most chunks open at once, and at most as many as were allowed.
  double cores() const {
    if (scheduler_cores.has_value()) return static_cast<double>(*scheduler_cores);
    if (declared_cores.has_value()) return static_cast<double>(*declared_cores);
    const auto seen = static_cast<double>(CoresOfLanes(lanes_peak, std::max<int64_t>(1, most_open), helped));
    return allowed_cores.value_or(0) > 0 ? std::min(seen, *allowed_cores) : seen;
  }
  /// Of the chunks that it has open, those for which it has a core.
  double busy_cores() const { return std::min(cores(), static_cast<double>(open.size())); }
};

/// Tasks of one prefix.
struct SchedulerTasks {
  int64_t finished = 0;  ///< since it is followed
  double compute_seconds = 0;
  std::optional<double> compute_seconds_in_all;  ///< since the scheduler began; nullopt: it does not tell
};

/// Of the tasks that finish it knows what it was told.
class LiveScheduler {
 public:
  static constexpr size_t kMostPrefixes = 1000;
  static constexpr size_t kMostWorkers = 10'000;

  explicit LiveScheduler(int64_t since_ns) : since_ns_(since_ns) {}

  /// `second` as of `LiveModel`.
  void Add(const SchedulerFact& told, int64_t second);
  /// Since it began, by prefix.
  void SetComputeSeconds(const std::map<std::string, double>& by_prefix);

  /// When it was first heard of.
  int64_t since_ns() const { return since_ns_; }
  /// One of its own numbers, such as `workers`; nullopt: it does not tell.
  std::optional<int64_t> count(const std::string& name) const;
  const std::map<std::string, int64_t>& counts() const { return counts_; }
  /// It is known to live, and has tasks that have not ended.
  bool is_at_work() const { return is_there_ && has_tasks(); }
  bool has_tasks() const { return count("tasks").value_or(0) > 0; }
  /// Why finished tasks are not told at present; empty: they are.
  const std::string& stream_problem() const { return stream_problem_; }
  /// Since it is followed, as far as they were told; nullopt: none was ever told of.
  std::optional<int64_t> finished() const;
  /// Per second over the last ones, up to 30; nullopt: they are not told, or not yet for a whole second.
  std::optional<double> finished_rate(int64_t second) const;
  const std::map<std::string, SchedulerTasks>& tasks() const { return tasks_; }
  /// Finished tasks by the worker's address.
  const std::map<std::string, int64_t>& finished_by_worker() const { return finished_by_worker_; }

 private:
  int64_t since_ns_;
  std::map<std::string, int64_t> counts_;
  bool is_there_ = false;
  std::string stream_problem_ = "nothing was told yet";
  std::optional<int64_t> streams_since_;  // the second from which on its stream is read without a gap
  bool has_streamed_ = false;
  int64_t finished_ = 0;
  std::map<std::string, SchedulerTasks> tasks_;
  std::map<std::string, int64_t> finished_by_worker_;
  RecentSeconds<int64_t, kRecentSeconds + 2> recent_;
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SERVER_LIVE_WORKER_H_
