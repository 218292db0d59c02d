#include "crema/track_activity.h"

#include <cmath>

#include "recorder.h"
#include "thread_state.h"
#include "work_frame.h"

namespace crema {
namespace internal {
namespace {

constexpr std::string_view kSeconds = "seconds";

void CountDropped() {
  Recorder* recorder = CurrentRecorder();
  if (recorder != nullptr) recorder->dropped.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace
}  // namespace internal

void RecordActivityValue(std::string_view label, double value, std::string_view unit) noexcept {
  using namespace internal;
  if (!Recording()) return;
  auto* thread = static_cast<ThreadState*>(t_context);
  WorkFrame* frame = thread == nullptr ? nullptr : thread->work;
  const int row = frame == nullptr || !std::isfinite(value) ? -1 : frame->ledger.ActivityRowIndex(label, unit);
  if (row < 0) {
    CountDropped();
    return;
  }
  frame->ledger.AddActivity(row, value);
  if (frame->activity != nullptr && unit == kSeconds) frame->activity->inner_seconds_ += value;
}

TrackActivity::TrackActivity(std::string_view label) noexcept {
  using namespace internal;
  if (!Recording()) return;
  auto* thread = static_cast<ThreadState*>(t_context);
  WorkFrame* frame = thread == nullptr ? nullptr : thread->work;
  row_ = frame == nullptr ? -1 : frame->ledger.ActivityRowIndex(label, kSeconds);
  if (row_ < 0) {
    CountDropped();
    return;
  }
  frame_ = frame;
  use_ = frame->uses;
  outer_ = frame->activity;
  frame->activity = this;
  start_ns_ = MonotonicNanoseconds();
}

TrackActivity::~TrackActivity() {
  using namespace internal;
  if (frame_ == nullptr) return;
  const std::int64_t stop_ns = MonotonicNanoseconds();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return;  // a fork's copy, or the process is ending
  const WorkFrame* frame = thread->work;
  while (frame != nullptr && frame != frame_) frame = frame->outer;
  if (frame == nullptr || frame->uses != use_ || frame_->activity != this) {
    CountMisuse("an activity ended on another thread, out of order, or after its chunk: it is not recorded");
    return;
  }
  const double own_seconds = static_cast<double>(stop_ns - start_ns_) * 1e-9 - inner_seconds_;
  const double seconds = own_seconds < 0 ? 0 : own_seconds;  // what was recorded inside may be more than the clock's
  frame_->ledger.AddActivity(row_, seconds);
  frame_->activity = outer_;
  if (outer_ != nullptr) outer_->inner_seconds_ += seconds + inner_seconds_;
}

}  // namespace crema
