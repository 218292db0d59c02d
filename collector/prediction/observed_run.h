// What a replay needs to know of a run: its chunks in their order, its lanes, and the gaps between chunks.
#pragma once

#include "collector/diagnosis/words.h"
#include "collector/measurement/measurement.h"
#include "collector/measurement/thresholds.h"
#include "collector/sources/record_log.h"

namespace crema {

/// One ended attempt; seconds. `duration` is all the time for which it held its lane, and the sum of the three after it
/// where these are known.
struct ObservedChunk {
  double start = 0;  ///< since the run's start: only its order and the gap before it are used
  double duration = 0;
  double cpu = 0;       ///< owner and helpers
  double cpu_wait = 0;  ///< of the owner
  bool cpu_known = false;
  double events = -1;      ///< negative: not known
  double section = 0;      ///< in the section that was asked for
  double section_cpu = 0;  ///< of that, as far as its guard measured it
  double gpu_wait = 0;     ///< in CUDA's synchronisations and copies, as far as they were counted
  double gpu_spin = 0;     ///< of `gpu_wait`, CPU time
  uint32_t worker = 0;     ///< index into `workers`
  uint32_t dataset = 0;    ///< in its pass, as is the file
  uint32_t file = 0;
  uint32_t phase = 0;
  double open = 1;  ///< mean number of chunks that were open during it

  double stop() const { return start + duration; }
  /// Neither on a CPU nor waiting for one or for a GPU, as far as these are known.
  double Blocked() const {
    return std::max(0.0, duration - std::min(cpu, duration) - cpu_wait - (gpu_wait - gpu_spin));
  }
  /// Takes so many times as long.
  void Scale(double factor) {
    for (double* seconds : {&duration, &cpu, &cpu_wait, &section, &section_cpu, &gpu_wait, &gpu_spin})
      *seconds *= factor;
  }
};

inline constexpr double kForever = std::numeric_limits<double>::infinity();

/// Lanes that begin and end together.
struct ObservedWorker {
  std::string name;
  double began = 0;   ///< since the run's start
  double after = 0;   ///< of the run, that it did not live, where it stayed to the end
  double joined = 0;  ///< when its first chunk could begin, since the run's start
  double left = 0;    ///< infinite where it stayed to the end
  double cores = 1;
  int lanes = 1;  ///< most chunks at once
};

/// A figure and its 90 % range.
struct PredictedValue {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// What a second of the section that was asked for has of GPUs and of blocked time, on average over the run.
struct SectionOnGpu {
  double waiting = 0;  ///< of the section's thread, at most 1
  double work = 0;     ///< kernels and copies that the section launched
  double blocked = 0;  ///< in it, samples showed what its threads waited for
};

/// A module that never ran twice at once.
struct ObservedModule {
  std::string name;
  double seconds = 0;      ///< of an event, in which it ran
  bool is_serial = false;  ///< else it may be chance that it never did
};

/// Events that go from task to task: what one needs, on average. Seconds.
struct ObservedEvents {
  double count = 0;    ///< 0: the run has none
  double seconds = 0;  ///< from the first begin to the last end
  double cores = 0;
  double streams = 0;  ///< mean number of events that were open
  double latency = 0;  ///< of an event, as what follows
  double queued = 0;
  double external = 0;
  double rest = 0;
  double work = 0;                          ///< of threads in tasks, those of no event included
  double cpu = 0;                           ///< of `work`
  std::string_view why_queue_is_not_known;  ///< a sentence; empty: `rest` holds no queue
  std::vector<ObservedModule> modules;

  double rate() const { return count / seconds; }
  double lanes() const { return std::max(cores, rate() * work); }  ///< tasks at once that there was room for
};

struct ObservedRun {
  double wall_time = 0;
  double shutdown = 0;                ///< from the last stop to the end
  std::vector<ObservedChunk> chunks;  ///< by start
  std::vector<ObservedWorker> workers;
  std::vector<std::string> datasets;
  std::vector<double> gaps;         ///< of a lane between two chunks of one phase
  std::vector<double> between;      ///< before each phase but the first: no lane was busy for so long
  PredictedValue blocked_by_lanes;  ///< s an event for each lane more (docs/metrics.md, "contention"); 0: none is seen
  SectionOnGpu section_on_gpu;
  double blocked_anywhere = 1;     ///< of the chunks' blocked time, what samples place in no section
  double without_cpu = 0;          ///< of the core-seconds in which chunks were ready: others used the cores
  double cpu_wait_of_others = 0;   ///< of what chunks waited for CPUs: the rest was for one another
  bool is_short_of_cpu = false;    ///< so much that others' use of the cores matters
  bool has_uncounted_gpu = false;  ///< chunks may have waited for one, and nobody knows for how long
  CommonWaits common_waits;        ///< which the replay of more chunks at once cannot know
  double coverage = 0;             ///< chunks that are here over all that were begun
  std::string why_not;             ///< not empty: this run cannot be replayed
  std::string broke_off;           ///< not empty: a sentence on how it ended, if that was not by itself
  ObservedEvents events;           ///< if there are some, `chunks` are those beside them

  int lanes() const;
  double cores() const;
};

/// What a run with events needs.
ObservedEvents EventsOf(const Measurement& measurement);

/// Takes the attempts of a run, one by one.
class RunObserver {
 public:
  /// `section`: the path, or its last name, whose time is noted; empty: none.
  explicit RunObserver(std::string section) : section_(std::move(section)) {}
  void Add(const Attempt& attempt);
  /// `measurement`: of the same run.
  ObservedRun Finish(const Measurement& measurement);

 private:
  std::string section_;
  int64_t begun_ = 0;
  std::vector<ObservedChunk> chunks_;  // start in Unix seconds less that of the first
  std::optional<int64_t> zero_ns_;
  std::map<std::string, uint32_t> workers_, datasets_, files_;
};

/// Seconds. A chunk takes `fixed` whatever else runs, and `cpu` on so many cores at once.
struct ReplayChunk {
  double fixed = 0;
  double cpu = 0;
  uint32_t phase = 0;  ///< a phase begins when the one before has ended
  double cores = 1;    ///< more than 1: of its thread and others that worked for it
};

struct ReplayLane {
  double from = 0;  ///< seconds since the run's start
  double until = 0;
};

struct ReplaySetup {
  std::vector<ReplayLane> lanes;
  /// 0: every lane has what its chunks need, and a chunk takes `fixed + cpu`; else the cores that all lanes share.
  double shared_cores = 0;
  size_t most_exact_lanes = 256;  ///< of more that share cores, chunks with nearly the same CPU share advance alike
  std::vector<ReplayChunk> chunks;
  std::vector<double> gaps;     ///< before each chunk that is not the first of its lane: one of these, by `seed`
  std::vector<double> between;  ///< before each phase but the first
  double shutdown = 0;
};

struct ReplayResult {
  double wall_time = 0;
  double busy = 0;          ///< lane-seconds
  double lane_seconds = 0;  ///< that there were
  bool finished = true;     ///< false: all lanes had left before the work was done
  size_t steps = 0;         ///< groups of chunks that were gone through, where lanes share cores
};

/// The same for the same seed.
ReplayResult Replay(const ReplaySetup& setup, uint64_t seed);

/// The end of a replay, several times: of millions of chunks, what varies in the earlier ones is known without a
/// replay. `draw(seed)` sets the chunks from `first` on, and returns by how many seconds all before them take longer.
/// Nothing where all lanes had left before. `setup` has no shared cores.
std::vector<ReplayResult> ReplayLate(const ReplaySetup& setup, size_t first, uint64_t draws,
                                     const std::function<double(uint64_t)>& draw);

}  // namespace crema
