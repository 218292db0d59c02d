#include "collector/metrics/catalog/row_tables.h"

namespace crema {
namespace {

constexpr RowField kPhaseFields[] = {
    {"phase", "", "preprocess, process, reduce or postprocess"},
    {"wall_time", "s", "length of the union of its spans, or tasks"},
    {"task_seconds", "s", "of the engine's tasks in it; null where no engine was observed"},
    {"start", "s", "first begin, since the run's start"},
    {"stop", "s", "last end, since the run's start"},
};

constexpr RowField kBreakdownFields[] = {
    {"name", "", "the dataset, file, host or thread"},
    {"chunks", "count", "chunks whose result is in the row"},
    {"attempts", "count", "attempts with any status"},
    {"failed", "count", "attempts that failed"},
    {"lost", "count", "attempts that began and whose process ended or vanished"},
    {"events", "count", "of results"},
    {"bytes_read", "B", "of ended attempts, as stored"},
    {"bytes_uncompressed", "B", "of ended attempts, after decompression"},
    {"duration_sum", "s", "wall time of ended attempts"},
    {"duration_mean", "s", "of ended attempts, as the next three"},
    {"duration_p50", "s",
     "median: the value of rank ceil(p n); of attempts that have a line (`quality.summed_chunks`)"},
    {"duration_p95", "s", "95 % quantile"},
    {"duration_max", "s", "longest"},
    {"cpu_sum", "s", "CPU time of ended attempts, owner and helpers"},
    {"cpu_wait_sum", "s", "run delay of their owners"},
    {"blocked_sum", "s", "time in which their owners were blocked"},
    {"event_rate", "Hz", "events / duration_sum"},
    {"events_per_cpu_second", "Hz", "events / cpu_sum"},
    {"rss_delta_mean", "B", "mean change of resident memory over an ended attempt"},
};

constexpr RowField kWorkerFields[] = {
    {"name", "", "the engine's name for it, else its process"},
    {"process", "", "`<host>:<pid>`"},
    {"start", "s", "since the run's start; the fields between are those of the rows above"},
    {"stop", "s", "since the run's start"},
    {"cores", "cores",
     "declared cores; else the most lanes that it had at once, but no more than it was allowed or its batch system "
     "gave it; `run.cores_source` says which"},
    {"state", "", "ended, running or lost"},
    {"peak_memory_bytes", "B", "largest sample of resident memory"},
    {"memory_limit_bytes", "B", "the limit in force"},
    {"disk_bytes", "B", "that an engine's worker offers to its tasks; null: not told"},
    {"left_reason", "",
     "why an engine's worker left, in the engine's words, or what the kernel said of a process that vanished under "
     "`crema "
     "run`; null: it did not leave, or nobody told"},
    {"engine_cpu", "s", "CPU time that its batch system counted; null: nobody told, as the next two"},
    {"engine_peak_memory_bytes", "B", "the most memory that its batch system saw it use"},
    {"time_limit", "s", "for how long its batch system let it run"},
};

constexpr RowField kDatasetFields[] = {
    {"gpu_seconds", "s",
     "times of kernels that its chunks launched, added up; null where they were not counted (`crema run --gpu`), as "
     "the "
     "next four"},
    {"gpu_launches", "count", "these kernels"},
    {"gpu_copy_seconds", "s", "copies and fills on the devices"},
    {"gpu_to_device_bytes", "B", "copied from the host to the devices"},
    {"gpu_from_device_bytes", "B", "copied from the devices to the host"},
};

constexpr RowField kSectionFields[] = {
    {"path", "", "names from the outermost section inwards; `(other)` is the owner's time outside every section"},
    {"helper", "", "true: ran on helper threads, and stands apart from the owner's time"},
    {"count", "count", "calls"},
    {"total", "s", "wall time with nested sections"},
    {"self", "s", "wall time without nested sections; the owner rows' add up to the busy time"},
    {"min", "s", "shortest call"},
    {"max", "s", "longest call"},
    {"mean", "s", "per call"},
    {"cpu", "s", "CPU time, where the section asked for it"},
    {"failed", "count", "calls left by an exception"},
    {"chunks", "count",
     "ended attempts in which it ran; null outside chunks, as the next five, and where chunks were summed, as the "
     "last"},
    {"p50", "s", "median of the total in one chunk, over chunks in which it ran"},
    {"p95", "s", "95 % quantile of the same"},
    {"p99", "s", "99 % quantile of the same"},
    {"mean_per_chunk", "s", "over all ended attempts"},
    {"mean_when_run", "s", "over those in which it ran"},
    {"share", "ratio", "self / busy_time"},
    {"self_in_workers", "s",
     "outside chunks: the part of `self` that is in workers; other processes (a parent that waits) use no core"},
    {"allocations", "count",
     "blocks that the section allocated itself, without the sections inside it; null where they were not counted "
     "(`crema run --allocations`), as the next four"},
    {"allocated_bytes", "B", "of these blocks, as malloc_usable_size counts them"},
    {"live_bytes", "B", "of these, not freed by anyone when recording ended; sum over processes"},
    {"peak_live_bytes", "B", "the most that was live at once, in one process"},
    {"live_growth_bytes", "B",
     "live bytes less those that were live when a quarter to half of its process's chunks had ended, the largest of "
     "one "
     "process; a cache that was filled before does not count. Null where no process had four chunks"},
    {"gpu_seconds", "s",
     "times of kernels that the section launched, without the sections inside it, on the devices, added up; null where "
     "they were not counted (`crema run --gpu`), as the next six. What helpers launched is in the row without helper, "
     "if there is one of its path"},
    {"gpu_launches", "count", "these kernels"},
    {"gpu_copy_seconds", "s", "copies and fills on the devices"},
    {"gpu_to_device_bytes", "B", "copied from the host to the devices"},
    {"gpu_from_device_bytes", "B", "copied from the devices to the host"},
    {"gpu_wait_seconds", "s", "of the thread, inside CUDA's synchronisations and copies"},
    {"gpu_wait_cpu_seconds", "s", "of this, CPU time: the thread spun"},
};

constexpr RowField kGpuKernelFields[] = {
    {"section", "", "path of the section that launched it; empty outside every section"},
    {"dataset", "", "of the chunk; null where it has none, and outside chunks"},
    {"kernel", "", "its name, as the source has it"},
    {"launches", "count", "how often it ran"},
    {"seconds", "s", "on the devices, added up"},
    {"max_seconds", "s", "the longest"},
};

constexpr RowField kMemorySectionFields[] = {
    {"path", "", "names from the outermost section inwards"},
    {"count", "count", "calls"},
    {"delta_bytes", "B", "sum of the changes of resident memory; null beyond 64 bits"},
    {"min_bytes", "B", "least change in one call"},
    {"max_bytes", "B", "largest change in one call"},
    {"rss_start_bytes", "B", "resident memory before the largest change"},
    {"rss_stop_bytes", "B", "resident memory after it"},
    {"peak_bytes", "B", "largest resident memory seen at a begin or end"},
};

constexpr RowField kCustomMetricFields[] = {
    {"name", "", "as recorded"},
    {"unit", "", "as recorded; may be empty"},
    {"count", "count", "finite values, of `ok` attempts"},
    {"sum", "its unit", "sum of the values"},
    {"mean", "its unit", "sum / count"},
    {"min", "its unit", "least value"},
    {"max", "its unit", "largest value"},
    {"p50", "its unit", "median of the values; those of summed chunks are not among them"},
    {"p95", "its unit", "95 % quantile of the same"},
    {"quantiles_of", "",
     "`values`; or `chunk means`, if a chunk with several values has no sketch of them: then their mean stands for "
     "each of them"},
    {"invalid", "count", "values that were not finite: counted, not summed"},
    {"failed_count", "count", "finite values of failed attempts, which no other field holds"},
    {"failed_sum", "its unit", "their sum"},
    {"by_dataset", "", "the fields from `count` to `failed_sum`, for each dataset"},
    {"histogram", "", "`edges` and `counts` of at most 40 bins; null where not all values are known"},
};

constexpr RowField kCutFields[] = {
    {"name", "", "as recorded"},
    {"events", "count", "events that passed, summed over results"},
    {"weights", "", "sum of weights; null where a result gave none"},
    {"step_efficiency", "ratio", "events / events of the cut before; 1 for the first"},
    {"total_efficiency", "ratio", "events / events of the first cut"},
};

constexpr RowField kRequestFields[] = {
    {"server", "", "the server or mount, as recorded"},
    {"operation", "", "as recorded: read, readv, open and others"},
    {"calls", "count", "requests that ended, of ended attempts"},
    {"bytes", "B", "that they moved, as far as their callers told; null beyond 64 bits"},
    {"seconds", "s", "wall time of all of them; those that overlapped count each"},
    {"max_seconds", "s", "the slowest"},
    {"errors", "count", "those that failed"},
};

constexpr RowField kFunctionFields[] = {
    {"section", "", "path of the section that was open; empty outside every section"},
    {"dataset", "", "of the chunk; null where it has none"},
    {"function", "",
     "the innermost function of the stack, as its language names it; of native code without a symbol `file+0xaddress`"},
    {"file", "",
     "the source that defines it; of native code without debug information the program or library that has it; null "
     "where that is not known"},
    {"line", "", "the line of its definition; null where that is not known"},
    {"samples", "count",
     "how often it was seen on a CPU, weighed by the CPU time since the thread was looked at before"},
    {"share", "ratio", "of the samples of this section and dataset; null where some of them found no room"},
    {"share_error", "ratio",
     "the true share is within share +- share_error in 95 of 100 runs; by the number of sightings"},
};

constexpr RowField kFineFields[] = {
    {"context", "",
     "the engine's: execute, get-data, gather-dep and others; `native`: recorded by the SDK's activities"},
    {"span", "", "the engine's span (its id), or the chunk's; null: none"},
    {"worker", "", "the engine's name for it, else `<host>:<pid>`"},
    {"function", "", "prefix of the task; null where there is none"},
    {"activity", "", "as recorded"},
    {"unit", "", "as recorded"},
    {"value", "its unit", "sum over ended attempts, or over tasks"},
};

constexpr RowField kBudgetFields[] = {
    {"part", "", "see the parts below"},
    {"group", "", "the heading under which it is shown"},
    {"core_seconds", "core s", "the rows add up to core_seconds + oversubscribed_core_seconds"},
    {"share", "ratio", "of the sum of the rows"},
};

constexpr RowField kStragglerFields[] = {
    {"chunk", "", "its number in the log of its process"},
    {"dataset", "", "as recorded"},
    {"file", "", "as recorded"},
    {"entry_start", "count", "first entry of the file"},
    {"entry_stop", "count", "one past its last entry"},
    {"worker", "", "`<host>:<pid>`"},
    {"start", "s", "since the run's start"},
    {"duration", "s", "what it took"},
    {"predicted", "s", "what the robust fit of its dataset predicts for its events"},
    {"events", "count", "as recorded"},
    {"cpu", "s", "owner and helpers"},
    {"cpu_wait", "s", "run delay of the owner"},
    {"blocked", "s", "time in which the owner was blocked"},
    {"reason", "", "where most of the excess went: cpu, cpu_wait, blocked, joined or unknown"},
};

constexpr RowField kChunkFitFields[] = {
    {"dataset", "", "as recorded"},
    {"attempts", "count", "ok attempts in the fit"},
    {"fixed_seconds", "s",
     "the part of a chunk's time that does not depend on its size; this and the next five are null if all chunks have "
     "one size"},
    {"fixed_seconds_low", "s", "lower end of its 95 % interval, from the scale of the residuals"},
    {"fixed_seconds_high", "s", "upper end"},
    {"seconds_per_event", "s", "what each event adds"},
    {"seconds_per_event_low", "s", "lower end of its 95 % interval"},
    {"seconds_per_event_high", "s", "upper end"},
    {"events_min", "count", "fewest events of a chunk; null where none told its events, as the next two"},
    {"events_p50", "count", "median"},
    {"events_max", "count", "most events of a chunk"},
    {"stragglers", "count", "of them took far longer than the fit gives"},
    {"oversized", "count", "results with over 3 times the median's events"},
};

constexpr RowField kSlowSpellFields[] = {
    {"name", "", "of the worker, host, file or dataset; null where everything was slow"},
    {"by", "", "file, worker, host, dataset or run"},
    {"start", "s", "since the run's start: the first begin of its chunks"},
    {"stop", "s", "since the run's start: their last stop"},
    {"attempts", "count", "ok attempts in it, as the next two"},
    {"duration", "s", "what they took"},
    {"predicted", "s", "what the fits of their datasets predict for their events"},
    {"reason", "",
     "where most of the time beyond that went, compared with other chunks: `cpu`, `cpu_wait`, `blocked`, `joined` or "
     "`unknown`"},
    {"section", "",
     "the section whose own time took over half of that; null where no one section did, for all but the first 10 "
     "spells, and where the records were a stream"},
};

constexpr RowField kProcessFields[] = {
    {"name", "", "the kernel's name of it, at most 15 bytes"},
    {"host", "", "where it ran"},
    {"pid", "", "its id there"},
    {"start", "s", "since the run's start"},
    {"stop", "s", "since the run's start: its last sample"},
    {"cpu", "s", "CPU time, user and system, until its last sample"},
    {"peak_memory_bytes", "B", "largest sample of resident memory"},
    {"threads", "count", "most threads in a sample"},
};

constexpr RowField kContentionFields[] = {
    {"attempts", "count", "ok attempts whose events, CPU time and run delay are known"},
    {"lanes_low", "count", "mean number of open lanes during a chunk: 5 % of the chunks had fewer"},
    {"lanes_high", "count", "5 % had more"},
    {"slope", "s", "how much longer an event is blocked with each further lane; null if the records do not tell"},
    {"slope_low", "s", "lower end of its 90 % interval: above 0 there is a shared resource"},
    {"slope_high", "s", "its upper end"},
    {"ceiling", "Hz", "1 / slope, events per second that the resource serves; null where slope_low is not above 0"},
    {"ceiling_low", "Hz", "1 / slope_high"},
    {"ceiling_high", "Hz", "1 / slope_low"},
    {"excess", "s", "the part of the blocked time that the slope gives for the lanes beyond one"},
    {"excess_low", "s", "the same with slope_low"},
    {"points", "",
     "pairs of mean open lanes and median blocked seconds per event, without the differences between datasets; at most "
     "24"},
    {"reason", "", "why there is no slope"},
};

constexpr RowField kExpectedTimeFields[] = {
    {"name", "", "of the worker or file"},
    {"by", "", "worker or file"},
    {"attempts", "count", "ok attempts that a fit judges"},
    {"duration", "s", "what they took together"},
    {"predicted", "s", "what the robust fits of their datasets predict for their events"},
};

constexpr RowField kChunkSizeAdviceFields[] = {
    {"dataset", "", "as recorded"},
    {"events_p50", "count", "median of its chunks"},
    {"events_least", "count", "from here on the fixed cost of a chunk is under 5 %"},
    {"events_most", "count",
     "up to here the tail is expected to stay under 5 %, and memory under the limit; null: neither bounds it"},
    {"seconds_least", "s", "what a chunk of events_least takes"},
    {"seconds_most", "s", "what a chunk of events_most takes"},
    {"limited_by", "", "what sets events_most: tail or memory"},
    {"reason", "", "why there is no advice, or what it could not consider"},
};

constexpr RowField kResourceAdviceFields[] = {
    {"resource", "", "memory, in bytes, or cores"},
    {"jobs", "count",
     "jobs that ended by themselves, and of which it is known what they used: largest memory; CPU time over elapsed "
     "time"},
    {"requested", "", "median of what jobs had"},
    {"used", "",
     "99 % quantile of what they used, the value of rank ceil(0.99 n): the request to make; null: `reason`"},
    {"used_low", "", "lower end of its 95 % interval, by the order of the values alone"},
    {"used_high", "", "upper end; null: there are too few jobs for one"},
    {"reason", "", "why there is no advice, or no upper end"},
};

constexpr RowField kVerdictFields[] = {
    {"id", "", "see [verdicts](verdicts.md)"},
    {"severity", "", "good, info, warning or bad"},
    {"sentence", "", "the finding, for people"},
    {"evidence", "", "rows `key value`: the figures that made it fire"},
    {"suggestion", "", "what to do; empty where nothing is to be done"},
    {"saving", "ratio", "share of the core-seconds that could be saved; null if it is not known"},
    {"cause", "", "id of the verdict that explains this one, which stands before it; null where none does"},
};

constexpr RowTable kTables[] = {
    {"phases", "One row each, in this order; see [runs and workers](#runs-and-workers).", kPhaseFields},
    {"datasets files workers hosts threads",
     "Attempts summed by what they belong to, largest `duration_sum` first. `workers` has more fields, below.",
     kBreakdownFields},
    {"workers",
     "Beside the fields above. A worker of an engine that had no chunk stands here if it was lost, or if a task of it "
     "failed.",
     kWorkerFields},
    {"datasets", "Beside the fields above.", kDatasetFields},
    {"sections process_sections",
     "Sections inside chunks, as a tree, `(other)` last, helpers after owners; and those outside chunks, whose "
     "per-chunk fields are null.",
     kSectionFields},
    {"memory_sections", "By path.", kMemorySectionFields},
    {"custom_metrics",
     "Your own metrics, by name and unit. Those of processes (`RecordProcessMetric`) are of no dataset.",
     kCustomMetricFields},
    {"cuts", "The cut flow, in the order in which cuts were recorded.", kCutFields},
    {"requests",
     "Requests to storage, by server and operation, `(other)` last. They may overlap: their seconds are no part of the "
     "sections' times.",
     kRequestFields},
    {"functions",
     "What sections are made of ([inside a section](inside.md)), by section and dataset, in each the largest first, "
     "`(other)` last.",
     kFunctionFields},
    {"gpu_kernels",
     "Kernels that ran on GPUs, by section and dataset of the launching thread, longest first, at most 200. Only with "
     "`crema run --gpu`; as far as they were counted.",
     kGpuKernelFields},
    {"fine", "Activities, by worker, span, activity and unit.", kFineFields},
    {"budget", "Where the core-seconds went.", kBudgetFields},
    {"stragglers", "Chunks that took far longer than their size explains, largest excess first; at most 1000.",
     kStragglerFields},
    {"chunk_fits", "The robust fit of duration = fixed + slope x events of each dataset's ok attempts.",
     kChunkFitFields},
    {"expected_time",
     "The time that workers and files took, beside the time that chunks of the same dataset and size take. Largest "
     "excess first, at most 500 of each. Only datasets with 8 ok attempts or more count.",
     kExpectedTimeFields},
    {"slow_spells",
     "Times in which chunks were slow: chunks that follow each other on a worker, on a host, in a file, of a dataset "
     "or in the whole run, and took 1.5 times what the fits predict, or more. Largest excess first, at most 100.",
     kSlowSpellFields},
    {"processes",
     "The processes of `crema run` as sampled, most CPU time first, at most 200. What began and ended between two "
     "samples is not among them.",
     kProcessFields},
    {"contention",
     "Whether chunks are blocked for longer while more of them are open, in one row. A resource that serves R events a "
     "second blocks each of k open chunks for k / R an event; what a chunk waits for by itself does not depend on k.",
     kContentionFields},
    {"chunk_size_advice", "The number of events per chunk that fits, cores and memory limits suggest.",
     kChunkSizeAdviceFields},
    {"resource_advice",
     "What to ask the batch system for. If it told what its jobs used, there is a row for memory and one for cores.",
     kResourceAdviceFields},
    {"verdicts",
     "Worst first; behind each verdict stand those that it explains. Of equal severity, gaps of the measurement come "
     "first, then failing chunks, then the largest saving.",
     kVerdictFields},
};

constexpr RowField kTimelines[] = {
    {"worker_counts", "count", "live workers"},
    {"worker_memory", "B", "resident memory"},
    {"worker_memory_limit", "B", "its limit"},
    {"worker_cores", "cores", "the worker's cores"},
    {"worker_active_tasks", "count", "tasks assigned, queued ones too"},
    {"worker_executing", "count", "tasks running"},
    {"worker_nbytes", "B", "results held"},
    {"worker_occupancy", "s", "queued work"},
    {"worker_last_seen", "s", "latest sign of life, since the run's start"},
    {"worker_cpu", "cores", "CPU seconds per second since the sample before"},
    {"worker_spilled_bytes", "B", "spilled to disk"},
    {"worker_managed_bytes", "B", "memory that the engine manages"},
    {"worker_network_read_bps", "B/s", "received"},
    {"worker_network_write_bps", "B/s", "sent"},
    {"worker_disk_read_bps", "B/s", "read from devices"},
    {"worker_disk_write_bps", "B/s", "written to devices"},
    {"worker_event_loop_interval", "s", "time between two turns of the engine's event loop"},
    {"worker_gil_contention", "ratio", "share of the time in which Python's global interpreter lock was not free"},
    {"worker_open_chunks", "count", "chunks open"},
    {"worker_fds", "count", "open file descriptors"},
    {"worker_threads", "count", "threads of the process"},
    {"tree_cpu", "cores", "all processes of a `crema run`: CPU seconds per second since the reading before"},
    {"tree_cpu_system", "cores", "of it, in the kernel"},
    {"tree_memory", "B", "their resident memory"},
    {"tree_pss", "B", "their proportional memory: a shared page is divided among those that share it"},
    {"tree_processes", "count", "how many they were"},
    {"tree_threads", "count", "their threads"},
    {"tree_read_bps", "B/s", "they read from devices"},
    {"tree_write_bps", "B/s", "they wrote to devices"},
    {"tree_rchar_bps", "B/s", "their read calls returned, from caches and pipes too"},
    {"tree_wchar_bps", "B/s", "their write calls took"},
    {"tree_net_rx_bps", "B/s", "received in their network namespace (host-wide where run.net_host_wide says so)"},
    {"tree_net_tx_bps", "B/s", "sent from it"},
    {"gpu_utilization_percent", "%", "a GPU, `<host>:<index>`: share of the last moments in which some kernel ran"},
    {"gpu_memory", "B", "its memory that is in use, by anybody"},
    {"gpu_power_mw", "mW", "its power"},
    {"process_cpu", "cores",
     "a process of theirs, `<name>:<pid>`; the 24 with most CPU time and the 8 with most memory"},
    {"process_memory", "B", "its resident memory"},
    {"process_threads", "count", "its threads"},
};

}  // namespace

absl::Span<const RowTable> RowTables() { return kTables; }
absl::Span<const RowField> TimelineSeries() { return kTimelines; }

}  // namespace crema
