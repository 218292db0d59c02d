// The metrics that two runs are compared in when nobody says which.
#ifndef CREMA_COLLECTOR_CHARTS_COMPARED_METRICS_H_
#define CREMA_COLLECTOR_CHARTS_COMPARED_METRICS_H_

#include <string_view>

namespace crema {

inline constexpr std::string_view kComparedMetrics[] = {
    "wall_time",           "event_rate_wall_khz",       "cpu_efficiency",    "core_seconds",
    "chunk_duration_mean", "chunk_time_per_event_mean", "peak_memory_bytes", "io_overhead_pct"};

}  // namespace crema

#endif  // CREMA_COLLECTOR_CHARTS_COMPARED_METRICS_H_
