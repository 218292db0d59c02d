#include "crema/track_perf_counters.h"

#include <stdio.h>
#include <string.h>

#include "chunk/thread_state.h"
#include "crema/track_metrics.h"
#include "guards/dotted_metric.h"
#include "kernel/perf_counters.h"
#include "kernel/proc_file.h"
#include "process/process_recorder.h"

namespace crema {
namespace internal {
namespace {

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
}  // namespace internal

TrackPerfCounters::TrackPerfCounters(std::string_view name) noexcept
    : BaseInstrumentationContext(kBeginsLater), name_(name) {
  using namespace internal;
  if (!recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  thread->perf.Open(&recorder->descriptors);
  BeginSection(name);
  for (int i = 0; i < kCounters; ++i) {
    valid_[i] = thread->perf.Read(i, &recorder->descriptors, &start_[i]);
  }
  if (thread->perf.refusal() != 0) ExplainRefusal(thread->perf);
}

TrackPerfCounters::~TrackPerfCounters() {
  using namespace internal;
  if (!recording()) return;
  const ErrnoAndCancelGuard guard;
  ThreadState* thread = CurrentThread();
  Recorder* recorder = CurrentRecorder();
  if (thread == nullptr || recorder == nullptr) return;
  Reading stops[kCounters];
  for (int i = 0; i < kCounters; ++i) {
    valid_[i] = valid_[i] && thread->perf.Read(i, &recorder->descriptors, &stops[i]);
  }
  EndSection();
  for (int i = 0; i < kCounters; ++i) {
    const Reading& stop = stops[i];
    if (!valid_[i]) continue;
    if (stop.event != start_[i].event) continue;  // opened anew in between: nothing is known of all that time
    const auto running = static_cast<double>(stop.running_ns - start_[i].running_ns);
    const auto enabled = static_cast<double>(stop.enabled_ns - start_[i].enabled_ns);
    if (running <= 0) continue;  // it never got a place on the processor: nothing is known
    RecordDotted(name_, PerfCounters::Name(i), static_cast<double>(stop.value - start_[i].value) * enabled / running,
                 "count");
  }
}

}  // namespace crema
