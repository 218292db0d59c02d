// RecordMetric and RecordCut.
#include "crema/record_cut.h"
#include "crema/record_metric.h"
#include "recorder.h"
#include "thread_state.h"
#include "work_frame.h"

namespace crema {
namespace internal {
namespace {

/// Where this thread's data go; null when recording is off, or when there is no chunk, which is counted.
Ledger* CurrentLedger() {
  if (!Recording()) return nullptr;
  auto* thread = static_cast<ThreadState*>(t_context);
  if (thread != nullptr && thread->work != nullptr) return &thread->work->ledger;
  CountOutsideChunk();
  return nullptr;
}

}  // namespace
}  // namespace internal

void RecordMetricValue(std::string_view name, double value, std::string_view unit) noexcept {
  internal::Ledger* ledger = internal::CurrentLedger();
  if (ledger != nullptr) ledger->AddMetric(name, value, unit);
}

void RecordCutEvents(std::string_view name, std::int64_t events) noexcept {
  internal::Ledger* ledger = internal::CurrentLedger();
  if (ledger != nullptr) ledger->AddCut(name, events, nullptr);
}

void RecordCutEvents(std::string_view name, std::int64_t events, double sum_of_weights) noexcept {
  internal::Ledger* ledger = internal::CurrentLedger();
  if (ledger != nullptr) ledger->AddCut(name, events, &sum_of_weights);
}

}  // namespace crema
