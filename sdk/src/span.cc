#include "crema/span.h"

#include <atomic>
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
  line.Key("name");
  line.String(span.name);  // never null, even where it is empty
  line.Key("path");
  line.String(span.path);
  line.Field("start_ns", recorder->clock.UnixNanoseconds(span.start_ns));
  line.Field("stop_ns", recorder->clock.UnixNanoseconds(stop_ns));
  line.FieldUnsigned("thread", thread->thread);
  line.Raw("}\n");
  recorder->log.Write(line.text());
}

/// Spans that ended and cannot be freed: somebody may be reading their path just now. Spans are phases, so there are
/// few.
std::atomic<SpanState*> g_ended_spans{nullptr};

void KeepEnded(SpanState* span) {
  span->ended_before = g_ended_spans.load(std::memory_order_relaxed);
  while (!g_ended_spans.compare_exchange_weak(span->ended_before, span, std::memory_order_release,
                                              std::memory_order_relaxed)) {
  }
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

/// Writes the span's line and takes it from where it was open. True: nobody else can be looking at it.
bool End(SpanState* span) {
  Recorder* recorder = CurrentRecorder();
  if (recorder == nullptr || recorder->pid != span->pid) return false;  // the parent's: it ends there
  ThreadState* thread = static_cast<ThreadState*>(t_context);
  if (thread == nullptr) return false;
  WriteSpan(recorder, thread, *span);
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  if (span->thread == nullptr) {
    recorder->process_span.store(Without(span, recorder->process_span.load()), std::memory_order_release);
    return false;
  }
  if (span->thread != thread) {
    CountMisuse("a span ended on another thread than it began on: chunks of that one still carry it");
    return false;
  }
  SpanState* innermost = Without(span, thread->span);
  thread->span = innermost != nullptr && innermost->thread == thread ? innermost : nullptr;
  return true;
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
  if (End(state_)) {
    delete state_;
  } else {
    KeepEnded(state_);
  }
}

}  // namespace crema
