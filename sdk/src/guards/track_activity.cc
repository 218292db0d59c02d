// RecordMetric, RecordProcessMetric, RecordCut, and the guards and values of activities and requests.
#include "crema/track_activity.h"

#include <cmath>

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "crema/record_cut.h"
#include "crema/record_metric.h"
#include "crema/track_request.h"
#include "process/process_recorder.h"
#include "tasks/task_table.h"

namespace crema {
namespace {

using namespace internal;

constexpr std::string_view kSeconds = "seconds";

/// Where this thread's data go; null when recording is off, or when there is no chunk, which is counted.
OpenWork* CurrentWork() {
  if (!Recording()) return nullptr;
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread != nullptr && thread->work != nullptr) return thread->work;
  CountOutsideChunk();
  return nullptr;
}

/// Where the activity lies among the open ones, from 1; 0: it is none of them.
std::size_t DepthOf(OpenWork& frame, std::uint64_t serial) {
  std::size_t depth = frame.activities.size();
  while (depth != 0 && frame.activities[depth - 1].serial != serial) --depth;
  return depth;
}

}  // namespace

void RecordMetricValue(std::string_view name, double value, std::string_view unit) noexcept {
  if (OpenWork* work = CurrentWork()) work->data.AddMetric(name, value, unit);
}

void RecordProcessMetricValue(std::string_view name, double value, std::string_view unit) noexcept {
  Recorder* recorder = Recording() ? CurrentRecorder() : nullptr;
  if (recorder == nullptr) return;
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  ChunkData& values = recorder->process_values;
  const std::uint64_t dropped = values.dropped();
  values.LimitSketches(0);
  values.AddMetric(name, value, unit);
  if (values.dropped() != dropped) CountDropped();
}

void RecordCutEvents(std::string_view name, std::int64_t events, const double* sum_of_weights,
                     const CutInput* input) noexcept {
  if (OpenWork* work = CurrentWork()) work->data.AddCut(name, events, sum_of_weights, input);
}

void RecordActivityValue(std::string_view label, double value, std::string_view unit) noexcept {
  OpenWork* frame = CurrentWork();
  if (frame == nullptr) return;
  const int row = std::isfinite(value) ? frame->data.ActivityRowIndex(label, unit) : -1;
  if (row < 0) return CountDropped();
  frame->data.AddActivity(row, value);
  const std::size_t depth = frame->activities.size();
  if (depth != 0 && unit == kSeconds) frame->activities[depth - 1].inner_seconds += value;
}

TrackActivity::TrackActivity(std::string_view label) noexcept {
  OpenWork* frame = CurrentWork();
  if (frame == nullptr) return;
  const int row = frame->data.ActivityRowIndex(label, kSeconds);
  OpenActivity* open = row < 0 ? nullptr : frame->activities.Add();
  if (open == nullptr) {
    CountDropped();
    return;
  }
  frame_ = frame;
  serial_ = ++frame->owner->activities_begun;
  open->serial = serial_;
  open->row = row;
  open->start_ns = MonotonicNanoseconds();
}

TrackActivity::~TrackActivity() {
  if (frame_ == nullptr) return;
  const bool is_off = IsSwitchedOff();
  const std::int64_t stop_ns = is_off ? 0 : MonotonicNanoseconds();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return;  // a fork's copy, or the process is ending
  const std::size_t depth = thread->Holds(frame_) ? DepthOf(*frame_, serial_) : 0;
  if (is_off) {
    if (depth != 0) frame_->activities.CutTo(depth - 1);
    return;
  }
  if (depth == 0) {
    CountMisuse("an activity ended on another thread, or after the guard around it: it is not recorded");
    return;
  }
  if (frame_->activities.size() > depth)
    CountMisuse("an activity ended before those inside it: these are not recorded");
  const OpenActivity open = frame_->activities[depth - 1];
  frame_->activities.CutTo(depth - 1);
  const double own_seconds = static_cast<double>(stop_ns - open.start_ns) * 1e-9 - open.inner_seconds;
  const double seconds = own_seconds < 0 ? 0 : own_seconds;  // what was recorded inside may be more than the clock's
  frame_->data.AddActivity(open.row, seconds);
  if (depth > 1) frame_->activities[depth - 2].inner_seconds += seconds + open.inner_seconds;
}

void RecordRequest(std::string_view server, std::string_view operation, std::int64_t bytes, std::int64_t nanoseconds,
                   bool failed) noexcept {
  OpenWork* frame = CurrentWork();
  if (frame == nullptr) return;
  const int row = nanoseconds < 0 ? -1 : frame->data.RequestRowIndex(server, operation);
  if (row < 0) return CountDropped();
  frame->data.AddRequest(row, bytes, nanoseconds, failed);
}

TrackRequest::TrackRequest(std::string_view server, std::string_view operation) noexcept {
  OpenWork* frame = CurrentWork();
  if (frame == nullptr) return;
  row_ = frame->data.RequestRowIndex(server, operation);
  if (row_ < 0) {
    CountDropped();
    return;
  }
  frame_ = frame;
  use_ = frame->use;
  uncaught_exceptions_ = *frame->owner->uncaught_exceptions;
  start_ns_ = MonotonicNanoseconds();
}

void TrackRequest::End() noexcept {
  if (event_ != nullptr) return EndRequest(std::exchange(event_, nullptr), module_, row_, start_ns_, bytes_, failed_);
  OpenWork* const began_in = std::exchange(frame_, nullptr);
  if (began_in == nullptr || IsSwitchedOff()) return;
  const std::int64_t stop_ns = MonotonicNanoseconds();
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return;  // a fork's copy, or the process is ending
  if (!thread->Holds(began_in) || began_in->use != use_) {
    return CountMisuse("a request ended on another thread, or after its chunk: it is not recorded");
  }
  const bool failed = failed_ || *thread->uncaught_exceptions > uncaught_exceptions_;
  began_in->data.AddRequest(row_, bytes_, stop_ns > start_ns_ ? stop_ns - start_ns_ : 0, failed);
}

}  // namespace crema
