// ChunkLog: a record log, and what is counted of the chunks in it. A process has more than one only where many threads
// write at once (docs/design.md, "Several logs of one process").
#pragma once

#include "chunk/chunk_sums.h"
#include "log/json_line.h"
#include "log/log_file.h"

namespace crema::internal {

struct Recorder;
struct ThreadState;

struct ChunkLog {
  LogFile log;
  ChunkSums sums;                        ///< of chunks without a line
  JsonLine process_line;                 ///< the log's first
  std::atomic<std::uint64_t> chunks{0};  ///< ended
  std::atomic<std::uint64_t> failed{0};
  std::atomic<ChunkLog*> next{nullptr};  ///< one that was opened after it
  int threads = 0;                       ///< that moved to it; with `Recorder::logs_mutex` held
};

/// The log of a chunk that the thread is about to begin: the recorder's first, unless the thread moved to another one.
ChunkLog* LogForChunk(Recorder* recorder, ThreadState* thread) noexcept;

/// Writes the sums of all logs that are due; false: none were.
bool WriteSumsWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept;

}  // namespace crema::internal
