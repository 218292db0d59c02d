// Chunks that leave their thread for a while, as coroutines and fibres do.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/misused_guards.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMillisecond = 1000000;

TEST(Suspension, AChunkGoesOnOnAnotherThreadWithItsSections) {
  const SharedValue<std::int64_t> suspended_ns;
  const SharedValue<std::int64_t> read_ns;
  const RecordLog log = Recorded([&] {
    TrackMetrics chunk({"ttbar", "f", 0, 1});
    const std::int64_t read_start_ns = WallNs();
    auto read = std::make_unique<TrackSection>("read", kCpuTime);
    TrackMemory memory("jets");
    SpinCpu(3 * kMillisecond);
    chunk.Suspend();
    { TrackMetrics other({"other", "f", 0, 1}); }
    const std::int64_t start_ns = WallNs();
    SpinCpu(20 * kMillisecond);  // nobody's
    *suspended_ns = WallNs() - start_ns;
    std::thread([&] {
      chunk.Resume();
      SpinCpu(5 * kMillisecond);
      read.reset();
      *read_ns = WallNs() - read_start_ns;
      { TrackSection select("select"); }
      chunk.Suspend();
    }).join();
    chunk.Resume();
    chunk.SetEvents(7);
  });
  EXPECT_EQ(log.end->misused, 0);
  EXPECT_EQ(log.end->open, 0);
  const ChunkLine chunk = ChunkOf(log, "ttbar");
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(chunk.events, 7);
  EXPECT_EQ(Section(chunk.sections, "read").count, 1);
  EXPECT_GE(Section(chunk.sections, "read").total_ns, 8 * kMillisecond);
  EXPECT_LE(Section(chunk.sections, "read").total_ns, *read_ns + kMillisecond - *suspended_ns);
  EXPECT_EQ(Section(chunk.sections, "read").max_ns, Section(chunk.sections, "read").total_ns);
  EXPECT_EQ(Section(chunk.sections, "select").count, 1);
  EXPECT_EQ(Memory(chunk, "read/jets").count, 1);
  EXPECT_GE(*Section(chunk.sections, "read").cpu_ns, 8 * kMillisecond);
  EXPECT_LT(*chunk.cpu_ns, 8 * kMillisecond + 10 * kMillisecond);  // none of the 20 in between
  EXPECT_GE(*chunk.cpu_ns, *Section(chunk.sections, "read").cpu_ns);
  EXPECT_GE(*chunk.suspended_ns, *suspended_ns);
  EXPECT_LE(*chunk.suspended_ns + *chunk.cpu_ns, chunk.duration_ns());
  ExpectSelfTimesAddUp(chunk);
  EXPECT_EQ(ChunkOf(log, "other").status, "ok");
}

TEST(Suspension, ChunksTakeTurnsOnOneThread) {
  constexpr int kChunks = 20;
  const RecordLog log = Recorded([] {
    std::vector<std::unique_ptr<TrackMetrics>> chunks;
    for (int i = 0; i < kChunks; ++i) {
      chunks.push_back(std::make_unique<TrackMetrics>(Chunk{"ttbar", "f", i, i + 1}));
      chunks.back()->Suspend();
    }
    for (int turn = 0; turn < 3; ++turn) {
      for (int i = 0; i < kChunks; ++i) {
        chunks[i]->Resume();
        {
          TrackSection section("work");
          RecordMetric("turns", 1);
        }
        chunks[i]->Suspend();
      }
    }
    chunks.clear();  // also while it is suspended
  });
  ASSERT_EQ(log.chunks.size(), static_cast<std::size_t>(kChunks));
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_EQ(chunk.status, "ok");
    EXPECT_EQ(chunk.lanes_peak, 1);
    EXPECT_EQ(Section(chunk.sections, "work").count, 3);
    EXPECT_EQ(Metric(chunk, "turns").count, 3);
    ExpectSelfTimesAddUp(chunk);
  }
  ASSERT_EQ(log.begins.size(), static_cast<std::size_t>(kChunks));
  for (int i = 0; i < kChunks; ++i) EXPECT_EQ(log.begins[i].suspended.value_or(0), i);
  EXPECT_EQ(log.end->misused, 0);
  EXPECT_EQ(log.end->open, 0);
}

TEST(Suspension, TimeOfAChunkIsNotThatOfTheOneAroundItInWhichItWasResumed) {
  const RecordLog log = Recorded([] {
    TrackMetrics moves({"moves", "f", 0, 1});
    SpinCpu(4 * kMillisecond);
    moves.Suspend();
    TrackMetrics around({"around", "f", 1, 2});
    SpinCpu(2 * kMillisecond);
    moves.Resume();
    SpinCpu(6 * kMillisecond);
    moves.Suspend();
    SpinCpu(kMillisecond);
  });
  EXPECT_GE(*ChunkOf(log, "moves").cpu_ns, 10 * kMillisecond);
  EXPECT_GE(*ChunkOf(log, "around").cpu_ns, 3 * kMillisecond);
  EXPECT_LT(*ChunkOf(log, "around").cpu_ns, 8 * kMillisecond);
}

TEST(Suspension, TakesNoMoreMemoryWhereThreadsComeAndGo) {
  const SharedValue<std::int64_t> growth;
  const RecordLog log = Recorded([&] {
    const auto run = [](int chunks) {
      for (int i = 0; i < chunks; ++i) {
        TrackMetrics chunk({"ttbar", "f", i, i + 1});
        chunk.Suspend();
        std::thread([&] {
          chunk.Resume();
          { TrackSection section("work"); }
          chunk.Suspend();
        }).join();
      }
    };
    run(300);
    const std::int64_t before = ResidentBytes();
    run(3000);
    *growth = ResidentBytes() - before;
  });
  EXPECT_EQ(log.end->chunks, 3300);
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts";
  EXPECT_LT(*growth, 2 << 20);
}

}  // namespace
}  // namespace testing
}  // namespace crema
