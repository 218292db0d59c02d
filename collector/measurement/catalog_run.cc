// docs/metrics.md, "The run".
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

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
constexpr MetricEntry kEntries[] = {
    {"wall_time", "elapsed_time_seconds", "s", "Elapsed",
     "Stop of the run minus its start. run.boundary says what defines them.", "the records hold no time stamps"},
    {"busy_time", "total_cpu_time", "s", "Busy time",
     "Sum of the wall durations of ended attempts. Without records it is processtime of the Coffea report. The old "
     "name calls it CPU time, but it is not.",
     kNoRecords},
    {"lane_time", "", "s", "Time of threads",
     "Time in which threads worked for ended attempts: the owners' durations and the helpers' scopes, without the time "
     "in "
     "which owners waited for their helpers. Without records it is busy_time.",
     kNoRecords},
    {"chunk_cpu_time", "", "s", "CPU in chunks",
     "CPU time of ended attempts: owner threads and helpers. Without records it is that of the processor's tasks.",
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
     "use "
     "between chunks, too. While several chunks are open, it cannot be divided and is in none.",
     kNoCpu},
    {"children_cpu_time", "", "s", "CPU of child processes",
     "The part of chunk_cpu_time that child processes used which ended while one chunk was open alone.", kNoCpu},
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
    {"allocated_bytes", "", "B", "Bytes allocated", "Of these blocks, as malloc_usable_size counts them.",
     kNoAllocations},
    {"live_bytes", "", "B", "Bytes live at the end",
     "Of these, not freed when recording ended; sum over processes. Objects that live as long as their process are "
     "among them.",
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
     "busy_time / total_cores: the elapsed time with perfect balance.", "it needs chunks and the cores they ran on"},
    {"columns", "", "", "Columns",
     "Names of the columns that were read: those of the Coffea report, else those of AddColumns.", kNoColumns},
    {"num_columns_read", "", "count", "Columns read", "Number of columns read.", kNoColumns},
    {"branches_read_share", "", "ratio", "Share of branches read",
     "Columns that were read, divided by all branches of the file; mean over files.",
     "no file said how many branches it has (SetFileInfo)"},
    {"bytes_read_share", "", "ratio", "Share of bytes read",
     "Bytes that were read, divided by all bytes of the file; mean over files.", "no file said its size (SetFileInfo)"},
};

}  // namespace

absl::Span<const MetricEntry> RunMetrics() { return kEntries; }

}  // namespace crema
