// /proc/PID/io: what a process read and wrote, children that it waited for included.
#ifndef CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_IO_H_
#define CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_IO_H_

#include <optional>
#include <string_view>

#include "collector/records/tree_facts.h"

namespace crema {

/// The kernel adds a child's I/O to its parent's when the parent waits for it (task_io_accounting_add in
/// kernel/exit.c), as it does with CPU time. nullopt: a field is missing.
std::optional<TreeIo> ParseProcIo(std::string_view text);

/// The read calls that the same file counts.
std::optional<int64_t> ParseReadCalls(std::string_view text);

}  // namespace crema

#endif  // CREMA_COLLECTOR_SOURCES_PROCESS_TREE_PROC_IO_H_
