// Memory sections: RSS deltas by path.
#include <gtest/gtest.h>

#include <cstddef>

#include "crema/crema.h"
#include "sdk/tests/fresh_pages.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

TEST(TrackMemory, StandsBelowTheSectionThatIsOpen) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    { TrackMemory memory("top"); }
    TrackSection select("select");
    for (int i = 0; i < 3; ++i) TrackMemory memory("je/ts");
  });
  ASSERT_EQ(chunk.memory_sections.size(), 2u);
  EXPECT_EQ(Memory(chunk, "top").count, 1);
  EXPECT_EQ(Memory(chunk, "select/je%2Fts").count, 3);
}

TEST(TrackMemory, RowsAreConsistent) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 4; ++i) {
      FreshPages pages(static_cast<std::size_t>(i + 1) * 256);
      TrackMemory memory("jets");
      pages.Touch();
    }
  });
  const MemoryRow jets = Memory(chunk, "jets");
  EXPECT_EQ(jets.count, 4);
  EXPECT_LE(jets.min_bytes, jets.max_bytes);
  EXPECT_EQ(jets.rss_stop_bytes - jets.rss_start_bytes, jets.max_bytes);
  EXPECT_GE(jets.delta_bytes, jets.max_bytes + 3 * jets.min_bytes);
  EXPECT_LE(jets.delta_bytes, jets.min_bytes + 3 * jets.max_bytes);
  EXPECT_GE(jets.peak_bytes, jets.rss_stop_bytes);
  EXPECT_GE(chunk.rss_peak_bytes, jets.peak_bytes);
}

TEST(TrackMemory, KnowsMemoryThatIsGivenBack) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    FreshPages pages(4096);
    pages.Touch();
    TrackMemory memory("release");
    pages.GiveBack();
  });
  const MemoryRow release = Memory(chunk, "release");
  EXPECT_LT(release.delta_bytes, -(4000 << 12));
  EXPECT_EQ(release.max_bytes, release.delta_bytes);
  EXPECT_EQ(release.peak_bytes, release.rss_start_bytes);
}

TEST(TrackMemory, NestsAndOverlaps) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    FreshPages pages(4096);
    TrackMemory outer("outer");
    TrackMemory inner("inner");
    pages.Touch();
  });
  EXPECT_GT(Memory(chunk, "outer").delta_bytes, 4000 << 12);
  EXPECT_GT(Memory(chunk, "inner").delta_bytes, 4000 << 12);
}

TEST(TrackMemory, OutsideAChunkIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    { TrackMemory memory("set up"); }
    TrackMetrics metrics("ttbar");
  });
  EXPECT_TRUE(log.chunks.at(0).memory_sections.empty());
  EXPECT_EQ(log.end->dropped, 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
