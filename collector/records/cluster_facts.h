// What an engine's scheduler knows of its workers, as plain facts. Times are Unix nanoseconds on the scheduler's clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace crema {

/// One reading of a worker, as the scheduler last heard of it.
struct ClusterSampleFact {
  int64_t time_ns = 0;
  std::optional<int64_t> last_seen_ns;
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> memory_limit_bytes;
  std::optional<double> cpu_percent;  ///< of one core
  std::optional<int64_t> active;      ///< tasks assigned, queued ones too
  std::optional<int64_t> executing;
  std::optional<int64_t> nbytes;
  std::optional<double> occupancy;  ///< seconds of queued work
  std::optional<int64_t> managed_bytes;
  std::optional<int64_t> spilled_bytes;
  std::optional<double> network_read_bps;
  std::optional<double> network_write_bps;
  std::optional<double> disk_read_bps;
  std::optional<double> disk_write_bps;
  std::optional<double> event_loop_interval;  ///< seconds
  std::optional<int64_t> fds;
  /// Share of the time since the reading before in which nobody got Python's global interpreter lock at once.
  std::optional<double> gil_contention;
};

/// A worker from its join to its leave.
struct ClusterWorkerFact {
  std::string address;
  std::string host;  ///< as the scheduler reaches it
  std::optional<int64_t> pid;
  int64_t threads = 0;
  std::optional<int64_t> memory_limit_bytes;
  int64_t joined_ns = 0;           ///< 0: it was there before anybody looked
  std::optional<int64_t> left_ns;  ///< nullopt: it is still there
  bool is_lost = false;            ///< it left by a failure
  bool left_unreported = false;    ///< whether it left by a failure is not known
  std::string left_reason;         ///< in the engine's words; empty: not known
  std::optional<int64_t> disk_bytes;
  // What a batch system counted, and allowed.
  std::optional<int64_t> cpu_ns;
  std::optional<int64_t> peak_memory_bytes;
  std::optional<int64_t> time_limit_ns;
  /// What the scheduler's clock is ahead of the worker's; nullopt: not known.
  std::optional<int64_t> clock_offset_ns;
  // Reported by its plug-in; empty: that never came.
  std::string hostname;
  std::optional<int64_t> process_start_ns;
  std::string failure;  ///< why it records nothing
  std::vector<ClusterSampleFact> samples;
};

/// A task as the scheduler's own log has it. Engines whose workers write task lines (docs/record_log.md) need none.
struct ClusterTaskFact {
  std::string worker;  ///< its address
  std::string prefix;  ///< what tasks of its kind are called
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  std::optional<int64_t> queue_ns;  ///< between the order and the start
  bool failed = false;
  bool is_last = false;    ///< it is not tried again, and nobody cancelled it; false too where the engine does not say
  bool is_script = false;  ///< it starts other tasks, which have its cores: it counts where its processes recorded
  int32_t cores = 0;       ///< of its worker, that it was given; 0: not known
  // For engines that start a process for each task.
  std::string job;                      ///< `name` and `job` of `process.engine`, with a blank; empty: not known
  std::string directory;                ///< the name of the directory that it runs in: `task.14`; empty: not known
  bool is_repeat = false;               ///< it was tried before
  std::optional<int64_t> dispatch_ns;   ///< its core was held, and its input sent, before it began
  std::optional<int64_t> retrieval_ns;  ///< its core was held after its end, until its output was there
};

/// Seconds by action (`compute` and others) of one prefix since the scheduler began.
struct ClusterAccountFact {
  int64_t time_ns = 0;
  std::string prefix;
  std::map<std::string, double> seconds;
};

struct ClusterSpanFact {
  std::string id;
  int64_t enqueued_ns = 0;
  int64_t stop_ns = 0;
  bool done = false;
};

/// What one collector measured.
struct ClusterSessionFact {
  std::string id;
  std::optional<int64_t> begin_ns;
  std::optional<int64_t> end_ns;
  std::optional<int64_t> flushed_ns;  ///< by then, workers had reported what they did until the end
  std::string processor;              ///< prefix of the tasks that the user calls the processor's; empty: not known
};

/// All that one scheduler reported.
struct ClusterFact {
  std::string log;    ///< in which this stands; empty: not known
  std::string epoch;  ///< distinguishes schedulers, and restarts of one
  std::string address;
  std::string version;  ///< of the engine; empty: not known
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t seen_ns = 0;  ///< until then nothing more had happened; 0: until `last_ns`
  bool closed = false;
  std::map<std::string, int64_t> counts;   ///< as the engine's log has them, by name
  std::vector<ClusterWorkerFact> workers;  ///< in the order in which they came
  std::vector<ClusterTaskFact> tasks;
  std::vector<ClusterAccountFact> accounts;
  std::vector<ClusterSpanFact> spans;
  std::vector<ClusterSessionFact> sessions;
  std::map<std::string, std::string> silent;  ///< workers that did not answer the last flush, and why
  int64_t erred = 0;                          ///< tasks given up
  std::map<std::string, int64_t> lost_bytes;  ///< that workers sent and the scheduler could not keep, by record log
  /// Why nothing of a job was run, `held: cannot read the input file`; empty: something was.
  std::string never_began;
  int64_t never_began_jobs = 1;         ///< that it stands for: the rest of an array is one
  bool is_removed = false;              ///< its user ended the job
  std::vector<std::string> complaints;  ///< what people should know of it, one line each
};

/// What a scheduler reports of itself while it is followed, where its workers report nothing.
struct SchedulerFact {
  struct Finished {
    std::string prefix;
    int64_t tasks = 0;
    double compute_seconds = 0;
  };
  std::string address;
  std::map<std::string, int64_t> counts;  ///< at this moment: `workers`, `cores`, `tasks`, `erred` and others
  std::vector<Finished> finished;         ///< since the last report, as the next
  std::map<std::string, int64_t> finished_by_worker;
  std::string problem;    ///< why finished tasks are not reported; empty: they are
  bool is_there = false;  ///< it is known to live: it was heard of just now, or its process here has its log open
};

}  // namespace crema
