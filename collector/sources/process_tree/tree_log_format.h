// The names of the process-tree log, written by tree_log_writer and read by tree_log_reader.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_FORMAT_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_FORMAT_H_

#include <string_view>

#include "collector/records/schema.h"  // kTreeLogSuffix

namespace crema {

/// `schema` of the first line; another major number is another format.
inline constexpr std::string_view kTreeLogSchema = "crema.tree/1";
/// Minor numbers only add fields.
inline constexpr int kTreeLogSchemaMinor = 4;

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_TREE_LOG_FORMAT_H_
