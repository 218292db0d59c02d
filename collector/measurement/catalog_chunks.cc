// docs/metrics.md, "Chunks, sections and reading": what stands beside the distributions.
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr MetricEntry kEntries[] = {
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
     "Pages of files and shared memory do not count, where samples tell them apart. It is made from medians of at most "
     "200 equal bins. The value is that of the process with the largest slope.",
     "no process has 20 chunks with memory and events"},
    {"rss_slope_low", "", "B/1000 events", "Memory growth, lower bound", "Lower end of the 95 % interval of rss_slope.",
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
     "no chunk was recorded"},
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

}  // namespace

absl::Span<const MetricEntry> ChunkMetrics() { return kEntries; }

}  // namespace crema
