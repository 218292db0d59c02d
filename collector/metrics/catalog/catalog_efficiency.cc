// docs/metrics.md, "Efficiency".
#include "collector/metrics/catalog/catalog.h"

namespace crema {
namespace {

constexpr std::string_view kNoCores = "it needs chunks and the cores they ran on";

constexpr MetricEntry kEntries[] = {
    {"cpu_efficiency", "", "ratio", "CPU efficiency", "chunk_cpu_time / core_seconds.",
     "it needs CPU time of chunks and core seconds"},
    {"core_efficiency", "", "ratio", "Cores busy", "busy_time / core_seconds.", kNoCores},
    {"speedup_factor", "", "ratio", "Speedup", "busy_time / wall_time.", "no chunk was recorded"},
    {"cpu_speedup", "", "ratio", "Speedup, CPU", "chunk_cpu_time / wall_time.", "no attempt recorded its CPU time"},
    {"io_overhead_pct", "", "%", "Waiting in your code, blocked",
     "100 x owners' blocked time / busy_time. Without records: of Dask's tasks, noncpu / (cpu + noncpu).",
     "blocked time needs CPU time and run delay, which no attempt recorded"},
    {"io_overhead", "", "ratio", "Waiting in your code, blocked",
     "Owners' blocked time / busy_time. Without records: of Dask's tasks, noncpu / (cpu + noncpu).",
     "blocked time needs CPU time and run delay, which no attempt recorded"},
    {"balance", "", "ratio", "Balance", "Busy over available core seconds, from the first chunk to the tail.",
     kNoCores},
    {"instrumentation_overhead", "", "ratio", "Cost of measuring",
     "Calibrated cost per call times the calls, of all processes, over busy_time.",
     "no process has told what recording cost it, which is said at its end"},
    {"tail_time", "", "s", "Tail", "Last chunk's stop less the last moment at which 90 % of the cores were occupied.",
     "90 % of the cores were never occupied"},
    {"oversubscribed_core_seconds", "", "core s", "Oversubscribed core seconds",
     "Integral of occupied lanes beyond the cores.", kNoCores},
};

}  // namespace

absl::Span<const MetricEntry> EfficiencyMetrics() { return kEntries; }

}  // namespace crema
