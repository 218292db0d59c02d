// A whole chunk record, against its own system calls.
#pragma once

#include <string>

#include "sdk/benchmarks/chunk_work.h"

namespace crema_benchmarks {

/// Registers the chunk, on one thread and on two at once, and its bare system calls beside it. `log` is the process's
/// record log, which is emptied again and again; the bare calls write into `raw_log`. `sizes` are the lines'.
void RegisterChunks(const std::string& log, const std::string& raw_log, LineSizes sizes);

}  // namespace crema_benchmarks
