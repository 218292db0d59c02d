// A simulated cluster of 1,000 workers, in fast motion: ten minutes, and a day with `tools/test --long`.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/server/live_figures.h"
#include "collector/server/live_model_fixture.h"
#include "nlohmann/json.hpp"

namespace crema {
namespace {

constexpr int kWorkers = 1000;
constexpr int kHour = 3600;
constexpr int kFullHours = 15;  // after so many, the model has all the chunks that it tells apart

/// What malloc(3) has given out.
int64_t MemoryInUse() {
  const struct mallinfo2 memory = mallinfo2();
  return static_cast<int64_t>(memory.uordblks + memory.hblkhd);
}

struct SimulatedWorker {
  LiveModel::WorkerId id = 0;
  int64_t number = 0;  ///< of its open chunk, as the worker counts
  int start = 0;
  int stop = 0;
};

/// What the model has to say in the end.
struct Truth {
  int64_t ok = 0;
  int64_t failed = 0;
  int64_t busy_seconds = 0;
};

class LongRun : public LiveModelTest {
 protected:
  /// Chunks of 20 to 40 seconds. A worker counts its own; all inputs differ.
  void BeginChunk(SimulatedWorker& worker) {
    worker.start = now_;
    worker.stop = now_ + 20 + static_cast<int>((worker.number * 7919 + worker.id) % 21);
    Begin(worker.id, worker.number, now_, InputOf(worker.number * kWorkers + worker.id));
  }
  void EndChunk(SimulatedWorker& worker) {
    const int64_t input = worker.number * kWorkers + worker.id;
    Record record = ChunkRecord(worker.number++, worker.start, worker.stop);
    record.chunk.input = InputOf(input);
    record.chunk.failed = (worker.number + worker.id) % 1000 == 999;
    Add(worker.id, record);
    ++(record.chunk.failed ? truth_.failed : truth_.ok);
    truth_.busy_seconds += worker.stop - worker.start;
  }
  void SampleMemory(const SimulatedWorker& worker) {
    Record sample;
    sample.type = RecordType::kSample;
    sample.sample.time_ns = At(now_);
    sample.sample.rss_bytes = 200'000'000 + worker.number % 50'000'000;
    Add(worker.id, sample);
  }
  void PassSecond() {
    for (int i = 0; i < kWorkers; ++i) {
      SimulatedWorker& worker = workers_[static_cast<size_t>(i)];
      if (worker.stop == now_) {
        EndChunk(worker);
        BeginChunk(worker);
      }
      if ((now_ + i) % 10 == 0) SampleMemory(worker);
    }
    PassTo(now_ + 1);
  }

  std::vector<SimulatedWorker> workers_;
  Truth truth_;
};

TEST_F(LongRun, OfAThousandWorkersIsExactAndTakesNoMoreMemory) {
  const bool is_long = getenv("CREMA_TEST_LONG") != nullptr;
  const int seconds = is_long ? 24 * kHour : 600;
  for (int i = 0; i < kWorkers; ++i) {
    workers_.push_back({Worker(i + 1)});
    BeginChunk(workers_.back());
  }
  int64_t full_bytes = 0;
  while (now_ < seconds) {
    PassSecond();
    if (now_ % kHour == 0) {
      std::printf("%2d h: %lld chunks, %lld bytes in use\n", now_ / kHour, static_cast<long long>(truth_.ok),
                  static_cast<long long>(MemoryInUse()));
    }
    if (now_ == kFullHours * kHour) full_bytes = MemoryInUse();
  }
  const int64_t grown = MemoryInUse() - full_bytes;
  const LiveTotals& totals = model_.totals();
  EXPECT_EQ(totals.counts.num_attempts, truth_.ok + truth_.failed);
  EXPECT_EQ(totals.counts.num_chunks, truth_.ok);
  EXPECT_EQ(totals.counts.num_failed_attempts, truth_.failed);
  EXPECT_EQ(totals.events.sum, 100 * truth_.ok);
  EXPECT_EQ(totals.busy_ns.sum, truth_.busy_seconds * kSecondNs);
  EXPECT_EQ(
      totals.counts.num_lost_attempts + totals.recovered + totals.counts.num_recomputed_chunks + model_.unrecorded(),
      0);
  EXPECT_EQ(totals.chunks_exact, !is_long) << "there are more of them than it tells apart";
  EXPECT_EQ(model_.open_chunks(), kWorkers);
  EXPECT_EQ(model_.live_cores(), kWorkers);
  EXPECT_DOUBLE_EQ(model_.core_seconds(), static_cast<double>(seconds) * kWorkers);
  const auto document = LiveDocument(model_, ComputeLiveFigures(model_));
  EXPECT_EQ(document["workers"].size(), static_cast<size_t>(kWorkers));
  if (is_long) {
    EXPECT_LT(grown, 1 << 20) << "since hour " << kFullHours;
  }
}

}  // namespace
}  // namespace crema
