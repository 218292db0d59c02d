// A run, attempt by attempt, at the level of detail that a picture can show: what report, plots and notebooks draw.
//
// A run of a few thousand chunks is here as it was. One of a million is reduced: over time into bins, over values into
// histograms and grids, all of them filled from every record. Attempts that somebody will ask for by name (failed,
// repeated, slow, late) stay exact whatever the size.
#pragma once

#include "collector/measurement/measurement.h"
#include "collector/sources/record_log.h"

namespace crema {

/// How much is kept. The defaults keep a report of a million chunks below 5 MB.
struct DetailOptions {
  size_t exact_attempts = 50'000;  ///< up to here every attempt is listed
  size_t rows = 256;               ///< of the timeline; above that, threads share a row
  size_t threads = 200;            ///< each with a row of its own; above that, those that never overlap share one
  size_t runs = 120'000;           ///< of the timeline; above that, bins become wider, down to `fewest_bins`
  int timeline_bins = 2'000;
  int fewest_bins = 250;
  int time_bins = 500;  ///< of sums over time
  int grid_bins = 400;  ///< of sums over time by worker
  size_t slowest = 500;
  size_t unexpected = 500;
  size_t tail = 2'000;
  size_t failed = 10'000;  ///< failed, lost and repeated attempts; beyond that they are counted
  size_t tasks = 50'000;   ///< of an engine; above that, none is listed
};

/// Why an attempt is listed, as bits of `DetailAttempt::kept_for`.
enum KeptFor : uint8_t {
  kKeptAsAll = 1,         ///< the run is small enough
  kKeptAsFailed = 2,      ///< failed, lost, or of a chunk that was attempted again
  kKeptAsSlow = 4,        ///< among the longest
  kKeptAsUnexpected = 8,  ///< among the longest beyond what their size explains
  kKeptInTail = 16,       ///< open after the moment from which on cores ran out of work
};

/// One attempt at a chunk. Times are nanoseconds since `RunDetail::start_ns`; what was not measured is nullopt.
struct DetailAttempt {
  uint32_t worker = 0;   ///< index into `RunDetail::workers`
  uint32_t lane = 0;     ///< as its row's, where rows are threads or lanes; attempts of a lane do not overlap
  uint32_t row = 0;      ///< index into `RunDetail::rows`
  uint32_t dataset = 0;  ///< index into `RunDetail::datasets`
  uint32_t file = 0;     ///< index into `RunDetail::files`
  uint32_t error = 0;    ///< index into `RunDetail::errors`; 0: none
  uint32_t notes = 0;    ///< index into `RunDetail::notes`; 0: none
  AttemptState state = AttemptState::kOk;
  uint8_t kept_for = 0;
  bool is_result = false;     ///< docs/metrics.md, "Chunks and attempts"
  bool is_oversized = false;  ///< docs/metrics.md: more than 3 x the events of its dataset's median chunk
  int32_t attempt = 1;        ///< which attempt at its chunk, in order of begin
  int32_t attempts = 1;       ///< at its chunk, in all
  int64_t number = 0;         ///< the record's `chunk`
  int64_t start_ns = 0;
  std::optional<int64_t> duration_ns;  ///< without suspension; nullopt: it did not end
  int64_t suspended_ns = 0;
  std::optional<int64_t> events;
  std::optional<int64_t> cpu_ns;  ///< owner and helpers
  std::optional<int64_t> cpu_wait_ns;
  std::optional<int64_t> blocked_ns;
  std::optional<int64_t> entry_start;
  std::optional<int64_t> entry_stop;
  std::optional<double> expected_seconds;              ///< by its dataset's robust fit
  std::string_view straggler_reason;                   ///< `cpu`, `cpu_wait`, `blocked`, ...; empty: no straggler
  std::vector<std::pair<uint32_t, int64_t>> sections;  ///< top-level ones of its own thread: index, ns

  int64_t stop_ns() const { return start_ns + duration_ns.value_or(0) + suspended_ns; }
};

/// One line of the timeline.
struct DetailRow {
  std::string label;     ///< of a thread its worker's name; of what was merged, the host or `others`
  uint32_t worker = 0;   ///< index into `RunDetail::workers`; of a row of several, the first
  uint32_t lane = 0;     ///< of its worker's rows; where rows are threads, in order of their first attempts
  int32_t lanes = 1;     ///< that share it
  int64_t attempts = 0;  ///< exact, as are the sums below
  int64_t failed = 0;    ///< failed or lost
  int64_t busy_ns = 0;   ///< of ended attempts
  int64_t events = 0;    ///< of results
};

/// A task of an engine, on the row of its thread.
struct DetailTask {
  uint32_t row = 0;
  uint32_t prefix = 0;     ///< index into `RunDetail::task_prefixes`
  bool has_chunk = false;  ///< what else it did was done around a chunk
  bool failed = false;
  int64_t start_ns = 0;  ///< since `RunDetail::start_ns`
  int64_t stop_ns = 0;
};

/// Neighbouring bins of a row that look the same.
struct DetailRun {
  uint32_t row = 0;
  uint32_t first_bin = 0;
  uint32_t bins = 1;
  uint32_t slot = 0;    ///< of the dataset that was busy longest (`SlotOf`)
  uint8_t busy = 0;     ///< eighths of the row's lanes
  uint8_t waiting = 0;  ///< eighths of the busy time without CPU
  bool has_failed = false;
};

/// Sums over equal parts of time. An attempt's quantities are spread evenly over its duration.
struct TimeBins {
  double start_seconds = 0;  ///< of the first bin, since the run's start
  double bin_seconds = 0;
  std::vector<double> busy_seconds;      ///< of ended attempts
  std::vector<double> cpu_seconds;       ///< of them
  std::vector<double> cpu_wait_seconds;  ///< of them
  std::vector<double> blocked_seconds;   ///< of them
  std::vector<double> events;            ///< of results
  std::vector<double> bytes_read;        ///< of ended attempts
  std::vector<double> finished_chunks;   ///< results that stopped in the bin
  std::vector<double> lanes_available;   ///< mean; empty: the workers' cores are not known
};

/// A quantity of the whole run over time, on the bins of `TimeBins`.
struct TimeTrack {
  std::string_view name;             ///< for people
  std::string_view unit;             ///< `B`, `cores` or `B/s`
  std::string_view source;           ///< of what: `samples of the workers`
  std::vector<double> values;        ///< means
  std::vector<double> limit;         ///< what there was of it; empty: not known
  std::string_view limit_name = {};  ///< `memory limits`
};

/// The same by worker, for maps: `values[row * bins + bin]`.
struct WorkerGrid {
  double start_seconds = 0;
  double bin_seconds = 0;
  int bins = 0;
  /// Workers; hosts, or the hosts with most work and `others`, where there are too many.
  std::vector<std::string> rows;
  std::vector<double> busy_seconds;
  std::vector<double> bytes_read;
};

/// Values of one quantity over all attempts that have it; every count is exact.
struct ValueShape {
  std::string_view quantity;  ///< `duration_seconds`, `bytes_read` or `bytes_uncompressed`
  int64_t count = 0;
  double sum = 0;
  std::vector<double> sorted;  ///< all values up to 200, else 201 of them at equal ranks, the ends included
  // logarithmic histogram of positive values: edge i is 10^(first_exponent + i / per_decade)
  double first_exponent = 0;
  int per_decade = 0;
  std::vector<std::vector<int64_t>> counts;  ///< by dataset slot (`SlotOf`), by bin

  double Edge(size_t index) const;
  size_t bins() const { return counts.empty() ? 0 : counts.front().size(); }
};

/// How two quantities go together: counts in cells of equal width, row by row from the smallest y.
struct CountGrid {
  std::string_view x_quantity;
  std::string_view y_quantity;
  int columns = 120;
  int rows = 60;
  double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
  int64_t count = 0;  ///< of all cells
  std::vector<int64_t> cells;
};

/// A straight line through a dataset's chunks (docs/metrics.md, "Where a definition leaves a choice").
struct DetailFit {
  uint32_t dataset = 0;
  double fixed_seconds = 0;
  double seconds_per_event = 0;
  bool slope_known = false;
  int64_t points = 0;
  double events_min = 0;  ///< of its chunks
  double events_max = 0;
};

struct DetailDataset {
  std::string name;
  int64_t attempts = 0;
  int64_t busy_ns = 0;
};

struct DetailWorker {
  std::string name;  ///< as in the document's `workers`
  std::string host;
  int32_t lanes = 0;  ///< most attempts at once
  int64_t busy_ns = 0;
  std::optional<double> start_seconds = {};  ///< when it was there, as the document says; nullopt: not known
  std::optional<double> stop_seconds = {};
  bool is_lost = false;
  std::string left_reason = {};  ///< in the engine's words; empty: not known
};

struct RunDetail {
  int64_t start_ns = 0;         ///< Unix time of the run's start: zero of all times
  double seconds = 0;           ///< the run's wall time, or what its attempts span
  std::string why_no_attempts;  ///< empty: there are attempts

  bool is_exact = true;           ///< every attempt is in `attempts`
  bool timeline_is_exact = true;  ///< and each has its own row: draw those, else `runs`
  int64_t attempts_seen = 0;
  int64_t failed_left_out = 0;          ///< beyond `DetailOptions::failed`
  std::vector<DetailAttempt> attempts;  ///< by start

  std::vector<DetailDataset> datasets;  ///< those with a colour of their own by name, then most busy time first
  std::vector<DetailWorker> workers;    ///< by start
  std::vector<std::string> files;
  std::vector<std::string> sections;
  std::vector<std::string> errors;  ///< the first is empty
  std::vector<std::string> notes;   ///< attributes of an attempt, each as `name: value`; the first is empty

  std::string_view row_kind = "thread";  ///< `thread`, `worker` or `host`: what a row stands for
  bool rows_are_threads = false;         ///< each row is a recorded thread; else threads that never overlap share one
  std::vector<DetailRow> rows;
  int bins = 0;  ///< of the timeline
  double timeline_start_seconds = 0;
  double bin_seconds = 0;
  std::vector<DetailRun> runs;  ///< by row and bin; empty where the timeline is exact

  std::vector<DetailTask> tasks;  ///< by row, then by start; empty where `tasks_left_out` says how many there are
  std::vector<std::string> task_prefixes;
  int64_t tasks_left_out = 0;   ///< all, where they are too many
  int64_t tasks_elsewhere = 0;  ///< of threads without a row: they ran no chunk

  TimeBins over_time;
  std::vector<TimeTrack> tracks;
  WorkerGrid by_worker;
  std::vector<ValueShape> distributions;
  std::vector<CountGrid> grids;
  std::vector<DetailFit> fits;
  std::optional<double> tail_start_seconds;  ///< when the tail begins: docs/metrics.md, "The core-second budget"

  const ValueShape* FindDistribution(std::string_view quantity) const;
  const CountGrid* FindGrid(std::string_view x_quantity, std::string_view y_quantity) const;
};

/// Colours for datasets end somewhere: twelve have one each; of more, the eleven that were busy longest, and one for
/// all others. A dataset's colour depends on the names of the datasets only: it is the same in runs of the same ones.
inline constexpr uint32_t kDatasetSlots = 12;
uint32_t SlotOf(const RunDetail& detail, uint32_t dataset);
/// The slot's name: of the last one, where it stands for several, `other`.
std::string SlotName(const RunDetail& detail, uint32_t slot);
uint32_t SlotCount(const RunDetail& detail);

/// Calls back with every task in workers' logs; `MeasuredSource::ForEachTask` is one.
using TaskReader = std::function<absl::Status(const OnTask&)>;

/// Reads the records once for all sums, and then those parts of them again that hold what is listed. It keeps some 65
/// bytes a chunk in between. Samples, the run's bounds and its tail come from the measurement. A measurement without
/// its records gives what the document has, and says in `why_no_attempts` why that is all. Tasks are read where the
/// document counted some.
RunDetail ReadRunDetail(const Measurement& measurement, const AttemptReader& for_each_attempt,
                        const DetailOptions& options = {}, const TaskReader& for_each_task = nullptr);

}  // namespace crema
