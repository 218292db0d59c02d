// docs/metrics.md, "Fine metrics": Dask's.
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr std::string_view kNoDask = "no Dask scheduler was observed";
constexpr std::string_view kNoTasks = "no engine's tasks were observed";
constexpr std::string_view kNoJobs = "no batch system's log was read";

constexpr MetricEntry kEntries[] = {
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
     "Tasks that ended, by the engine's log: each once, however often it was tried and on however many nodes. "
     "Those that were cancelled are left out.",
     kNoTasks},
    {"num_failed_tasks", "", "count", "Failed tasks",
     "Those of num_tasks whose last try failed, in the engine's words. A task that the program gave again "
     "under another name is another task.",
     kNoTasks},
    {"num_failed_tasks_without_chunk", "", "count", "Failed tasks without a chunk",
     "Those of num_failed_tasks whose last try has no recorded chunk. Null where a chunk may be that is "
     "joined to no task.",
     kNoTasks},
    {"num_jobs", "", "count", "Jobs",
     "Jobs in batch systems' logs, whether they began or not. A place in an array is a job.", kNoJobs},
    {"num_tasks_never_begun", "", "count", "Tasks that never began",
     "Jobs in a batch system's log of which nothing ran until its end: they wait, are held, or were removed before. "
     "quality.warnings has the reasons.",
     kNoJobs},
    {"num_tasks_removed", "", "count", "Tasks removed by their user",
     "Jobs that had begun, and that their user ended. They are no part of num_tasks.", kNoJobs},
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
     "set-up "
     "come there.",
     kNoTasks},
    {"idle_time_seconds", "", "core s", "Idle", "Core seconds while the span was active, minus all execute seconds.",
     kNoDask},
    {"failed_time_seconds", "", "s", "Failed tasks", "The activity `failed`.", kNoDask},
    {"cancelled_time_seconds", "", "s", "Cancelled tasks", "The activity `cancelled`.", kNoDask},
    {"fine_metrics_coverage", "", "ratio", "Fine metrics' coverage",
     "The share of Dask's own compute seconds of tasks for which fine metrics inside the same tasks (by prefix) "
     "account. "
     "If these come to more than Dask's seconds, quality.warnings says so. Tasks of other executors than Dask's "
     "threads are left out: Dask meters nothing inside them.",
     kNoDask},
};

}  // namespace

absl::Span<const MetricEntry> FineMetrics() { return kEntries; }

}  // namespace crema
