#include "guards/span.h"

#include "chunk/thread_state.h"
#include "crema/span.h"
#include "log/json_line.h"
#include "process/process_recorder.h"
#include "storage/fixed_text.h"

namespace crema {

namespace internal {
namespace {

/// One byte more than is kept, so that the cut is seen.
using LongPath = FixedText<kMaxPathBytes + 1>;

/// nullptr where there is no memory; it is too large for a small stack.
OwnPointer<LongPath> PathBelow(const SpanState* outer, std::string_view name) {
  OwnPointer<LongPath> path(MakeOwn<LongPath>());
  if (path == nullptr) return nullptr;
  if (outer != nullptr) {
    path->Append(outer->path);
    path->Append("/");
  }
  while (!name.empty()) {
    const std::string_view plain = name.substr(0, name.find('/'));
    path->Append(plain);
    name.remove_prefix(plain.size());
    if (name.empty()) break;
    path->Append("%2F");
    name.remove_prefix(1);
  }
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
  recorder->log.Write(line);
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
  if (!IsSwitchedOff()) WriteSpan(recorder, thread, *span);
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  if (span->thread == nullptr) {
    recorder->process_span.store(Without(span, recorder->process_span.load()), std::memory_order_release);
    return false;
  }
  if (span->thread != thread) {
    CountMisuse("a span ended on another thread than it began on: chunks of the first thread still carry it");
    return false;
  }
  SpanState* innermost = Without(span, thread->span);
  thread->span = innermost != nullptr && innermost->thread == thread ? innermost : nullptr;
  return true;
}

}  // namespace

SpanState* SpanState::Make(SpanState* outer, std::string_view name) noexcept {
  name = CutOnCodePoint(name, kMaxNameBytes);
  const OwnPointer<LongPath> long_path = PathBelow(outer, name);
  if (long_path == nullptr) return nullptr;
  const std::string_view path = CutOnCodePoint(long_path->view(), kMaxPathBytes);
  OwnPointer<SpanState> span(MakeOwn<SpanState>());
  if (span == nullptr) return nullptr;
  span->texts_ = MakeOwnArray<char>(name.size() + path.size() + 1);
  char* const texts = span->texts_.get();
  if (texts == nullptr) return nullptr;
  name.copy(texts, name.size());
  path.copy(texts + name.size(), path.size());
  span->name = {texts, name.size()};
  span->path = {texts + name.size(), path.size()};
  span->outer = outer;
  return span.release();
}

std::string_view InnermostSpanPath(const Recorder& recorder, const ThreadState& thread) noexcept {
  const SpanState* span = thread.span != nullptr ? thread.span : recorder.process_span.load(std::memory_order_acquire);
  return span == nullptr ? std::string_view() : span->path;
}

}  // namespace internal

using namespace internal;

Span::Span(std::string_view name) noexcept {
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  const bool of_thread = thread->work != nullptr;
  SpanState* outer = of_thread && thread->span != nullptr ? thread->span : recorder->process_span.load();
  SpanState* span = SpanState::Make(outer, name);
  if (span == nullptr) {
    CountDropped();
    return;
  }
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
  if (state_ == nullptr) return;
  const ErrnoAndCancelGuard guard;
  if (End(state_)) {
    FreeOwn(state_);
  } else {
    KeepEnded(state_);
  }
}

}  // namespace crema
