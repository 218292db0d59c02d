// What the live page, the terminal and Prometheus show of a run at one moment.
#pragma once

#include "collector/diagnosis/key_figures.h"
#include "collector/measurement/catalog.h"
#include "collector/server/live_model.h"

namespace crema {

/// A part of the core-seconds of the last half minute.
struct RecentShare {
  std::string_view key;    ///< `compute waiting framework idle open`
  std::string_view label;  ///< for people
  std::string_view brief;  ///< the same, for a line of the terminal
  double share = 0;        ///< 0 to 1; they add up to 1
};

/// How far a run has come; times are seconds from now.
struct Progress {
  int64_t events = 0;
  std::optional<int64_t> total_events;
  std::optional<double> share;
  std::optional<double> left;
  /// Two standard errors of the rate of the last minute, taken in blocks of 10 s.
  std::optional<double> left_low;
  std::optional<double> left_high;
};

struct WorstMemory {
  std::string worker;
  int64_t bytes = 0;
  std::optional<int64_t> limit_bytes;
  std::optional<double> seconds_to_limit;
};

/// The GPUs that processes of the run use; where the driver does not show whose processes use a GPU, those that are
/// busy.
struct LiveGpus {
  int64_t count = 0;
  std::optional<double> utilization;    ///< mean share of the driver's last period with a kernel; of MIG not known
  std::optional<int64_t> memory_bytes;  ///< of the run's processes; nullopt: nobody knows whose it is
  std::optional<double> power_watts;
};

/// How many workers there are.
struct LiveWorkerCounts {
  int64_t recorded = 0;  ///< chunks, as of the next
  int64_t at_work = 0;
  int64_t lost = 0;
};

struct LiveFigures {
  double recent_seconds = 0;  ///< what "recent" means here: up to 30
  double wall_seconds = 0;
  double event_rate = 0;  ///< per second, recent
  double byte_rate = 0;
  std::optional<double> mean_event_rate;  ///< since the start
  std::optional<double> mean_byte_rate;
  LiveWorkerCounts workers;
  double cores = 0;                  ///< of live workers
  double busy = 0;                   ///< open chunks, at most their worker's cores
  std::optional<double> busy_share;  ///< of the cores, recent
  double core_seconds = 0;
  MetricSet metrics;                     ///< what a finished run has too, but for memory
  std::optional<double> cpu_efficiency;  ///< since the start
  std::optional<WorstMemory> memory;     ///< the worker closest to its limit
  LiveGpus gpus;
  int64_t unrecovered = 0;          ///< failed chunks without a result by now
  std::vector<RecentShare> recent;  ///< empty: there were no cores
  Progress progress;
};

LiveFigures ComputeLiveFigures(const LiveModel& model);

/// The state of a run in the words of `run.state`: `running`, `finished` or `killed`. Empty: null there.
std::string_view NameOfRunState(ProcessState state);

/// Always these six, in this order: event rate, data rate, cores busy, CPU efficiency, peak memory, failed attempts;
/// and the GPU, where the run uses one. `figure.key` is that of the metric that a finished run has of it.
std::vector<KeyFigureRow> LiveKeyFigureRows(const LiveModel& model, const LiveFigures& figures);

/// What is wrong with the results so far, in a few words: `2 workers lost`, and once the run is over `3 chunks without
/// a result`. Empty where nothing is, and where the whole run was killed.
std::string LiveTrouble(const LiveModel& model, const LiveFigures& figures);

/// In the order in which workers need to be looked at.
enum class WorkerConcern { kVanished, kTroubled, kRunning, kEnded };

/// Troubled: it is slow, or its memory is nearly full or soon will be.
WorkerConcern ConcernOf(const LiveModel& model, const LiveWorker& worker);

/// The mark of its memory now; good where that or its limit is not known.
Mark MemoryMarkOf(const LiveModel& model, const LiveWorker& worker);

/// Indices of workers that have recorded, at most `most`: those first that need to be looked at, of those that are
/// gone the last ones first. Where others would have no room, vanished ones take half of it.
std::vector<size_t> WorstWorkersFirst(const LiveModel& model, size_t most);

// A live run in the shape of a measurement (`crema.measurement/1`): the keys that are known while it goes on.

/// The run, a dataset or a worker by its index, and the schedulers, as `LiveDocument` and the page have them
/// (docs/live_api.md). What is not known is null.
Json LiveRunJson(const LiveModel& model);
/// `open`: its chunks that are open now.
Json LiveDatasetJson(const LiveModel& model, size_t dataset, int64_t open);
Json LiveWorkerJson(const LiveModel& model, size_t worker);
Json SchedulersJson(const LiveModel& model);

/// `run`, `metrics`, `datasets`, `workers` and `quality`. What a live run does not know is null; `crema show` of the
/// same source has it. So the formats that are written of measurements can be written of it.
Measurement LiveMeasurement(const LiveModel& model, const LiveFigures& figures);

/// The same in JSON, with `definitions`, `schedulers` and what only rows of a live run have. What it does not know is
/// left out.
Json LiveDocument(const LiveModel& model, const LiveFigures& figures);

/// Definitions of the metrics that a live run may have, in the document's order.
absl::Span<const MetricDefinition> LiveMetrics();

/// The chunks in progress, longest first, at most `most`.
Json OpenChunksJson(const LiveModel& model, size_t most);

/// What happened, newest first.
Json EventsJson(const LiveModel& model);

}  // namespace crema
