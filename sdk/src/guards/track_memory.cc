#include "crema/track_memory.h"

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "process/process_recorder.h"

namespace crema {

TrackMemory::TrackMemory(std::string_view name) noexcept {
  using namespace internal;
  if (!Recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  OpenWork* frame = thread->work;
  if (frame == nullptr) {
    CountOutsideChunk();
    return;
  }
  const std::string_view prefix = frame->is_helper ? static_cast<HelperState*>(frame)->prefix : std::string_view();
  row_ = frame->data.MemoryRowIndex(prefix, thread->current.load(std::memory_order_relaxed), name);
  if (row_ < 0) return;
  const auto rss = thread->kernel.RssBytes(&recorder->descriptors);
  if (!rss.has_value()) return;
  rss_start_bytes_ = *rss;
  use_ = frame->use;
  frame_ = frame;
}

TrackMemory::~TrackMemory() {
  using namespace internal;
  if (frame_ == nullptr || IsSwitchedOff()) return;
  const ErrnoAndCancelGuard guard;
  auto* thread = static_cast<ThreadState*>(t_context);
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;  // a fork's copy, or the process is ending
  OpenWork* frame = thread->work;
  while (frame != nullptr && frame != frame_) frame = frame->outer;
  if (frame == nullptr || frame->use != use_) {
    CountMisuse("a memory guard ended on another thread, or after its chunk: it is not recorded");
    return;
  }
  const auto rss = thread->kernel.RssBytes(&recorder->descriptors);
  if (!rss.has_value()) return;
  frame->data.AddMemory(row_, rss_start_bytes_, *rss);
  recorder->overhead_ns.fetch_add(recorder->reading_cost_ns, std::memory_order_relaxed);
}

}  // namespace crema
