#include "collector/measurement/catalog.h"

#include "fmt/format.h"

namespace crema {
namespace {

// docs/metrics.md, "The run".

constexpr std::string_view kNoRecords = "no record log: the program did not record chunks (CREMA_DIR)";
constexpr std::string_view kNoChunks = "no chunk has a result";
constexpr std::string_view kNoEvents = "no result said how many events it had (SetEvents)";
constexpr std::string_view kNoBytes = "no attempt said how many bytes it read (AddBytesRead), and there is no report";
constexpr std::string_view kNoCpu = "no attempt recorded its CPU time";
constexpr std::string_view kNoAllocations =
    "no process counted its allocations for this run alone (crema run --allocations)";
constexpr std::string_view kNoGpu = "no process counted what GPUs did (crema run --gpu)";
constexpr std::string_view kNoCoffea = "no Coffea report was given";
constexpr std::string_view kNoColumns = "no attempt said which columns it read (AddColumns), and there is no report";

constexpr std::string_view kNoKernelWork = "no attempt recorded what the kernel did for it";
constexpr MetricEntry kRunMetrics[] = {
    {"wall_time", "elapsed_time_seconds", "s", "Elapsed",
     "Stop of the run minus its start. run.boundary says what defines them.", "the records hold no time stamps"},
    {"busy_time", "total_cpu_time", "s", "Busy time",
     "Sum of the wall durations of ended attempts. Without records it is processtime of the Coffea report. The old "
     "name calls it CPU time, but it is not.",
     kNoRecords},
    {"lane_time", "", "s", "Time of threads",
     "Time in which threads worked for ended attempts: the owners' durations, the helpers' scopes, and the CPU time of "
     "threads without guards and child processes, less the owners' waiting for these. Without records it is busy_time.",
     kNoRecords},
    {"chunk_cpu_time", "", "s", "CPU in chunks",
     "CPU time of ended attempts: owner threads, helpers, threads without guards, child processes. Without records it "
     "is that of the processor's tasks.",
     kNoCpu},
    {"helper_cpu_time", "", "s", "CPU of helpers", "The helper threads' part of chunk_cpu_time.", kNoCpu},
    {"system_cpu_time", "", "s", "CPU in the kernel",
     "The part of chunk_cpu_time that owner threads spent in the kernel, where attempts recorded it.", kNoKernelWork},
    {"minor_faults", "", "count", "Minor page faults",
     "Page faults of owner threads that needed no I/O: a page of new memory, or one that another process has, too.",
     kNoKernelWork},
    {"chunk_major_faults", "", "count", "Major page faults of chunks",
     "Page faults of owner threads that waited for storage.", kNoKernelWork},
    {"unannounced_cpu_time", "", "s", "CPU of threads without guards",
     "The part of chunk_cpu_time that threads without guards used while one chunk was open alone, without what they "
     "use between chunks, too. While several chunks are open, it cannot be divided and is in none.",
     kNoCpu},
    {"shared_cpu_time", "", "s", "CPU of threads without guards, of no chunk",
     "What threads without guards used while several chunks were open. No chunk has it, since it cannot be divided.",
     kNoCpu},
    {"children_cpu_time", "", "s", "CPU of child processes",
     "The part of chunk_cpu_time that child processes used while one chunk was open alone, if none of them has "
     "records of its own.",
     kNoCpu},
    {"num_chunks", "", "count", "Chunks",
     "Chunks with a result. Without records they are the chunks of the Coffea report.", kNoRecords},
    {"num_attempts", "", "count", "Attempts", "Attempts at chunks, with any outcome.", kNoRecords},
    {"num_failed_attempts", "", "count", "Failed attempts", "Attempts that ended by an exception or by Fail.",
     kNoRecords},
    {"num_lost_attempts", "", "count", "Lost attempts",
     "Attempts that began, but whose process ended or vanished before they ended.", kNoRecords},
    {"num_retried_chunks", "", "count", "Retried chunks", "Chunks attempted again after a failed or lost attempt.",
     kNoRecords},
    {"num_recomputed_chunks", "", "count", "Recomputed chunks", "Chunks with several ok attempts.", kNoRecords},
    {"num_unfinished_chunks", "", "count", "Unfinished chunks", "Chunks that were attempted and have no result.",
     kNoRecords},
    {"busy_time_per_chunk", "avg_cpu_time_per_chunk", "s", "Busy time per chunk", "busy_time / num_chunks.", kNoChunks},
    {"busy_time_per_attempt", "", "s", "Busy time per attempt", "busy_time / ended attempts.", "no attempt has ended"},
    {"total_events", "", "count", "Events",
     "Events of the results that said how many events they had. Without records they are the entries of the Coffea "
     "report.",
     kNoEvents},
    {"bytes_read_chunks", "", "B", "Bytes read in chunks", "Bytes that ended attempts requested from files, as stored.",
     "no attempt said how many bytes it read (AddBytesRead)"},
    {"total_bytes_read_coffea", "total_bytes_read", "B", "Bytes read (Coffea)",
     "The Coffea report's bytesread, which includes file opening and headers.", kNoCoffea},
    {"bytes_read_compressed", "", "B", "Bytes read",
     "total_bytes_read_coffea; where it is not known, bytes_read_chunks. run.bytes_source says which one.", kNoBytes},
    {"bytes_read_uncompressed", "total_bytes_uncompressed", "B", "Bytes after decompression",
     "Bytes of ended attempts after decompression.", "no attempt said its uncompressed bytes (AddBytesRead)"},
    {"allocations", "", "count", "Allocations",
     "Blocks that the processes which record allocated, from their begin until recording ended.", kNoAllocations},
    {"allocated_bytes", "", "B", "Bytes allocated", "The bytes of these blocks, as malloc_usable_size counts them.",
     kNoAllocations},
    {"live_bytes", "", "B", "Bytes live at the end",
     "Bytes not freed when recording ended; sum over processes. Objects that live as long as their process are among "
     "them.",
     kNoAllocations},
    {"peak_live_bytes", "", "B", "Most bytes live at once", "The most that was allocated and not freed in one process.",
     kNoAllocations},
    {"gpu_seconds", "", "s", "GPU time",
     "Times of the kernels that the processes which record launched, on the devices, added up.", kNoGpu},
    {"gpu_launches", "", "count", "GPU kernels", "Number of these kernels, those of CUDA graphs included.", kNoGpu},
    {"gpu_copy_seconds", "", "s", "GPU copies", "Times of copies and fills on the devices, added up.", kNoGpu},
    {"gpu_to_device_bytes", "", "B", "Copied to GPUs", "Bytes copied from the host to the devices.", kNoGpu},
    {"gpu_from_device_bytes", "", "B", "Copied from GPUs", "Bytes copied from the devices to the host.", kNoGpu},
    {"gpu_busy_seconds", "", "s", "GPUs at work",
     "Time in which at least one kernel or copy of a process was on a device; sum over processes.", kNoGpu},
    {"gpu_wait_seconds", "", "s", "Waiting for GPUs",
     "Time of threads inside CUDA's synchronisations and copies, in chunks that are results.", kNoGpu},
    {"gpu_wait_cpu_seconds", "", "s", "Spinning for GPUs",
     "CPU time in gpu_wait_seconds: by default CUDA's host threads spin while they wait.", kNoGpu},
    {"compression_ratio", "", "ratio", "Compression ratio",
     "Uncompressed bytes divided by compressed bytes, of attempts that recorded both.",
     "no attempt carries both sizes"},
    {"overall_rate_gbps", "data_rate_gbps", "Gbit/s", "Data rate", "bytes_read_compressed x 8 / wall_time / 1e9.",
     kNoBytes},
    {"overall_rate_mbs", "", "MB/s", "Data rate", "bytes_read_compressed / wall_time / 1e6.", kNoBytes},
    {"event_rate_wall_khz", "event_rate_elapsed_khz", "kHz", "Event rate", "total_events / wall_time / 1000.",
     kNoEvents},
    {"event_rate_agg_khz", "event_rate_cpu_total_khz", "kHz", "Event rate per busy second",
     "total_events / busy_time / 1000.", kNoEvents},
    {"event_rate_cpu_khz", "", "kHz", "Event rate per CPU second", "total_events / chunk_cpu_time / 1000.",
     "it needs events and CPU time of chunks"},
    {"event_rate_core_hz", "", "Hz/core", "Event rate per core", "total_events / core_seconds.",
     "it needs events of chunks and core seconds"},
    {"event_rate_core_khz", "", "kHz/core", "Event rate per core", "total_events / core_seconds / 1000.",
     "it needs events of chunks and core seconds"},
    {"ideal_wall_time", "", "s", "Ideal elapsed time",
     "The core-seconds that chunks occupied, divided by the mean number of cores while a worker lived: the elapsed "
     "time if these cores had chunks all the time, and nothing else.",
     "it needs chunks and the cores they ran on"},
    {"columns", "", "", "Columns",
     "Names of the columns that were read: those of the Coffea report, else those of AddColumns.", kNoColumns},
    {"num_columns_read", "", "count", "Columns read", "Number of columns read.", kNoColumns},
    {"branches_read_share", "", "ratio", "Share of branches read",
     "Columns that were read, divided by all branches of the file; mean over files.",
     "nothing recorded how many branches its files have (SetFileInfo does, guards for ROOT do not)"},
    {"bytes_read_share", "", "ratio", "Share of bytes read",
     "Bytes that were read, divided by all bytes of the file; mean over files.",
     "nothing recorded the sizes of its files (SetFileInfo does, guards for ROOT do not)"},
};

// docs/metrics.md, "Workers and the process tree".

constexpr std::string_view kNoSamples =
    "no worker's memory was sampled (the sampler is off, or the run was shorter than its interval)";
constexpr std::string_view kNoLimit = "no worker with a memory limit was sampled";
constexpr std::string_view kNoCounts = "no process recorded what the kernel counted of it";
constexpr std::string_view kNoTree = "no process tree was sampled: the command was not run under `crema run`";

constexpr std::string_view kNoGpuInTree =
    "no process of a tree that `crema run` sampled used a GPU, as far as NVIDIA's driver (NVML) reports it";

constexpr MetricEntry kWorkerMetrics[] = {
    {"avg_workers", "time_avg_workers", "count", "Workers", "Exact time average of live workers over the run.",
     kNoChunk},
    {"peak_workers", "", "count", "Most workers", "Most workers alive at once.", kNoChunk},
    {"mean_sampled_workers", "", "count", "Workers per sample", "Plain mean of the workers seen at each sample.",
     "no worker was sampled"},
    {"core_seconds", "", "core s", "Core seconds", "Integral of live workers' cores over the run.", kNoChunk},
    {"total_cores", "", "cores", "Cores", "core_seconds / wall_time.", kNoChunk},
    {"peak_cores", "", "cores", "Most cores", "Most cores of live workers at once.", kNoChunk},
    {"cores_per_worker", "", "cores", "Cores per worker", "core_seconds / worker seconds.", kNoChunk},
    {"allocated_cores", "", "cores", "Allocated cores",
     "CPUs that the run was granted: by the batch system, else by the cgroup's quota, else by affinity. Each host "
     "counts once. run.allocated_cores_source says which.",
     "no process said how many CPUs it was granted"},
    {"peak_memory_bytes", "", "B", "Peak memory of a worker",
     "Largest resident memory of one worker: the kernel's peak where that is known, at least the largest sample and "
     "the largest peak that a batch system counted for a job.",
     kNoSamples},
    {"peak_total_memory_bytes", "", "B", "Peak memory of all workers",
     "Largest sum over live workers at one instant, at least the peak of one. Under `crema run` it is at most "
     "tree_peak_memory_bytes, which counts a shared page once.",
     kNoSamples},
    {"avg_memory_per_worker_bytes", "", "B", "Memory per worker",
     "Integral of the workers' memory over time, divided by the worker seconds since the first sample of each. A "
     "sample holds until the next one.",
     kNoSamples},
    {"memory_utilization_avg", "", "ratio", "Memory used of its limit",
     "Integral of the memory divided by the integral of the limit, of workers with a limit.", kNoLimit},
    {"memory_utilization_min", "", "ratio", "Memory used of its limit, least", "Least sample of memory over limit.",
     kNoLimit},
    {"memory_utilization_max", "", "ratio", "Memory used of its limit, most",
     "Largest memory over limit, of all samples and of the kernel's peaks.", kNoLimit},
    {"worker_cpu_utilization_avg", "", "ratio", "CPU of workers",
     "CPU time of the workers' processes divided by the time of their cores, between the first and the last sample of "
     "each.",
     "no worker's CPU time was sampled twice"},
    {"process_read_calls", "", "count", "Read calls",
     "Read calls (read, pread, readv) of processes that recorded chunks, without reads through mapped files.",
     kNoCounts},
    {"process_read_call_bytes", "", "B", "Read by calls", "What these calls returned, also from the page cache.",
     kNoCounts},
    {"throttled_time", "", "s", "Throttled",
     "Time in which the CPU quota of a cgroup held back the threads of processes that recorded, added up over threads; "
     "of processes on one host the largest.",
     "no process had a CPU quota, or nobody read what it cost"},
    {"task_slot_utilization_avg", "", "ratio", "Task slots used",
     "Cores that executing tasks were given (one each where the engine does not say), divided by the workers' threads.",
     "no engine's tasks were observed"},
    {"gil_contention", "", "ratio", "GIL contention",
     "Share of the time in which Python's global interpreter lock was not free, as gilknocker reports in Dask's "
     "workers. It is the mean over times in which a worker executed two tasks or more, weighted by the number of "
     "tasks.",
     "no worker reported it while it executed two tasks (gilknocker is not installed there, or Dask was not asked)"},
    {"tree_cpu_user", "", "s", "CPU of the process tree, user", "User CPU time of all processes of the command.",
     kNoTree},
    {"tree_cpu_system", "", "s", "CPU of the process tree, system", "System CPU time of all processes of the command.",
     kNoTree},
    {"tree_cpu_wait", "", "s", "CPU wait of the process tree",
     "Core time for which threads of the command were ready to run and had no CPU: between two samples at most the "
     "unused core time.",
     kNoTree},
    {"job_cpu_efficiency", "", "ratio", "Job CPU efficiency",
     "(tree_cpu_user + tree_cpu_system) / (wall_time x allocated_cores): what a batch system reports. Without a "
     "process tree: the CPU time that the batch system counted, over the core-seconds of the jobs for which it did.",
     kNoTree},
    {"cpu_outside_chunks_share", "", "ratio", "CPU outside chunks",
     "1 - chunk_cpu_time / (CPU time of the process tree).", kNoTree},
    {"process_peak_rss_bytes", "", "B", "Peak memory of a process",
     "Largest resident memory of one process. The kernel keeps it, so no short peak is missed.", kNoTree},
    {"tree_peak_rss_bytes", "", "B", "Peak memory of the process tree",
     "Largest sum of resident memory over the tree at one instant.", kNoTree},
    {"tree_peak_pss_bytes", "", "B", "Peak proportional memory of the tree",
     "Largest sum of proportional memory at one instant: a shared page is divided among the processes that share it.",
     kNoTree},
    {"tree_peak_memory_bytes", "", "B", "Peak memory of the whole tree",
     "The larger one of tree_peak_pss_bytes, in which shared pages count once, and process_peak_rss_bytes; "
     "tree_peak_rss_bytes where the proportional memory is not known.",
     kNoTree},
    {"tree_peak_swap_bytes", "", "B", "Peak swap of the tree", "Largest sum of swapped memory at one instant.",
     kNoTree},
    {"tree_read_bytes", "", "B", "Read from devices", "Bytes that devices delivered, also for mapped files.", kNoTree},
    {"tree_write_bytes", "", "B", "Written to devices", "Bytes that the tree sent to block devices.", kNoTree},
    {"tree_rchar_bytes", "", "B", "Read by system calls", "Bytes that read calls returned, from caches too.", kNoTree},
    {"tree_wchar_bytes", "", "B", "Written by system calls", "Bytes that write calls of the tree took.", kNoTree},
    {"max_processes", "", "count", "Most processes", "Most processes of the tree at once.", kNoTree},
    {"max_threads", "", "count", "Most threads", "Most threads of the tree at once.", kNoTree},
    {"major_faults", "", "count", "Major page faults", "Page faults of the tree that needed I/O.", kNoTree},
    {"context_switches_involuntary", "", "count", "Involuntary context switches",
     "Times a thread of the tree lost its CPU to another.", kNoTree},
    {"net_rx_bytes", "", "B", "Network received",
     "Bytes received in the network namespace (host-wide where run.net_host_wide says so).", kNoTree},
    {"net_tx_bytes", "", "B", "Network sent",
     "Bytes sent from the network namespace (host-wide where run.net_host_wide says so).", kNoTree},
    {"gpu_utilization", "", "ratio", "GPU utilisation",
     "Share of the time in which some kernel ran, anybody's: mean over samples in which the tree used the GPU, and "
     "over such GPUs (NVML).",
     kNoGpuInTree},
    {"gpu_utilization_of_others", "", "ratio", "GPU used by others",
     "Utilisation of the processors of these GPUs by processes that are not of the tree, on average (NVML, every 10 "
     "s).",
     "the run was shorter than 10 s, used no GPU, or the driver does not report the utilisation of processes"},
    {"gpu_peak_memory_bytes", "", "B", "Peak GPU memory", "Most memory of the tree on each GPU, added up (NVML).",
     kNoGpuInTree},
    {"gpu_energy", "", "J", "GPU energy",
     "Energy that these GPUs used during the run, for whomever they worked (NVML).", kNoGpuInTree},
};

// docs/metrics.md, "Chunks, sections and reading": what is beside the distributions.

constexpr MetricEntry kChunkMetrics[] = {
    {"chunk_cpu_wait", "", "s", "CPU wait",
     "Time for which the owner threads of ended attempts were ready to run and had no CPU (run delay of schedstat).",
     "the kernel does not report the run delay (/proc/thread-self/schedstat), or no attempt has ended"},
    {"lane_cpu_wait", "", "s", "CPU wait of all threads", "The same of owners and helpers.",
     "the kernel does not report the run delay (/proc/thread-self/schedstat), or no attempt has ended"},
    {"chunk_joined", "", "s", "Waiting for helpers",
     "Time for which the owner threads of ended attempts waited for their own helpers.",
     "no attempt recorded its CPU time"},
    {"chunk_blocked", "", "s", "Blocked",
     "Time for which the owner threads of ended attempts waited for something other than a CPU or their own helpers: "
     "I/O, locks, the GIL, a GPU, sleep.",
     "it needs CPU time and run delay, which no attempt recorded"},
    {"straggler_chunks", "", "count", "Stragglers",
     "Ok attempts that took more than twice what the robust fit of their dataset (fixed + slope x events) predicts, "
     "and whose residual is above Q3 + 3 IQR. Only datasets with 8 ok attempts or more have a fit.",
     "no dataset has 8 ok attempts, which the fit needs"},
    {"oversized_chunks", "", "count", "Oversized chunks",
     "Results that have more than 3 times the median number of events of their dataset.",
     "no result said how many events it had (SetEvents)"},
    {"rss_slope", "", "B/1000 events", "Memory growth",
     "Slope (Theil-Sen) of a process's resident memory over the number of its chunks, without the first 10 % of them. "
     "Pages of files and shared memory do not count, where samples distinguish them. It is made from medians of at "
     "most 200 equal bins. The value is that of the process with the largest slope.",
     "no process has 20 chunks with memory and events"},
    {"rss_slope_low", "", "B/1000 events", "Memory growth, lower bound",
     "Lower end of the 95 % interval of rss_slope, but not above what was kept: the least memory in the last tenth of "
     "the chunks, less that in the first tenth.",
     "no process has 20 chunks with memory and events"},
    {"rss_slope_high", "", "B/1000 events", "Memory growth, upper bound",
     "Upper end of the 95 % interval of rss_slope.", "no process has 20 chunks with memory and events"},
    {"load_imbalance", "", "ratio", "Load imbalance",
     "Largest busy time of a lane, divided by the mean of all lanes, minus 1. Chunks that a process has open at the "
     "same time are on different lanes.",
     "no attempt has ended"},
    {"max_open_chunks", "", "count", "Most open chunks",
     "Largest number of chunks that one process had open at once. Above 1 these chunks share the process's memory "
     "figures.",
     kNoChunk},
    {"section_coverage", "", "ratio", "Time inside sections",
     "1 - (time of owner threads outside all sections) / busy_time.", "no attempt has ended"},
    {"read_rate_mbs", "", "MB/s", "Read rate", "The metrics bytes_read (in B) / read_wall (in s) / 1e6.",
     "the metrics bytes_read and read_wall were not recorded"},
    {"bytes_per_read", "", "B", "Bytes per read", "The metrics bytes_read (in B) / read_calls (in count).",
     "the metrics bytes_read and read_calls were not recorded"},
    {"read_overhead_share", "", "ratio", "Read overhead",
     "The metrics read_overhead_bytes / bytes_read (both in B): bytes read that nobody asked for.",
     "the metrics read_overhead_bytes and bytes_read were not recorded"},
    {"decompression_rate_mbs", "", "MB/s", "Decompression rate",
     "The metrics unzip_bytes (in B) / unzip_wall (in s) / 1e6.",
     "the metrics unzip_bytes and unzip_wall were not recorded"},
    {"decompression_share", "", "ratio", "Decompression's share", "The metric unzip_wall (in s) / lane_time.",
     "the metric unzip_wall was not recorded"},
};

// docs/metrics.md, "Fine metrics": Dask's.

constexpr std::string_view kNoDask = "no Dask scheduler was observed";
constexpr std::string_view kNoTasks = "no engine's tasks were observed";
constexpr std::string_view kNoJobs = "no batch system's log was read";

constexpr MetricEntry kFineMetrics[] = {
    {"cpu_time_seconds", "", "s", "Tasks on CPU", "thread-cpu of all prefixes.", kNoDask},
    {"io_time_seconds", "", "s", "Tasks off CPU", "thread-noncpu of all prefixes.", kNoDask},
    {"processor_cpu_time_seconds", "", "s", "Processor on CPU", "thread-cpu of the processor's prefixes.", kNoDask},
    {"processor_noncpu_time_seconds", "processor_io_wait_time_seconds", "s", "Processor off CPU",
     "thread-noncpu of the processor's prefixes.", kNoDask},
    {"processor_cpu_percentage", "processor_cpu_percent", "%", "Processor on CPU",
     "100 x thread-cpu / (thread-cpu + thread-noncpu) of the processor's prefixes.", kNoDask},
    {"processor_noncpu_percentage", "processor_io_wait_percent", "%", "Processor off CPU",
     "100 x thread-noncpu / (thread-cpu + thread-noncpu) of the processor's prefixes.", kNoDask},
    {"overhead_cpu_time_seconds", "", "s", "Other tasks on CPU", "thread-cpu of all other prefixes.", kNoDask},
    {"overhead_noncpu_time_seconds", "overhead_io_wait_time_seconds", "s", "Other tasks off CPU",
     "thread-noncpu of all other prefixes.", kNoDask},
    {"total_bytes_memory_read_dask", "total_bytes_memory_read", "B", "Dependencies read from memory",
     "memory-read: dependencies found in RAM.", kNoDask},
    {"disk_read_bytes", "", "B", "Unspilled", "disk-read: dependencies read back from spill files.", kNoDask},
    {"disk_write_bytes", "", "B", "Spilled", "disk-write: data spilled to disk.", kNoDask},
    {"disk_read_time_seconds", "", "s", "Unspilling time", "disk-read in seconds.", kNoDask},
    {"disk_write_time_seconds", "", "s", "Spilling time", "disk-write in seconds.", kNoDask},
    {"disk_read_count", "", "count", "Unspills", "How often data were read back from spill files (disk-read).",
     kNoDask},
    {"disk_write_count", "", "count", "Spills", "How often data were spilled (disk-write).", kNoDask},
    {"memory_read_hit_ratio", "", "ratio", "Memory hit ratio", "memory-read / (memory-read + disk-read), by count.",
     kNoDask},
    {"memory_read_hit_ratio_bytes", "", "ratio", "Memory hit ratio, bytes",
     "memory-read / (memory-read + disk-read), by bytes.", kNoDask},
    {"compression_time_seconds", "", "s", "Compression", "Time spent compressing spilled data and transfers.", kNoDask},
    {"decompression_time_seconds", "", "s", "Decompression", "Time spent decompressing spilled data and transfers.",
     kNoDask},
    {"total_compression_overhead_seconds", "", "s", "Compression and decompression", "Sum of the two.", kNoDask},
    {"serialization_time_seconds", "", "s", "Serialization", "Time spent serializing.", kNoDask},
    {"deserialization_time_seconds", "", "s", "Deserialization", "Time spent deserializing.", kNoDask},
    {"total_serialization_overhead_seconds", "", "s", "Serialization and deserialization", "Sum of the two.", kNoDask},
    {"transfer_time_seconds", "", "s", "Transfer",
     "get-data and gather-dep of the whole cluster. Transfers overlap with execution.", kNoDask},
    {"transfer_compression_seconds", "", "s", "Transfer, compression", "Compression within transfers.", kNoDask},
    {"transfer_serialization_seconds", "", "s", "Transfer, serialization", "Serialization within transfers.", kNoDask},
    {"task_overhead_seconds", "", "s", "Task overhead", "executor + offload + other.", kNoDask},
    {"num_tasks", "", "count", "Tasks",
     "Tasks that ended, by the engine's log: each once, however often it was tried and on however many nodes. Those "
     "that were cancelled are left out.",
     kNoTasks},
    {"num_failed_tasks", "", "count", "Failed tasks",
     "Those of num_tasks whose last try failed, in the engine's words. A task that the program gave again under "
     "another name is another task.",
     kNoTasks},
    {"num_failed_tasks_without_chunk", "", "count", "Failed tasks without a chunk",
     "Those of num_failed_tasks whose last try has no recorded chunk. Null where a chunk may be that is joined to no "
     "task.",
     kNoTasks},
    {"num_jobs", "", "count", "Jobs",
     "Jobs in batch systems' logs, whether they began or not. A place in an array is a job.", kNoJobs},
    {"num_tasks_never_begun", "", "count", "Tasks that never began",
     "Jobs in a batch system's log of which nothing ran until its end: they wait, are held, or were removed before. "
     "quality.warnings has the reasons.",
     kNoJobs},
    {"num_tasks_removed", "", "count", "Tasks removed by their user",
     "Jobs that had begun, and that their user ended. num_tasks does not count them.", kNoJobs},
    {"task_queue_seconds", "", "s", "Task queue",
     "Time from the engine's order until a task started, or until a core was held for it. It occupies no thread.",
     kNoTasks},
    {"task_dispatch_seconds", "", "s", "Task dispatch",
     "Time for which a core was held for a task before the task began: its input was sent.", kNoTasks},
    {"task_retrieval_seconds", "", "s", "Task retrieval",
     "Time for which a core was held for a task after the task ended: its output was fetched.", kNoTasks},
    {"task_cores_avg", "", "cores", "Cores of a task", "Cores that the engine gave a task, mean over the tasks' time.",
     kNoTasks},
    {"task_join_coverage", "", "ratio", "Chunks joined to tasks",
     "Ended attempts that belong to a task, divided by all ended attempts.", kNoTasks},
    {"outside_chunk_time", "", "s", "Around the chunk",
     "Compute time of tasks with chunks, minus the duration of these chunks: importing, opening files, building "
     "arrays, handing over results.",
     kNoTasks},
    {"outside_chunk_share", "", "ratio", "Around the chunk",
     "outside_chunk_time / (compute time of tasks with chunks).", kNoTasks},
    {"before_chunk_time", "", "s", "Before the chunk",
     "The part of outside_chunk_time before the first chunk of a task: starting a process, importing, opening files.",
     kNoTasks},
    {"first_before_chunk_time", "", "s", "Before the chunk, first tasks",
     "The part of before_chunk_time in the first task with chunks of each thread of a worker: importing and other "
     "set-up come there.",
     kNoTasks},
    {"idle_time_seconds", "", "core s", "Idle", "Core seconds while the span was active, minus all execute seconds.",
     kNoDask},
    {"failed_time_seconds", "", "s", "Failed tasks", "The activity `failed`.", kNoDask},
    {"cancelled_time_seconds", "", "s", "Cancelled tasks", "The activity `cancelled`.", kNoDask},
    {"fine_metrics_coverage", "", "ratio", "Fine metrics' coverage",
     "The share of Dask's own compute seconds of tasks for which fine metrics inside the same tasks (by prefix) "
     "account. If these come to more than Dask's seconds, quality.warnings says so. Tasks of other executors than "
     "Dask's threads are left out: Dask meters nothing inside them.",
     kNoDask},
};

// docs/metrics.md, "Efficiency".

constexpr std::string_view kNoCores = "it needs chunks and the cores they ran on";

constexpr MetricEntry kEfficiencyMetrics[] = {
    {"cpu_efficiency", "", "ratio", "CPU efficiency",
     "chunk_cpu_time / core_seconds. CPU time in which a thread spins counts too: gpu_wait_cpu_seconds is part of it.",
     "it needs CPU time of chunks (TrackMetrics) and core seconds"},
    {"core_efficiency", "", "ratio", "Cores busy",
     "Share of the core-seconds in which an attempt, or a helper of one, occupied the core. Threads beyond the number "
     "of cores occupy none. Without records it is busy_time / core_seconds.",
     kNoCores},
    {"speedup_factor", "", "ratio", "Speedup",
     "lane_time / wall_time: the mean number of threads that worked for chunks.", "no chunk ended"},
    {"cpu_speedup", "", "ratio", "Speedup, CPU", "chunk_cpu_time / wall_time.", "no attempt recorded its CPU time"},
    {"io_overhead_pct", "", "%", "Waiting in your code, blocked",
     "100 x (blocked time of owners and helpers) / lane_time. Without records it is 100 x noncpu / (cpu + noncpu) of "
     "Dask's tasks.",
     "blocked time needs CPU time and run delay, which no attempt recorded"},
    {"io_overhead", "", "ratio", "Waiting in your code, blocked",
     "(Blocked time of owners and helpers) / lane_time. Without records it is noncpu / (cpu + noncpu) of Dask's tasks.",
     "blocked time needs CPU time and run delay, which no attempt recorded"},
    {"balance", "", "ratio", "Balance",
     "Core seconds that chunks or tasks occupied divided by core seconds, from the first chunk to the beginning of the "
     "tail. Threads beyond the number of cores occupy none.",
     kNoCores},
    {"instrumentation_overhead", "", "ratio", "Cost of measuring",
     "CPU time that recording took, summed over all processes, divided by lane_time.",
     "no process has recorded what recording cost; it does so at its end"},
    {"tail_time", "", "s", "Tail",
     "Time from the last moment at which 90 % of the cores were occupied to the stop of the last chunk.",
     "90 % of the cores were never occupied"},
    {"oversubscribed_core_seconds", "", "core s", "Oversubscribed core seconds",
     "Integral over time of the occupied lanes that exceed the number of cores. It is in no part of the budget.",
     kNoCores},
};

// docs/metrics.md, "Chunks: distributions": nine quantities of `ok` attempts ...
constexpr ChunkQuantity kQuantities[] = {
    {"chunk_duration", "s", "Chunk time", "wall time of a chunk", "no chunk ended well"},
    {"chunk_cpu", "s", "Chunk CPU", "a chunk's part of `chunk_cpu_time`", "no chunk recorded its CPU time"},
    {"chunk_cpu_wait", "s", "Chunk CPU wait", "time the owner was ready to run without a CPU (schedstat run delay)",
     "the kernel does not report the run delay (/proc/thread-self/schedstat), or no chunk ended well"},
    {"chunk_blocked", "s", "Chunk blocked",
     "time without CPU in which the owner waited neither for it nor for its helpers: I/O, locks, the GIL, a GPU, sleep",
     "it needs CPU time and run delay, which no chunk recorded"},
    {"chunk_events", "count", "Events per chunk", "events of a chunk", "no chunk said how many events it had"},
    {"chunk_time_per_event", "s", "Time per event", "wall time of a chunk over its events",
     "no chunk said how many events it had"},
    {"chunk_rss_delta", "B", "RSS delta",
     "resident memory at a chunk's end less at its start (chunks open at once share it)",
     "no chunk recorded its memory"},
    {"chunk_rss_delta_per_event", "B", "RSS delta per event", "resident memory gained in a chunk over its events",
     "no chunk recorded both its memory and its events"},
    {"chunk_event_rate", "Hz", "Chunk event rate", "events of a chunk over its wall time",
     "no chunk said how many events it had"},
};

struct Statistic {
  std::string_view suffix;
  std::string_view label;
  std::string_view text;
};

// ... and eight statistics of each.
constexpr Statistic kStatistics[] = {
    {"mean", "mean", "Mean"},
    {"min", "least", "Least"},
    {"max", "largest", "Largest"},
    {"std", "std", "Standard deviation (sample, n - 1)"},
    {"p50", "median", "Median (value of rank ceil(p n))"},
    {"p90", "p90", "90 % quantile (value of rank ceil(p n))"},
    {"p95", "p95", "95 % quantile (value of rank ceil(p n))"},
    {"p99", "p99", "99 % quantile (value of rank ceil(p n))"},
};

void AddEntries(absl::Span<const MetricEntry> entries, std::vector<MetricDefinition>& catalog) {
  for (const MetricEntry& entry : entries) {
    catalog.push_back({std::string(entry.key), std::string(entry.alias), std::string(entry.unit),
                       std::string(entry.label), std::string(entry.text), std::string(entry.why_null)});
  }
}

void AddDistributions(std::vector<MetricDefinition>& catalog) {
  for (const ChunkQuantity& quantity : kQuantities) {
    for (const Statistic& statistic : kStatistics) {
      catalog.push_back({fmt::format("{}_{}", quantity.key, statistic.suffix), "", std::string(quantity.unit),
                         fmt::format("{}, {}", quantity.label, statistic.label),
                         fmt::format("{}, over ok attempts, of: {}.", statistic.text, quantity.text),
                         fmt::format("{}{}", quantity.why_null, statistic.suffix == "std" ? ", or only one" : "")});
    }
  }
}

std::vector<MetricDefinition> MakeCatalog() {
  std::vector<MetricDefinition> catalog;
  AddEntries(kRunMetrics, catalog);
  AddEntries(kWorkerMetrics, catalog);
  AddDistributions(catalog);
  AddEntries(kChunkMetrics, catalog);
  AddEntries(kFineMetrics, catalog);
  AddEntries(kEfficiencyMetrics, catalog);
  return catalog;
}

}  // namespace

absl::Span<const MetricEntry> RunMetrics() { return kRunMetrics; }
absl::Span<const MetricEntry> WorkerMetrics() { return kWorkerMetrics; }
absl::Span<const MetricEntry> ChunkMetrics() { return kChunkMetrics; }
absl::Span<const MetricEntry> FineMetrics() { return kFineMetrics; }
absl::Span<const MetricEntry> EfficiencyMetrics() { return kEfficiencyMetrics; }
absl::Span<const ChunkQuantity> ChunkQuantities() { return kQuantities; }

const std::vector<MetricDefinition>& MetricCatalog() {
  static const auto* const kCatalog = new std::vector<MetricDefinition>(MakeCatalog());
  return *kCatalog;
}

const MetricDefinition* FindMetric(std::string_view key_or_alias) {
  static const auto* const kIndex = [] {
    auto* entries = new std::map<std::string, const MetricDefinition*, std::less<>>;
    for (const MetricDefinition& definition : MetricCatalog()) {
      entries->emplace(definition.key, &definition);
      if (!definition.alias.empty()) entries->emplace(definition.alias, &definition);
    }
    return entries;
  }();
  const auto found = kIndex->find(key_or_alias);
  return found == kIndex->end() ? nullptr : found->second;
}

void SetAllNull(MetricSet* metrics) {
  for (const MetricDefinition& definition : MetricCatalog()) metrics->SetNull(definition.key, definition.why_null);
}

void SetAliases(MetricSet* metrics) {
  for (const MetricDefinition& definition : MetricCatalog()) {
    const MetricValue* value = metrics->Find(definition.key);
    if (definition.alias.empty() || value == nullptr) continue;
    metrics->Set(definition.alias, *value, metrics->Reason(definition.key));
  }
}

}  // namespace crema
