// Native stacks stand for the CPU time of chunks, whatever their length.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/src/stacks/native_stacks.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/seen_stacks.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMicrosecond = 1000;

TEST(SampleSchedule, HasOneSampleForEachPeriodAtAnyMomentOfIt) {
  constexpr std::int64_t kPeriod = 1'000'000;
  constexpr int kPeriods = 20000;
  constexpr int kParts = 10;
  internal::SampleSchedule schedule;
  schedule.Start(kPeriod, 7);
  schedule.Resume(5);
  int by_part[kParts] = {};
  std::uint64_t samples = 0;
  for (std::int64_t now = 0; now < kPeriods * kPeriod; now += kPeriod / kParts) {
    const std::uint64_t due = schedule.Take(5 + now + kPeriod / kParts - 1);
    by_part[now / (kPeriod / kParts) % kParts] += static_cast<int>(due);
    samples += due;
  }
  EXPECT_EQ(samples, static_cast<std::uint64_t>(kPeriods));
  constexpr double kExpected = static_cast<double>(kPeriods) / kParts;
  for (const int count : by_part) EXPECT_NEAR(count, kExpected, 5 * std::sqrt(kExpected));
}

TEST(SampleSchedule, CountsNoTimeBetweenChunks) {
  internal::SampleSchedule schedule;
  schedule.Start(1000, 7);
  std::uint64_t samples = 0;
  for (std::int64_t i = 0; i < 10000; ++i) {  // 300 of 1,000 are in chunks
    schedule.Resume(i * 1000);
    samples += schedule.Take(i * 1000 + 300);
    schedule.Pause(i * 1000 + 300);
  }
  EXPECT_NEAR(static_cast<double>(samples), 3000, 1);
}

TEST(SampleSchedule, IsExactHoweverLateItIsAsked) {
  internal::SampleSchedule schedule;
  schedule.Start(1000, 7);
  schedule.Resume(0);
  EXPECT_NEAR(static_cast<double>(schedule.Take(3'600'000'000'000)), 3.6e9, 1);
  EXPECT_LE(schedule.UntilDue(3'600'000'000'000), 2000);
}

/// A thread that is sampled in ticks of 4 ms. Its chunks have two parts; one takes 60 % of the CPU time.
struct Ticked {
  internal::ChunkPositions positions;
  double ticks = 0;
  double in_part = 0;

  Ticked(std::int64_t chunk_ns, std::int64_t most_between_ns, int chunks, std::uint32_t seed) {
    constexpr std::int64_t kTick = 4'000'000;
    std::mt19937 random(seed);
    std::int64_t now = 0;
    std::int64_t tick = static_cast<std::int64_t>(random()) % kTick;
    for (int i = 0; i < chunks; ++i) {
      positions.Begin(now);
      for (; tick < now + chunk_ns; tick += kTick) {
        if (tick < now) continue;
        positions.Note(tick, tick, 1, true);
        ticks += 1;
        in_part += tick - now < chunk_ns * 6 / 10 ? 1 : 0;
      }
      now += chunk_ns;
      positions.End(now);
      if (most_between_ns > 0) now += static_cast<std::int64_t>(random()) % most_between_ns;
    }
  }
  bool IsCovered(double inflation) const {
    return std::abs(in_part / ticks - 0.6) <= 1.96 * std::sqrt(0.6 * 0.4 * inflation / ticks);
  }
};

TEST(ChunkPositions, CoverTheTruthWhereChunksKeepStepWithTheTicks) {
  constexpr int kRuns = 200;
  constexpr std::int64_t kLengths[] = {999'500, 1'999'500, 3'999'000, 3'999'500, 7'999'500};
  for (const std::int64_t chunk_ns : kLengths) {
    int covered = 0;
    int covered_without = 0;
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      const Ticked ticked(chunk_ns, 1000, static_cast<int>(8'000'000'000 / chunk_ns), run);
      covered += ticked.IsCovered(ticked.positions.Inflation()) ? 1 : 0;
      covered_without += ticked.IsCovered(1) ? 1 : 0;
    }
    EXPECT_GE(covered, kRuns * 95 / 100) << chunk_ns;
    EXPECT_LT(covered_without, kRuns * 90 / 100) << chunk_ns;
  }
}

TEST(ChunkPositions, LeaveTheErrorAsItIsWhereChunksDoNot) {
  constexpr int kRuns = 200;
  for (const std::int64_t chunk_ns : {700'000, 1'370'000, 3'500'000, 11'000'000, 1'000'000'000}) {
    int inflated = 0;
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      const Ticked ticked(chunk_ns, chunk_ns / 50, static_cast<int>(8'000'000'000 / chunk_ns), run);
      inflated += ticked.positions.Inflation() > 1 ? 1 : 0;
    }
    EXPECT_LE(inflated, kRuns * 8 / 100) << chunk_ns;
  }
}

TEST(ChunkPositions, OfAThreadThatIsSeenOncePerPlaceSayNothing) {
  internal::ChunkPositions positions;
  EXPECT_EQ(positions.Inflation(), 1);
  positions.Begin(0);
  positions.Note(500'000, 600'000, 1, true);
  positions.End(1'000'000);
  EXPECT_EQ(positions.Inflation(), 1);
  positions.Begin(1'000'000);
  positions.Note(5'000'000, 5'000'000, 1, true);  // a clock that went back
  positions.End(0);
  EXPECT_EQ(positions.Inflation(), 1);
}

/// Chunks of two datasets in turns, `long_us` and `short_us` long, with as much CPU time in both.
void AlternateChunks(std::int64_t short_us, std::int64_t long_us) {
  std::int64_t number = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t done_us = 0; done_us < 300'000; done_us += short_us) {
      TrackMetrics metrics({"short", "f", number, number + 1});
      ++number;
      SpinCpu(short_us * kMicrosecond);
    }
    for (std::int64_t done_us = 0; done_us < 300'000; done_us += long_us) {
      TrackMetrics metrics({"long", "f", number, number + 1});
      ++number;
      SpinCpu(long_us * kMicrosecond);
    }
  }
}

TEST(SampledCpuTime, IsThatOfEachDatasetWhateverTheLengthOfItsChunks) {
  const RecordLog log = Recorded([] { AlternateChunks(200, 150'000); }, {{"CREMA_STACKS", "1000"}});
  std::map<std::string, double> samples;
  std::map<std::string, double> cpu_ms;
  for (const SeenStack& stack : StacksOf(log).stacks) samples[stack.dataset] += static_cast<double>(stack.samples);
  for (const ChunkLine& chunk : log.chunks) cpu_ms[*chunk.dataset] += static_cast<double>(*chunk.cpu_ns) * 1e-6;
  // Samples that are due when chunks of the other dataset begin count there, five times; at the end they are lost. They
  // are those since the last tick that struck the thread, which are some more on a busy machine.
  for (const char* dataset : {"short", "long"}) {
    EXPECT_NEAR(samples[dataset], cpu_ms[dataset], 0.15 * cpu_ms[dataset]) << dataset;
  }
  const double all_ms = cpu_ms["short"] + cpu_ms["long"];
  EXPECT_NEAR(samples["short"] + samples["long"], all_ms, 0.06 * all_ms);
}

TEST(SampledCpuTime, OfChunksThatHopBetweenThreadsIsWhole) {
  const RecordLog log = Recorded(
      [] {
        for (int i = 0; i < 40; ++i) {
          TrackMetrics chunk({"hopping", "f", i, i + 1});
          SpinCpu(2000 * kMicrosecond);
          chunk.Suspend();
          SpinCpu(3000 * kMicrosecond);  // nobody's
          std::thread([&] {
            chunk.Resume();
            SpinCpu(5000 * kMicrosecond);
            chunk.Suspend();
          }).join();
          chunk.Resume();
          SpinCpu(1000 * kMicrosecond);
        }
      },
      {{"CREMA_STACKS", "1000"}});
  double cpu_ms = 0;
  for (const ChunkLine& chunk : log.chunks) cpu_ms += static_cast<double>(*chunk.cpu_ns) * 1e-6;
  // Samples that no tick has brought when a thread ends go to the next thread; at the end they are lost.
  EXPECT_NEAR(StacksOf(log).Samples(), cpu_ms, 0.15 * cpu_ms);
}

}  // namespace
}  // namespace testing
}  // namespace crema
