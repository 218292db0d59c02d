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
    {"attempts", "count", "attempts, whatever became of them"},
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
     "declared, else the most lanes it ever had at once, at most what it was allowed, and what its batch system "
     "gave it; `run.cores_source`"},
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
     "outside chunks: of `self`, that of workers; the others' (a parent that waits) is no core's time"},
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
     "`values`; `chunk means` where some chunk with several values told no sketch of them, and "
     "their mean stands for each"},
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
    {"function", "", "the innermost function of the stack, as its language names it"},
    {"file", "", "where it is defined; null where that is not known"},
    {"line", "", "the line of its definition; null where that is not known"},
    {"samples", "count",
     "how often it was seen on a CPU, weighed by the CPU time since the thread was looked at before"},
    {"share", "ratio", "of the samples of this section and dataset; null where some of them found no room"},
    {"share_error", "ratio", "one standard deviation: sqrt(share x (1 - share) / sightings)"},
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
    {"group", "", "what people are shown it under"},
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
    {"predicted", "s", "what the robust fit of its dataset gives for its events"},
    {"events", "count", "as recorded"},
    {"cpu", "s", "owner and helpers"},
    {"cpu_wait", "s", "run delay of the owner"},
    {"blocked", "s", "time in which the owner was blocked"},
    {"reason", "", "where most of the excess went: cpu, cpu_wait, blocked, joined or unknown"},
};

constexpr RowField kChunkFitFields[] = {
    {"dataset", "", "as recorded"},
    {"attempts", "count", "ok attempts in the fit"},
    {"fixed_seconds", "s", "what a chunk takes whatever its size; null where all have one size, as the next five"},
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
    {"predicted", "s", "what the fits of their datasets give for their events"},
    {"reason", "",
     "where most of what they took beyond that went, against chunks elsewhere: `cpu`, `cpu_wait`, `blocked`, `joined` "
     "or `unknown`"},
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
    {"lanes_low", "count", "mean open lanes during a chunk: 5 % of these had fewer"},
    {"lanes_high", "count", "5 % had more"},
    {"slope", "s", "an event is blocked for longer by so much with each lane more; null where nothing can be told"},
    {"slope_low", "s", "lower end of its 90 % interval: above 0 there is a shared resource"},
    {"slope_high", "s", "its upper end"},
    {"ceiling", "Hz", "1 / slope, events per second that the resource serves; null where slope_low is not above 0"},
    {"ceiling_low", "Hz", "1 / slope_high"},
    {"ceiling_high", "Hz", "1 / slope_low"},
    {"excess", "s", "of the blocked time, what the slope gives for the lanes beyond one"},
    {"excess_low", "s", "the same with slope_low"},
    {"points", "",
     "pairs of mean open lanes and median blocked seconds an event, what datasets differ by taken out; at most 24"},
    {"reason", "", "why there is no slope"},
};

constexpr RowField kExpectedTimeFields[] = {
    {"name", "", "of the worker or file"},
    {"by", "", "worker or file"},
    {"attempts", "count", "ok attempts that a fit judges"},
    {"duration", "s", "what they took together"},
    {"predicted", "s", "what the robust fits of their datasets give for their events"},
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
    {"jobs", "count", "that ended by themselves and told what they used: the most memory, CPU time over elapsed time"},
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
    {"saving", "ratio", "share of the core-seconds that could be saved; null where none can be said"},
    {"cause", "", "id of the verdict that explains this one, which stands before it; null where none does"},
};

constexpr RowTable kTables[] = {
    {"phases", "One row each, in this order; see [runs and workers](#runs-and-workers).", kPhaseFields},
    {"datasets files workers hosts threads",
     "Attempts summed by what they belong to, largest `duration_sum` first. `workers` has more fields, below.",
     kBreakdownFields},
    {"workers", "Beside the fields above.", kWorkerFields},
    {"sections process_sections",
     "Sections inside chunks, as a tree, `(other)` last, helpers after owners; and those outside chunks, whose "
     "per-chunk fields are null.",
     kSectionFields},
    {"memory_sections", "By path.", kMemorySectionFields},
    {"custom_metrics", "Your own metrics, by name and unit.", kCustomMetricFields},
    {"cuts", "The cut flow, in the order in which cuts were recorded.", kCutFields},
    {"requests",
     "Requests to storage, by server and operation, `(other)` last. They may overlap: their seconds are no part of the "
     "sections' times.",
     kRequestFields},
    {"functions",
     "What sections are made of ([inside a section](inside.md)), by section and dataset, in each the largest first, "
     "`(other)` last.",
     kFunctionFields},
    {"fine", "Activities, by worker, span, activity and unit.", kFineFields},
    {"budget", "Where the core-seconds went.", kBudgetFields},
    {"stragglers", "Chunks that took far longer than their size explains, largest excess first; at most 1000.",
     kStragglerFields},
    {"chunk_fits", "The robust fit of duration = fixed + slope x events of each dataset's ok attempts.",
     kChunkFitFields},
    {"expected_time",
     "What workers and files took against what chunks of their dataset and size take; largest excess first, at most "
     "500 of each. Only datasets with 8 ok attempts or more count.",
     kExpectedTimeFields},
    {"slow_spells",
     "Slowness that lasted only a while, largest excess first, at most 100: chunks that follow each other on a worker, "
     "on a host, in a file, of a dataset or in all, and took 1.5 times what the fits give or more.",
     kSlowSpellFields},
    {"processes",
     "The processes of `crema run` as sampled, most CPU time first, at most 200. What began and ended between two "
     "samples is not among them.",
     kProcessFields},
    {"contention",
     "Whether chunks are blocked for longer while more of them are open, in one row. A resource that serves R events a "
     "second blocks each of k open chunks for k / R an event; what a chunk waits for by itself does not depend on k.",
     kContentionFields},
    {"chunk_size_advice", "The events per chunk that the fits, the cores and the memory limits speak for.",
     kChunkSizeAdviceFields},
    {"resource_advice",
     "What to ask the batch system for: a row for memory and one for cores where it told of its jobs, else none.",
     kResourceAdviceFields},
    {"verdicts",
     "Worst first, each with what it explains behind it; among equals gaps of the measurement, failing chunks, then "
     "largest saving first.",
     kVerdictFields},
};

constexpr RowField kQualityFields[] = {
    {"records_read", "count", "lines of record logs that were used"},
    {"records_malformed", "count", "lines that are no record: named in `warnings`, left out"},
    {"records_torn", "count", "lines whose rest was never written"},
    {"records_unknown", "count", "lines of a type that this version does not know"},
    {"records_dropped", "count",
     "records that processes could not write, and what guards were told and was not kept (they say so at their end)"},
    {"guards_misused", "count",
     "of `records_dropped`: guards that were not used as they should be, as a chunk that ended on another thread"},
    {"records_unwritten", "count",
     "of `records_dropped`: lines that the disk did not take; null where a log with losses does not tell causes "
     "(before "
     "minor 10)"},
    {"values_outside_chunks", "count",
     "of `records_dropped`: values and guards where no chunk was open; null where a log with losses does not tell "
     "causes"},
    {"records_lost", "count",
     "chunks that ended, as the `end` of their log or their thread's next chunk tells, and have no record"},
    {"sections_dropped", "count", "section paths beyond the limits"},
    {"summed_chunks", "count",
     "attempts without a line, for want of room on a disk: they are in every total, and single ones are not known"},
    {"tasks_read", "count", "task records of an engine"},
    {"tasks_left_out", "count", "tasks of an engine that have no record, for want of room on a disk"},
    {"chunks_without_events", "count", "results that did not say their events"},
    {"processes_ended", "count", "processes that said that they ended"},
    {"processes_running", "count", "processes that still hold their log"},
    {"processes_lost", "count", "neither: killed, crashed or vanished"},
    {"chunks_joined_to_tasks", "count", "null without an engine's tasks, as the next two"},
    {"chunks_unjoined", "count", "chunks that belong to no task"},
    {"tasks_without_chunk", "count", "tasks in which no chunk was recorded"},
    {"event_coverage", "ratio", "events in records over the Coffea report's, else over CREMA_TOTAL_EVENTS"},
    {"fine_metrics_coverage", "ratio", "in-task fine seconds over the engine's own; below 0.99 is flagged"},
    {"clock_offset_max_s", "s", "largest difference between clocks of hosts"},
    {"clock_step_max_s", "s", "largest step of a wall clock while a process ran"},
    {"allocations_cost_s", "s",
     "CPU time that counting allocations cost, as each process measured it; part of instrumentation_overhead; null: "
     "none "
     "were counted"},
    {"sampling_gap_max_s", "s", "longest time between two samples"},
    {"workers_unseen", "count", "workers of the engine that sent nothing"},
    {"records_lost_bytes", "B", "records that workers sent and the scheduler could not keep"},
    {"tree_cpu_sampled", "count", "processes whose CPU is known from their last sample only"},
    {"processes_left_running", "count", "processes of the command that outlived it"},
    {"missing_values", "", "ok attempts without a value, by quantity"},
    {"not_measured", "", "why a metric is null, by key"},
    {"warnings", "", "one line each"},
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
    {"worker_gil_contention", "ratio", "of the time, that Python's global interpreter lock was not to be had at once"},
    {"worker_open_chunks", "count", "chunks open"},
    {"worker_fds", "count", "open file descriptors"},
    {"worker_threads", "count", "threads of the process"},
    {"tree_cpu", "cores", "all processes of a `crema run`: CPU seconds per second since the reading before"},
    {"tree_memory", "B", "their resident memory"},
    {"tree_processes", "count", "how many they were"},
    {"tree_threads", "count", "their threads"},
    {"tree_read_bps", "B/s", "they read from devices"},
    {"tree_write_bps", "B/s", "they wrote to devices"},
    {"process_cpu", "cores",
     "a process of theirs, `<name>:<pid>`; the 24 with most CPU time and the 8 with most memory"},
    {"process_memory", "B", "its resident memory"},
    {"process_threads", "count", "its threads"},
};

}  // namespace

absl::Span<const RowTable> RowTables() { return kTables; }
absl::Span<const RowField> QualityFields() { return kQualityFields; }
absl::Span<const RowField> TimelineSeries() { return kTimelines; }

}  // namespace crema
