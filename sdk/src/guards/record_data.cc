// RecordMetric, RecordProcessMetric and RecordCut.

#include "chunk/open_work.h"
#include "chunk/thread_state.h"
#include "crema/record_cut.h"
#include "crema/record_metric.h"
#include "process/process_recorder.h"

namespace crema {
namespace internal {
namespace {

/// Where this thread's data go; null when recording is off, or when there is no chunk, which is counted.
ChunkData* CurrentChunkData() {
  if (!Recording()) return nullptr;
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread != nullptr && thread->work != nullptr) return &thread->work->data;
  CountOutsideChunk();
  return nullptr;
}

}  // namespace
}  // namespace internal

void RecordMetricValue(std::string_view name, double value, std::string_view unit) noexcept {
  internal::ChunkData* data = internal::CurrentChunkData();
  if (data != nullptr) data->AddMetric(name, value, unit);
}

void RecordProcessMetricValue(std::string_view name, double value, std::string_view unit) noexcept {
  internal::Recorder* recorder = internal::Recording() ? internal::CurrentRecorder() : nullptr;
  if (recorder == nullptr) return;
  const std::lock_guard<std::mutex> lock(recorder->mutex);
  internal::ChunkData& values = recorder->process_values;
  const std::uint64_t dropped = values.dropped();
  values.LimitSketches(0);
  values.AddMetric(name, value, unit);
  if (values.dropped() != dropped) internal::CountDropped();
}

void RecordCutEvents(std::string_view name, std::int64_t events, const double* sum_of_weights,
                     const CutInput* input) noexcept {
  internal::ChunkData* data = internal::CurrentChunkData();
  if (data != nullptr) data->AddCut(name, events, sum_of_weights, input);
}

}  // namespace crema
