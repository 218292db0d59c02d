#include "chunk/chunk_log.h"

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "log/process_line.h"
#include "process/process_recorder.h"
#include "storage/arena.h"

namespace crema::internal {
namespace {

/// So many threads may write into one log at once.
constexpr int kThreadsOfLog = 8;
constexpr int kMostLogs = 8;
/// A thread moves after so many begins of chunks at which more did. Threads that begin together once do not.
constexpr std::uint32_t kCrowdedBegins = 16;

/// The log that most places are left in, of those beside the first; null: none can be opened.
ChunkLog* FindOrOpen(Recorder* recorder) {
  ChunkLog* found = nullptr;
  ChunkLog* last = recorder;
  int logs = 1;
  for (; ChunkLog* log = last->next.load(); last = log) {
    if (log->log.is_open() && (found == nullptr || log->threads < found->threads)) found = log;
    ++logs;
  }
  const bool is_full = found == nullptr || found->threads >= kThreadsOfLog;
  if (!is_full || logs == kMostLogs || !recorder->descriptors.TakeForLog()) return found;
  auto* const more = MakeOwn<ChunkLog>();
  if (more == nullptr) return found;
  last->next.store(more);  // before it is open, so that a forked child finds what to close
  return OpenLogBeside(recorder, more) ? more : found;
}

}  // namespace

ChunkLog* LogForChunk(Recorder* recorder, ThreadState* thread) noexcept {
  if (thread->work != nullptr && !thread->work->is_helper) return static_cast<ChunkState*>(thread->work)->log;
  if (thread->log != nullptr) return thread->log;
  if (CREMA_LIKELY(recorder->log.writers() < kThreadsOfLog) || ++thread->crowded_begins < kCrowdedBegins) {
    return recorder;
  }
  thread->crowded_begins = 0;
  // Lines of these name chunks of the whole process, or count them.
  const bool is_one_log = recorder->gpu_counter != nullptr || recorder->allocation_counter != nullptr;
  const std::unique_lock<std::mutex> lock(recorder->logs_mutex, std::try_to_lock);
  if (is_one_log || !lock.owns_lock() || recorder->log.limits().is_stopped()) return recorder;
  thread->log = FindOrOpen(recorder);
  if (thread->log == nullptr) return recorder;
  ++thread->log->threads;
  return thread->log;
}

bool WriteSumsWhenDue(Recorder* recorder, std::int64_t now_ns) noexcept {
  bool is_due = false;
  for (ChunkLog* log = recorder; log != nullptr; log = log->next.load(std::memory_order_acquire)) {
    if (!log->sums.IsDue(now_ns)) continue;
    is_due = true;
    log->sums.WriteWhenDue(recorder, &log->log, now_ns);
  }
  return is_due;
}

}  // namespace crema::internal
