#include "crema/track_request.h"

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "kernel/clock.h"
#include "process/process_recorder.h"
#include "tasks/task_table.h"

namespace crema {

void RecordRequest(std::string_view server, std::string_view operation, std::int64_t bytes, std::int64_t nanoseconds,
                   bool failed) noexcept {
  using namespace internal;
  if (!Recording()) return;
  auto* thread = static_cast<ThreadState*>(t_context);
  OpenWork* frame = thread == nullptr ? nullptr : thread->work;
  if (frame == nullptr) {
    CountOutsideChunk();
    return;
  }
  const int row = nanoseconds < 0 ? -1 : frame->data.RequestRowIndex(server, operation);
  if (row < 0) {
    CountDropped();
    return;
  }
  frame->data.AddRequest(row, bytes, nanoseconds, failed);
}

TrackRequest::TrackRequest(std::string_view server, std::string_view operation) noexcept {
  using namespace internal;
  if (!Recording()) return;
  auto* thread = static_cast<ThreadState*>(t_context);
  OpenWork* frame = thread == nullptr ? nullptr : thread->work;
  if (frame == nullptr) {
    CountOutsideChunk();
    return;
  }
  row_ = frame->data.RequestRowIndex(server, operation);
  if (row_ < 0) {
    CountDropped();
    return;
  }
  frame_ = frame;
  use_ = frame->use;
  uncaught_exceptions_ = *thread->uncaught_exceptions;
  start_ns_ = MonotonicNanoseconds();
}

void TrackRequest::End() noexcept {
  using namespace internal;
  if (event_ != nullptr) {
    EndRequest(std::exchange(event_, nullptr), module_, row_, start_ns_, bytes_, failed_);
    return;
  }
  OpenWork* const began_in = std::exchange(frame_, nullptr);
  if (began_in == nullptr || IsSwitchedOff()) return;
  const std::int64_t stop_ns = MonotonicNanoseconds();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return;  // a fork's copy, or the process is ending
  OpenWork* frame = thread->work;
  while (frame != nullptr && (frame != began_in || frame->use != use_)) frame = frame->outer;
  if (frame == nullptr) {
    CountMisuse("a request ended on another thread, or after its chunk: it is not recorded");
    return;
  }
  const bool failed = failed_ || *thread->uncaught_exceptions > uncaught_exceptions_;
  frame->data.AddRequest(row_, bytes_, stop_ns > start_ns_ ? stop_ns - start_ns_ : 0, failed);
}

}  // namespace crema
