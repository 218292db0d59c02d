#include "sdk/benchmarks/guard_benchmarks.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/benchmarks/measured_batch.h"
#include "sdk/benchmarks/raw_readings.h"

namespace crema_benchmarks {
namespace {

// Batches of some 0.5 ms: long against the two clock reads around them, short against the kernel's time slice.
constexpr int kCheapBatch = 20000;
constexpr int kSystemCallBatch = 400;

/// A section with nothing in it, that the compiler may not merge with its neighbours; compiled into its place, as in
/// the code of an analysis.
inline __attribute__((always_inline)) void EmptySection(std::string_view name) {
  const crema::TrackSection section(name);
  benchmark::ClobberMemory();
}

void Section(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kCheapBatch, 1, [] { EmptySection("read"); });
}

void SectionOff(benchmark::State& state, const crema::Options& recording) {
  crema::Disable();
  MeasureBatch(state, 10 * kCheapBatch, 1, [] { EmptySection("read"); });
  crema::Enable(recording);
}

void Siblings(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kCheapBatch / 8, 8, [] {
    EmptySection("read");
    EmptySection("decompress");
    EmptySection("select");
    EmptySection("cluster");
    EmptySection("fill");
    EmptySection("calibrate");
    EmptySection("systematics");
    EmptySection("write");
  });
}

void Nested(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kCheapBatch / 3, 3, [] {
    const crema::TrackSection read("read");
    benchmark::ClobberMemory();
    const crema::TrackSection decompress("decompress");
    benchmark::ClobberMemory();
    const crema::TrackSection basket("basket");
    benchmark::ClobberMemory();
  });
}

constexpr int kNames = 200;

/// `section_000` to `section_199`, in this order or in a random one that is the same in every run.
void ManyNames(benchmark::State& state, bool random_order) {
  std::vector<std::string> names;
  for (int i = 0; i < kNames; ++i) names.push_back("section_" + std::to_string(1000 + i).substr(1));
  std::vector<std::string_view> order;
  std::mt19937 random(17);
  for (int i = 0; i < 16 * kNames; ++i) order.push_back(names[random_order ? random() % kNames : i % kNames]);
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kCheapBatch / (16 * kNames) + 1, 16 * kNames, [&order] {
    for (const std::string_view name : order) EmptySection(name);
  });
}

void NamesInTurn(benchmark::State& state) { ManyNames(state, false); }
void NamesAtRandom(benchmark::State& state) { ManyNames(state, true); }

void SectionWithCpuTime(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kSystemCallBatch, 1, [] {
    const crema::TrackSection section("read", crema::kCpuTime);
    benchmark::ClobberMemory();
  });
}

void Memory(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kSystemCallBatch, 1, [] {
    const crema::TrackMemory memory("jets");
    benchmark::ClobberMemory();
  });
}

void Activity(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kCheapBatch, 1, [] {
    const crema::TrackActivity activity("decompress");
    benchmark::ClobberMemory();
  });
}

void Metric(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  double value = 0;
  MeasureBatch(state, kCheapBatch, 1, [&value] { crema::RecordMetric("jets", value += 1, "count"); });
}

/// As counts of objects in events are: some ten values, in no order.
void MetricOfCounts(benchmark::State& state) {
  constexpr std::size_t kValues = 4096;
  std::vector<double> values;
  std::mt19937 random(17);
  std::poisson_distribution<int> jets(4);
  for (std::size_t i = 0; i < kValues; ++i) values.push_back(jets(random));
  const crema::TrackMetrics chunk("benchmark");
  std::size_t event = 0;
  MeasureBatch(state, kCheapBatch, 1, [&] { crema::RecordMetric("jets", values[event++ % kValues], "count"); });
}

void Cut(benchmark::State& state) {
  const crema::TrackMetrics chunk("benchmark");
  MeasureBatch(state, kCheapBatch, 1, [] { crema::RecordCut("two leptons", 1, 0.5); });
}

/// A chunk that a thread of its own holds open, so that the benchmark's thread can help it.
class ChunkOfAnotherThread {
 public:
  ChunkOfAnotherThread()
      : owner_([this] {
          const crema::TrackMetrics chunk("benchmark");
          handle_.set_value(chunk.handle());
          done_.get_future().wait();
        }),
        handle(handle_.get_future().get()) {}
  ~ChunkOfAnotherThread() {
    done_.set_value();
    owner_.join();
  }
  ChunkOfAnotherThread(const ChunkOfAnotherThread&) = delete;
  ChunkOfAnotherThread& operator=(const ChunkOfAnotherThread&) = delete;

 private:
  std::promise<crema::ChunkHandle> handle_;
  std::promise<void> done_;
  std::thread owner_;

 public:
  const crema::ChunkHandle handle;
};

void Helper(benchmark::State& state) {
  const ChunkOfAnotherThread chunk;
  MeasureBatch(state, kSystemCallBatch, 1, [&chunk] {
    const crema::TrackHelper helper(chunk.handle);
    benchmark::ClobberMemory();
  });
}

/// A task, back to back with the one before; with `marks`, marked as ready.
void Task(benchmark::State& state, bool marks) {
  const crema::TrackEvent event("benchmark", crema::kSummed);
  MeasureBatch(state, kSystemCallBatch, 1, [&] {
    const crema::Ready ready = marks ? crema::MarkReady(event.handle(), "tracks") : crema::Ready();
    const crema::TrackTask task(event.handle(), "tracks", ready);
    benchmark::ClobberMemory();
  });
}
void PlainTask(benchmark::State& state) { Task(state, false); }
void ReadyTask(benchmark::State& state) { Task(state, true); }

/// An event without lines.
void Event(benchmark::State& state) {
  MeasureBatch(state, kSystemCallBatch, 1, [] { const crema::TrackEvent event("benchmark", crema::kSummed); });
}

/// What a task must read: the wall clock at both ends, the CPU time at one.
void TaskReadings(benchmark::State& state) {
  volatile std::int64_t stored = 0;
  MeasureBatch(state, kSystemCallBatch, 1, [&stored] {
    const std::int64_t start = ReadClock(CLOCK_MONOTONIC);
    benchmark::DoNotOptimize(ReadClock(CLOCK_THREAD_CPUTIME_ID));
    stored = ReadClock(CLOCK_MONOTONIC) - start;
  });
}

void TwoClocks(benchmark::State& state) {
  volatile std::uint64_t stored = 0;
  MeasureBatch(state, kCheapBatch, 1, [&stored] { ReadClockTwice(&stored); });
}

void TwoMonotonicClocks(benchmark::State& state) {
  volatile std::int64_t stored = 0;
  MeasureBatch(state, kCheapBatch, 1, [&stored] {
    const std::int64_t start = ReadClock(CLOCK_MONOTONIC);
    stored = ReadClock(CLOCK_MONOTONIC) - start;
  });
}

void TwoThreadCpuClocks(benchmark::State& state) {
  volatile std::int64_t stored = 0;
  MeasureBatch(state, kSystemCallBatch, 1, [&stored] {
    const std::int64_t start = ReadClock(CLOCK_THREAD_CPUTIME_ID);
    stored = ReadClock(CLOCK_THREAD_CPUTIME_ID) - start;
  });
}

void TwoStatms(benchmark::State& state) {
  KeptFile statm("/proc/self/statm");
  MeasureBatch(state, kSystemCallBatch, 1, [&statm] {
    benchmark::DoNotOptimize(statm.Read(127));
    benchmark::DoNotOptimize(statm.Read(127));
  });
}

/// What a helper must ask the kernel: CPU time and run delay, at both ends.
void HelperReadings(benchmark::State& state) {
  KeptFile schedstat("/proc/thread-self/schedstat");
  MeasureBatch(state, kSystemCallBatch, 1, [&schedstat] {
    for (int i = 0; i < 2; ++i) {
      benchmark::DoNotOptimize(schedstat.Read(95));
      benchmark::DoNotOptimize(ReadClock(CLOCK_THREAD_CPUTIME_ID));
    }
  });
}

/// Compare name and unit with those expected, then count, sum, min and max.
void BareMetric(benchmark::State& state) {
  struct Row {
    std::string name = "jets";
    std::string unit = "count";
    std::uint64_t count = 0;
    double sum = 0, min = 0, max = 0;
  } row;
  double value = 0;
  MeasureBatch(state, kCheapBatch, 1, [&row, &value] {
    std::string_view name = "jets";
    std::string_view unit = "count";
    benchmark::DoNotOptimize(name);
    benchmark::DoNotOptimize(unit);
    value += 1;
    if (row.name != name || row.unit != unit) return;
    ++row.count;
    row.sum += value;
    row.min = std::min(row.min, value);
    row.max = std::max(row.max, value);
    benchmark::ClobberMemory();
  });
}

void Register(const char* name, void (*function)(benchmark::State&), int threads = 1) {
  benchmark::RegisterBenchmark(name, function)->Iterations(1)->UseManualTime()->Threads(threads);
}

}  // namespace

void RegisterGuards(const crema::Options& recording) {
  Register("section", Section);
  Register("section", Section, 2);
  benchmark::RegisterBenchmark("section_off", SectionOff, recording)->Iterations(1)->UseManualTime();
  Register("siblings", Siblings);
  Register("nested", Nested);
  Register("names_in_turn", NamesInTurn);
  Register("names_at_random", NamesAtRandom);
  Register("section_cpu", SectionWithCpuTime);
  Register("section_cpu", SectionWithCpuTime, 2);
  Register("memory", Memory);
  Register("memory", Memory, 2);
  Register("activity", Activity);
  Register("metric", Metric);
  Register("metric_of_counts", MetricOfCounts);
  Register("cut", Cut);
  Register("helper", Helper);
  Register("task", PlainTask);
  Register("task", PlainTask, 2);
  Register("ready_task", ReadyTask);
  Register("event", Event);
}

void RegisterGuardLimits() {
  Register("two_clocks", TwoClocks);
  Register("two_clocks", TwoClocks, 2);
  Register("two_monotonic_clocks", TwoMonotonicClocks);
  Register("two_thread_cpu_clocks", TwoThreadCpuClocks);
  Register("two_thread_cpu_clocks", TwoThreadCpuClocks, 2);
  Register("two_statms", TwoStatms);
  Register("two_statms", TwoStatms, 2);
  Register("helper_readings", HelperReadings);
  Register("task_readings", TaskReadings);
  Register("task_readings", TaskReadings, 2);
  Register("bare_metric", BareMetric);
}

}  // namespace crema_benchmarks
