#include "process/calibration.h"

#include <algorithm>

#include "chunk/chunk_data.h"
#include "chunk/section_tree.h"
#include "chunk/thread_state.h"
#include "process/process_recorder.h"
#include "storage/own_memory.h"

namespace crema {
namespace internal {

void Calibrate(Recorder* recorder) noexcept {
  constexpr int kRounds = 4;
  constexpr int kSectionsPerRound = 64;
  constexpr int kRequestsPerRound = 16;
  const OwnPointer<ThreadState> thread(MakeOwn<ThreadState>());
  const OwnPointer<ChunkData> data(MakeOwn<ChunkData>());
  if (thread == nullptr || data == nullptr) return;
  const unsigned int no_exceptions = 0;
  thread->uncaught_exceptions = &no_exceptions;
  thread->reads_counter = recorder->clock.counter_is_clock();
  thread->current.store(thread->outside.root());
  ThreadContext* const saved = t_context;
  t_context = thread.get();
  // The least of some rounds: the first fills the caches, any may be interrupted.
  recorder->section_cost_ns = recorder->request_cost_ns = recorder->reading_cost_ns = INT64_MAX;
  for (int round = 0; round < kRounds; ++round) {
    const std::int64_t start_ns = MonotonicNanoseconds();
    for (int i = 0; i < kSectionsPerRound; ++i) ExitSection(EnterSection("calibration"));
    const std::int64_t middle_ns = MonotonicNanoseconds();
    for (int i = 0; i < kRequestsPerRound; ++i) {  // what TrackRequest does
      const std::int64_t begin_ns = MonotonicNanoseconds();
      const int row = data->RequestRowIndex("calibration://calibration", "calibration");
      if (row >= 0) data->AddRequest(row, 1, MonotonicNanoseconds() - begin_ns, false);
    }
    const std::int64_t requests_stop_ns = MonotonicNanoseconds();
    thread->kernel.RssBytes(&recorder->descriptors);
    thread->kernel.RssBytes(&recorder->descriptors);
    const std::int64_t stop_ns = MonotonicNanoseconds();
    recorder->section_cost_ns = std::min(recorder->section_cost_ns, (middle_ns - start_ns) / kSectionsPerRound);
    recorder->request_cost_ns = std::min(recorder->request_cost_ns, (requests_stop_ns - middle_ns) / kRequestsPerRound);
    recorder->reading_cost_ns = std::min(recorder->reading_cost_ns, stop_ns - requests_stop_ns);
  }
  t_context = saved;
  thread->kernel.Close(&recorder->descriptors);
}

}  // namespace internal
}  // namespace crema
