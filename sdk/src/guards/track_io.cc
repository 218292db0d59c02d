#include "crema/track_io.h"

#include "chunk/thread_state.h"
#include "guards/dotted_metric.h"
#include "kernel/kernel_readings.h"
#include "kernel/proc_file.h"
#include "process/process_recorder.h"

namespace crema {
namespace {

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
  const internal::ErrnoAndCancelGuard guard;
  internal::ThreadState* thread = internal::CurrentThread();
  internal::Recorder* recorder = internal::CurrentRecorder();
  char text[256];
  long size = -1;
  if (thread != nullptr && recorder != nullptr) {
    size = thread->kernel.ReadIo(&recorder->descriptors, text, sizeof text);
  }
  const std::string_view io(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  for (int i = 0; i < TrackIo::kCounters; ++i) {
    counters[i] = internal::IntegerAfter(io, kIoCounters[i].key).value_or(-1);
  }
}

}  // namespace

TrackIo::TrackIo(std::string_view name) noexcept : BaseInstrumentationContext(name), name_(name) {
  if (recording()) ReadCounters(start_);
}

TrackIo::~TrackIo() {
  if (!recording()) return;
  std::int64_t stop[kCounters];
  ReadCounters(stop);
  EndSection();
  for (int i = 0; i < kCounters; ++i) {
    if (start_[i] < 0 || stop[i] < start_[i]) continue;
    internal::RecordDotted(name_, kIoCounters[i].metric, static_cast<double>(stop[i] - start_[i]), kIoCounters[i].unit);
  }
}

}  // namespace crema
