#include "sdk/benchmarks/chunk_benchmarks.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "sdk/benchmarks/measured_batch.h"

namespace crema_benchmarks {
namespace {

constexpr int kBatch = 64;

/// Makes every repetition begin with the same file: its first thread empties the file before the others start.
bool Empty(const benchmark::State& state, const std::string& path) {
  return state.thread_index() != 0 || truncate(path.c_str(), 0) == 0;
}

void Chunk(benchmark::State& state, const std::string& log) {
  if (!Empty(state, log)) return state.SkipWithError("cannot empty the record log");
  std::int64_t number = 0;
  MeasureBatch(state, kBatch, 1, [&number] { RecordChunk(number++); });
}

void BareCalls(benchmark::State& state, const std::string& path, int log, LineSizes sizes) {
  if (!Empty(state, path)) return state.SkipWithError("cannot empty the file of the bare calls");
  RawChunk chunk(log, sizes);
  bool good = true;
  MeasureBatch(state, kBatch, 1, [&chunk, &good] { good = chunk.Run() && good; });
  if (!good) state.SkipWithError("a bare system call failed");
}

}  // namespace

void RegisterChunks(const std::string& log, const std::string& raw_log, LineSizes sizes) {
  const int raw_descriptor = OpenRawLog(raw_log);
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark("chunk", Chunk, log)->Iterations(1)->UseManualTime()->Threads(threads);
    benchmark::RegisterBenchmark("chunk_calls", BareCalls, raw_log, raw_descriptor, sizes)
        ->Iterations(1)
        ->UseManualTime()
        ->Threads(threads);
  }
}

}  // namespace crema_benchmarks
