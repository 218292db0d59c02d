// MeasureBatch: one timed batch of an operation, and whether anything disturbed it.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>

namespace crema_benchmarks {

/// Counter of a run: threads of the batch that the kernel took off their core, or that did not run beside the others.
inline constexpr char kDisturbed[] = "disturbed";

/// Involuntary context switches of this thread so far (getrusage(2)).
std::int64_t InvoluntarySwitches();

/// Waits, spinning, until all threads of the benchmark are here.
void Rendezvous(int threads);

/// Notes the batch of one thread; after a rendezvous `Overlapped` says whether the threads' batches ran side by side.
void NoteBatch(int thread, std::chrono::steady_clock::time_point start, std::chrono::steady_clock::time_point stop);
bool Overlapped(int threads);

/// The only place that calls the operation, so that the compiler inlines it into the loop.
template <class Operation>
__attribute__((noinline)) void Repeat(int times, Operation& operation) {
  for (int i = 0; i < times; ++i) operation();
}

/// Calls `operation()` `batch` times on each thread of the benchmark, starting together, and reports the time of one
/// call divided by `guards_per_call`. The benchmark must use `UseManualTime()`.
template <class Operation>
void MeasureBatch(benchmark::State& state, int batch, int guards_per_call, Operation operation) {
  using Clock = std::chrono::steady_clock;
  std::int64_t disturbed = 0;
  for (auto _ : state) {
    Repeat(batch / 8 + 1, operation);  // names known, buffers grown, caches warm
    Rendezvous(state.threads());
    const std::int64_t switches = InvoluntarySwitches();
    const auto start = Clock::now();
    Repeat(batch, operation);
    const auto stop = Clock::now();
    const bool switched = InvoluntarySwitches() != switches;
    NoteBatch(state.thread_index(), start, stop);
    Rendezvous(state.threads());
    if (switched || !Overlapped(state.threads())) ++disturbed;
    state.SetIterationTime(std::chrono::duration<double>(stop - start).count() / batch / guards_per_call);
  }
  state.counters[kDisturbed] = static_cast<double>(disturbed);
}

}  // namespace crema_benchmarks
