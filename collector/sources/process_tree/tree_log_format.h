// The names of the process-tree log, written by tree_log_writer and read by tree_log_reader.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_FORMAT_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/records/schema.h"  // kTreeLogSuffix
#include "collector/records/tree_facts.h"

namespace crema {

/// `schema` of the first line; another major number is another format.
inline constexpr std::string_view kTreeLogSchema = "crema.tree/1";
/// Minor numbers only add fields.
inline constexpr int kTreeLogSchemaMinor = 6;

struct TreeGpuField {
  std::string_view key;
  std::optional<int64_t> TreeGpu::*member;
};
/// Of a row of `gpus`, besides `index` and `name`.
inline constexpr TreeGpuField kTreeGpuFields[] = {
    {"utilization_percent", &TreeGpu::utilization_percent},
    {"memory_used_bytes", &TreeGpu::memory_used_bytes},
    {"memory_total_bytes", &TreeGpu::memory_total_bytes},
    {"power_mw", &TreeGpu::power_mw},
    {"tree_memory_bytes", &TreeGpu::tree_memory_bytes},
    {"other_processes", &TreeGpu::other_processes},
    {"tree_percent", &TreeGpu::tree_percent},
    {"other_percent", &TreeGpu::other_percent},
    {"energy_mj", &TreeGpu::energy_mj},
};

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_FORMAT_H_
