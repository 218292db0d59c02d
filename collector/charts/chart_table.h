// The table of charts: names, what they answer, and the function that draws each.
#pragma once

#include "collector/charts/chart.h"
#include "collector/charts/drawing.h"

namespace crema {

/// The row of one chart; null where the name is none, or stands for many.
const ChartKind* FindChartKind(std::string_view name);

/// Charts that are gone, each with the one that answers its question.
inline constexpr std::pair<std::string_view, std::string_view> kFormerCharts[] = {
    {"resource_utilization", "concurrency_timeline"},
    {"section_cpu_vs_wait", "section_icicle"},
    {"worker_count_timeline", "concurrency_timeline"},
    {"cpu_utilization_mean_timeline", "cpu_heatmap"},
    {"cpu_utilization_per_worker_timeline", "cpu_heatmap"},
    {"memory_utilization_mean_timeline", "memory_small_multiples"},
    {"memory_utilization_per_worker_timeline", "memory_small_multiples"},
    {"duration_by_dataset", "runtime_distribution"},
    {"branch_access_per_chunk", "data_access_percentage"},
    {"compression_ratio_distribution", "bytes_accessed_per_chunk"},
    {"per_task_cpu_io", "fine_by_function"},
    {"per_task_bytes_read", "fine_by_function"},
    {"per_task_overhead", "fine_by_function"},
    {"executing_tasks_timeline", "total_active_tasks_timeline"},
    {"worker_activity_timeline", "cpu_heatmap"},
    {"occupancy_timeline", "total_active_tasks_timeline"}};

}  // namespace crema
