// docs/metrics.md, "The run".
#include "collector/metrics/catalog/catalog.h"

namespace crema {
namespace {

constexpr std::string_view kNoRecords = "no record log: the program did not record chunks (CREMA_DIR)";
constexpr std::string_view kNoChunks = "no chunk has a result";
constexpr std::string_view kNoEvents = "no result said how many events it had (SetEvents)";
constexpr std::string_view kNoBytes = "no attempt said how many bytes it read (AddBytesRead), and there is no report";
constexpr std::string_view kNoCpu = "no attempt recorded its CPU time";
constexpr std::string_view kNoCoffea = "no Coffea report was given";
constexpr std::string_view kNoColumns = "no attempt said which columns it read (AddColumns), and there is no report";

constexpr MetricEntry kEntries[] = {
    {"wall_time", "elapsed_time_seconds", "s", "Elapsed",
     "Stop of the run less its start; run.boundary says what bounds it.", "the records hold no time stamps"},
    {"busy_time", "total_cpu_time", "s", "Busy time",
     "Sum of the wall durations of ended attempts (without records: the Coffea report's processtime); the old name "
     "calls "
     "it CPU time, which it is not.",
     kNoRecords},
    {"chunk_cpu_time", "", "s", "CPU in chunks",
     "CPU time of ended attempts, owner threads and helpers. Without records: of the processor's tasks.", kNoCpu},
    {"helper_cpu_time", "", "s", "CPU of helpers", "The helper threads' part of chunk_cpu_time.", kNoCpu},
    {"num_chunks", "", "count", "Chunks", "Chunks with a result (without records: the Coffea report's chunks).",
     kNoRecords},
    {"num_attempts", "", "count", "Attempts", "Attempts at chunks, whatever became of them.", kNoRecords},
    {"num_failed_attempts", "", "count", "Failed attempts", "Attempts that ended by an exception or by Fail.",
     kNoRecords},
    {"num_lost_attempts", "", "count", "Lost attempts", "Attempts that began and whose process ended or vanished.",
     kNoRecords},
    {"num_retried_chunks", "", "count", "Retried chunks", "Chunks attempted again after a failed or lost attempt.",
     kNoRecords},
    {"num_recomputed_chunks", "", "count", "Recomputed chunks", "Chunks with several ok attempts.", kNoRecords},
    {"num_unfinished_chunks", "", "count", "Unfinished chunks", "Chunks that were attempted and have no result.",
     kNoRecords},
    {"busy_time_per_chunk", "avg_cpu_time_per_chunk", "s", "Busy time per chunk", "busy_time / num_chunks.", kNoChunks},
    {"busy_time_per_attempt", "", "s", "Busy time per attempt", "busy_time / ended attempts.", "no attempt has ended"},
    {"total_events", "", "count", "Events",
     "Events of results whose events are known (without records: the Coffea report's entries).", kNoEvents},
    {"bytes_read_chunks", "", "B", "Bytes read in chunks", "Bytes that ended attempts requested from files, as stored.",
     "no attempt said how many bytes it read (AddBytesRead)"},
    {"total_bytes_read_coffea", "total_bytes_read", "B", "Bytes read (Coffea)",
     "The Coffea report's bytesread, which includes file opening and headers.", kNoCoffea},
    {"bytes_read_compressed", "", "B", "Bytes read",
     "total_bytes_read_coffea, else bytes_read_chunks; run.bytes_source says which.", kNoBytes},
    {"bytes_read_uncompressed", "total_bytes_uncompressed", "B", "Bytes after decompression",
     "Bytes of ended attempts after decompression.", "no attempt said its uncompressed bytes (AddBytesRead)"},
    {"compression_ratio", "", "ratio", "Compression ratio",
     "Uncompressed over compressed bytes, of attempts that carry both.", "no attempt carries both sizes"},
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
    {"ideal_wall_time", "", "s", "Ideal elapsed time", "busy_time / total_cores: what perfect balance would need.",
     "it needs chunks and the cores they ran on"},
    {"columns", "", "", "Columns", "Names of the columns read: the Coffea report's, else those of AddColumns.",
     kNoColumns},
    {"num_columns_read", "", "count", "Columns read", "Number of columns read.", kNoColumns},
    {"branches_read_share", "", "ratio", "Share of branches read",
     "Columns read of all branches of a file; mean over files.", "no file said how many branches it has (SetFileInfo)"},
    {"bytes_read_share", "", "ratio", "Share of bytes read", "Bytes read of all bytes of a file; mean over files.",
     "no file said its size (SetFileInfo)"},
};

}  // namespace

absl::Span<const MetricEntry> RunMetrics() { return kEntries; }

}  // namespace crema
