#include "crema/span.h"

#include <new>

#include "json_line.h"
#include "recorder.h"
#include "span_state.h"
#include "thread_state.h"

namespace crema {
namespace internal {
namespace {

std::string PathBelow(const SpanState* outer, std::string_view name) {
  std::string path = outer == nullptr ? std::string() : outer->path + "/";
  for (const char c : name) {
    if (c == '/') {
      path += "%2F";
    } else {
      path += c;
    }
  }
  path.resize(CutOnCodePoint(path, kMaxPathBytes).size());
  return path;
}

void WriteSpan(Recorder* recorder, ThreadState* thread, const SpanState& span) {
  const std::int64_t stop_ns = MonotonicNanoseconds();
  JsonLine line;
  line.Raw("{\"type\":\"span\"");
  line.FieldText("name", span.name);
  line.FieldText("path", span.path);
  line.Field("start_ns", recorder->clock.UnixNanoseconds(span.start_ns));
  line.Field("stop_ns", recorder->clock.UnixNanoseconds(stop_ns));
  line.FieldUnsigned("thread", thread->thread);
  line.Raw("}\n");
  recorder->log.Write(line.text());
}

/// Takes `span` out of the chain from `innermost` outwards; returns its innermost now. Spans may end out of order:
/// those inside stay, without this one around them.
SpanState* Without(const SpanState* span, SpanState* innermost) {
  if (innermost == span) return span->outer;
  for (SpanState* other = innermost; other != nullptr; other = other->outer) {
    if (other->outer == span) other->outer = span->outer;
  }
  return innermost;
}

}  // namespace

std::string_view InnermostSpanPath(const Recorder& recorder, const ThreadState& thread) noexcept {
  const SpanState* span = thread.span != nullptr ? thread.span : recorder.process_span.load(std::memory_order_acquire);
  return span == nullptr ? std::string_view() : std::string_view(span->path);
}

}  // namespace internal

Span::Span(std::string_view name) noexcept {
  using namespace internal;
  const ErrnoKeeper keeper;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  auto* span = new (std::nothrow) SpanState();
  if (span == nullptr) return;
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  const bool of_thread = thread->work != nullptr;
  span->outer = of_thread && thread->span != nullptr ? thread->span : recorder->process_span.load();
  span->name = std::string(CutOnCodePoint(name, kMaxNameBytes));
  span->path = PathBelow(span->outer, span->name);
  span->thread = of_thread ? thread : nullptr;
  span->pid = recorder->pid;
  span->start_ns = MonotonicNanoseconds();
  if (of_thread) {
    thread->span = span;
  } else {
    recorder->process_span.store(span, std::memory_order_release);
  }
  state_ = span;
}

Span::~Span() {
  using namespace internal;
  if (state_ == nullptr) return;
  const ErrnoKeeper keeper;
  Recorder* recorder = CurrentRecorder();
  if (recorder == nullptr || recorder->pid != state_->pid) return;  // the parent's: it ends there
  ThreadState* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return;
  WriteSpan(recorder, thread, *state_);
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  if (state_->thread == nullptr) {
    recorder->process_span.store(Without(state_, recorder->process_span.load()), std::memory_order_release);
    return;  // not freed: another thread may be reading its path just now. Spans are phases, so there are few
  }
  if (state_->thread != thread) {
    CountMisuse("a span ended on another thread than it began on: chunks of that one still carry it");
    return;
  }
  SpanState* innermost = Without(state_, thread->span);
  thread->span = innermost != nullptr && innermost->thread == thread ? innermost : nullptr;
  delete state_;  // only its own thread ever looked at it
}

}  // namespace crema
