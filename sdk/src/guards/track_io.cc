#include "crema/track_io.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "crema/record_metric.h"
#include "crema/track_memory.h"
#include "crema/track_metrics.h"
#include "crema/track_page_faults.h"
#include "crema/track_perf_counters.h"
#include "kernel/clock.h"
#include "kernel/kernel_readings.h"
#include "kernel/proc_file.h"
#include "log/json_line.h"
#include "process/process_recorder.h"
#include "storage/fixed_text.h"

namespace crema {
namespace {

using namespace internal;

/// Records `<name>.<what>`; the name is cut so that what was measured stays readable.
void RecordDotted(std::string_view name, std::string_view what, double value, std::string_view unit) noexcept {
  FixedText<kMaxNameBytes> text(CutOnCodePoint(name, kMaxNameBytes - what.size() - 1));
  text.Append(".");
  text.Append(what);
  RecordMetric(text.view(), value, unit);
}

struct IoCounter {
  std::string_view key;
  std::string_view metric;
  std::string_view unit;
};

constexpr IoCounter kIoCounters[TrackIo::kCounters] = {
    {"rchar:", "rchar_bytes", "B"},       {"wchar:", "wchar_bytes", "B"},    {"read_bytes:", "read_bytes", "B"},
    {"write_bytes:", "write_bytes", "B"}, {"syscr:", "read_calls", "count"}, {"syscw:", "write_calls", "count"},
};

void ReadCounters(std::int64_t* counters) {
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  char text[256];
  long size = -1;
  if (thread != nullptr && recorder != nullptr) size = thread->kernel.ReadIo(&recorder->descriptors, text, sizeof text);
  const std::string_view io(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  for (int i = 0; i < TrackIo::kCounters; ++i) {
    counters[i] = IntegerAfter(io, kIoCounters[i].key).value_or(-1);
  }
}

#ifdef __GLIBC__
const char* Describe(int error) { return strerrordesc_np(error); }
#else
const char* Describe(int error) { return strerror(error); }  // a constant text in musl
#endif

/// Notes with the chunk why counters are missing: the kernel's answer, and the setting that decides.
void ExplainRefusal(const PerfCounters& counters) {
  char setting[16];
  const long size = ReadWholeFile("/proc/sys/kernel/perf_event_paranoid", setting, sizeof setting);
  if (size > 0 && setting[size - 1] == '\n') setting[size - 1] = '\0';
  char text[256];
  snprintf(text, sizeof text, "%s: %s (kernel.perf_event_paranoid is %s)",
           PerfCounters::Name(counters.refused_counter()), Describe(counters.refusal()),
           size > 0 ? setting : "unknown");
  crema::SetAttribute("perf_counters", text);
}

}  // namespace

TrackIo::TrackIo(std::string_view name) noexcept : BaseInstrumentationContext(name), name_(name) {
  if (recording()) ReadCounters(start_);
}

TrackIo::~TrackIo() {
  if (!recording()) return;
  std::int64_t stop[kCounters];
  ReadCounters(stop);
  if (!EndSection()) return;
  for (int i = 0; i < kCounters; ++i) {
    if (start_[i] < 0 || stop[i] < start_[i]) continue;
    RecordDotted(name_, kIoCounters[i].metric, static_cast<double>(stop[i] - start_[i]), kIoCounters[i].unit);
  }
}

TrackMemory::TrackMemory(std::string_view name) noexcept {
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
  if (frame_ == nullptr || IsSwitchedOff()) return;
  const ErrnoAndCancelGuard guard;
  auto* thread = static_cast<ThreadState*>(t_context);
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;  // a fork's copy, or the process is ending
  if (!thread->Holds(frame_) || frame_->use != use_) {
    CountMisuse("a memory guard ended on another thread, or after its chunk: it is not recorded");
    return;
  }
  const auto rss = thread->kernel.RssBytes(&recorder->descriptors);
  if (!rss.has_value()) return;
  frame_->data.AddMemory(row_, rss_start_bytes_, *rss);
  recorder->overhead_ns.fetch_add(recorder->reading_cost_ns, std::memory_order_relaxed);
}

TrackPageFaults::TrackPageFaults(std::string_view name) noexcept : BaseInstrumentationContext(name), name_(name) {
  if (!recording()) return;
  const ErrnoAndCancelGuard guard;
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    minor_ = usage.ru_minflt;
    major_ = usage.ru_majflt;
  }
}

TrackPageFaults::~TrackPageFaults() {
  if (!recording()) return;
  const ErrnoAndCancelGuard guard;
  rusage usage{};
  if (minor_ < 0 || getrusage(RUSAGE_THREAD, &usage) != 0) return;
  if (!EndSection()) return;
  RecordDotted(name_, "minor_faults", static_cast<double>(usage.ru_minflt - minor_), "count");
  RecordDotted(name_, "major_faults", static_cast<double>(usage.ru_majflt - major_), "count");
}

TrackPerfCounters::TrackPerfCounters(std::string_view name) noexcept
    : BaseInstrumentationContext(kBeginsLater), name_(name) {
  if (!recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  thread->perf.Open(&recorder->descriptors);
  BeginSection(name);
  for (int i = 0; i < kCounters; ++i) valid_[i] = thread->perf.Read(i, &recorder->descriptors, &start_[i]);
  if (thread->perf.refusal() != 0) ExplainRefusal(thread->perf);
}

TrackPerfCounters::~TrackPerfCounters() {
  if (!recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  Reading stops[kCounters];
  for (int i = 0; i < kCounters; ++i) valid_[i] = valid_[i] && thread->perf.Read(i, &recorder->descriptors, &stops[i]);
  EndSection();
  for (int i = 0; i < kCounters; ++i) {
    const Reading& stop = stops[i];
    // Opened anew in between, nothing is known of all that time.
    if (!valid_[i] || stop.event != start_[i].event) continue;
    const auto running = static_cast<double>(stop.running_ns - start_[i].running_ns);
    const auto enabled = static_cast<double>(stop.enabled_ns - start_[i].enabled_ns);
    if (running <= 0) continue;  // it never got a place on the processor: nothing is known
    RecordDotted(name_, PerfCounters::Name(i), static_cast<double>(stop.value - start_[i].value) * enabled / running,
                 "count");
  }
}

}  // namespace crema
