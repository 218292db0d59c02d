// docs/metrics.md, "Efficiency".
#include "collector/measurement/catalog.h"

namespace crema {
namespace {

constexpr std::string_view kNoCores = "it needs chunks and the cores they ran on";

constexpr MetricEntry kEntries[] = {
    {"cpu_efficiency", "", "ratio", "CPU efficiency",
     "chunk_cpu_time / core_seconds. CPU time in which a thread spins counts too: gpu_wait_cpu_seconds is part of it.",
     "it needs CPU time of chunks and core seconds"},
    {"core_efficiency", "", "ratio", "Cores busy",
     "Share of the core-seconds in which an attempt, or a helper of one, occupied the core. Threads beyond the number "
     "of "
     "cores occupy none. Without records it is busy_time / core_seconds.",
     kNoCores},
    {"speedup_factor", "", "ratio", "Speedup",
     "lane_time / wall_time: the mean number of threads that worked for chunks.", "no chunk was recorded"},
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

}  // namespace

absl::Span<const MetricEntry> EfficiencyMetrics() { return kEntries; }

}  // namespace crema
