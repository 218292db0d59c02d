// Sections outside chunks are the process's: they come with each sample and at the end.
#include <gtest/gtest.h>

#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

TEST(SectionsOutsideChunks, AreKeptPerProcess) {
  const RecordLog log = Recorded([] {
    {
      TrackSection setup("set up");
      TrackSection open("open");
    }
    for (int i = 0; i < 2; ++i) {
      TrackMetrics metrics("ttbar");
      TrackSection read("read");
    }
    TrackSection merge("merge");
  });
  EXPECT_EQ(Paths(log.end->sections), (std::vector<std::string>{"set up", "set up/open", "merge"}));
  for (const ChunkLine& chunk : log.chunks) EXPECT_EQ(Paths(chunk.sections), std::vector<std::string>{"read"});
}

TEST(SectionsOutsideChunks, GoOnAroundAChunk) {
  const RecordLog log = Recorded([] {
    TrackSection loop("loop");
    for (int i = 0; i < 3; ++i) {
      TrackMetrics metrics("ttbar");
      TrackSection read("read");
    }
    TrackSection merge("merge");
  });
  EXPECT_EQ(Paths(log.end->sections), (std::vector<std::string>{"loop", "loop/merge"}));
  EXPECT_EQ(Section(log.end->sections, "loop").count, 1);
  std::int64_t chunks_ns = 0;
  for (const ChunkLine& chunk : log.chunks) chunks_ns += chunk.duration_ns();
  EXPECT_GE(Section(log.end->sections, "loop").total_ns, chunks_ns);
}

TEST(SectionsOutsideChunks, OfAllThreadsAddUp) {
  const RecordLog log = Recorded([] {
    for (int round = 0; round < 3; ++round) {
      std::thread first([] { TrackSection section("set up"); });
      std::thread second([] { TrackSection section("set up"); });
      first.join();
      second.join();
    }
    TrackSection section("set up");
    TrackSection inner("inner");
    SpinWall(1000000);
  });
  const SectionRow setup = Section(log.end->sections, "set up");
  const SectionRow inner = Section(log.end->sections, "set up/inner");
  EXPECT_EQ(setup.count, 7);
  EXPECT_LE(setup.self_ns, setup.total_ns - inner.total_ns + 1);  // sums are rounded down each
  EXPECT_GE(setup.self_ns, setup.total_ns - inner.total_ns - 1);
  EXPECT_LE(setup.min_ns, setup.max_ns);
}

TEST(SectionsOutsideChunks, CountUpToNowWhereTheyAreOpen) {
  const SharedValue<std::int64_t> open_ns;
  const RecordLog log = Recorded([&] {
    const std::int64_t before = WallNs();
    TrackSection setup("set up");
    SpinWall(2000000);
    Flush();
    *open_ns = WallNs() - before;
  });
  ASSERT_EQ(log.samples.size(), 1u);
  const SectionRow sampled = Section(log.samples[0].sections, "set up");
  EXPECT_EQ(sampled.count, 0);
  EXPECT_GE(sampled.total_ns, 2000000 - CounterToleranceNs(2000000));
  EXPECT_LE(sampled.total_ns, *open_ns + CounterToleranceNs(*open_ns));
  EXPECT_FALSE(sampled.min_ns.has_value());
  EXPECT_EQ(Section(log.end->sections, "set up").count, 1);
}

TEST(SectionsOutsideChunks, StillOpenAtExitCountUpToIt) {
  const RecordLog log = Recorded([] {
    TrackSection setup("set up");
    SpinWall(1000000);
    std::exit(0);
  });
  EXPECT_GE(Section(log.end->sections, "set up").total_ns, 1000000 - CounterToleranceNs(1000000));
}

}  // namespace
}  // namespace testing
}  // namespace crema
