// docs/metrics.md, "Chunks, sections and reading": what stands beside the distributions.
#include "collector/metrics/catalog/catalog.h"

namespace crema {
namespace {

constexpr MetricEntry kEntries[] = {
    {"chunk_cpu_wait", "", "s", "CPU wait",
     "Sum over ended attempts of the time the owner was ready to run without a CPU (schedstat run delay).",
     "the kernel does not tell the run delay (/proc/thread-self/schedstat), or no attempt has ended"},
    {"chunk_joined", "", "s", "Waiting for helpers",
     "Sum over ended attempts of the time in which the owner waited for its own helpers.",
     "no attempt recorded its CPU time"},
    {"chunk_blocked", "", "s", "Blocked",
     "Sum over ended attempts of the owner's time without CPU that is neither contention nor waiting for its own "
     "helpers: I/O, locks, the GIL, a GPU, sleep.",
     "it needs CPU time and run delay, which no attempt recorded"},
    {"straggler_chunks", "", "count", "Stragglers",
     "Ok attempts whose residual from their dataset's robust fit (fixed + slope x events) is above Q3 + 3 IQR and that "
     "took over twice the prediction; of datasets with 8 ok attempts or more.",
     "no dataset has 8 ok attempts, which the fit needs"},
    {"oversized_chunks", "", "count", "Oversized chunks",
     "Results with over 3 times the events of their dataset's median.",
     "no result said how many events it had (SetEvents)"},
    {"rss_slope", "", "B/1000 events", "Memory growth",
     "Theil-Sen slope of a process's resident memory over chunk number, on medians of at most 200 equal bins, after "
     "the "
     "first 10 % of its chunks; the largest of all processes.",
     "no process has 20 chunks with memory and events"},
    {"rss_slope_low", "", "B/1000 events", "Memory growth, lower bound", "Lower end of rss_slope's 95 % interval.",
     "no process has 20 chunks with memory and events"},
    {"rss_slope_high", "", "B/1000 events", "Memory growth, upper bound", "Upper end of rss_slope's 95 % interval.",
     "no process has 20 chunks with memory and events"},
    {"load_imbalance", "", "ratio", "Load imbalance",
     "max / mean - 1 of busy time over lanes: the chunks open side by side in a process, told apart by their times.",
     "no attempt has ended"},
    {"max_open_chunks", "", "count", "Most open chunks",
     "Most chunks open at once in one process; above 1 they share its memory figures.", "no chunk was recorded"},
    {"section_coverage", "", "ratio", "Time inside sections", "1 - owners' time outside every section over busy_time.",
     "no attempt has ended"},
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
    {"decompression_share", "", "ratio", "Decompression's share", "The metric unzip_wall (in s) / busy_time.",
     "the metric unzip_wall was not recorded"},
};

}  // namespace

absl::Span<const MetricEntry> ChunkMetrics() { return kEntries; }

}  // namespace crema
