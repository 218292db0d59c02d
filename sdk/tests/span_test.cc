// Phases of the program.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

TEST(Span, IsWrittenWithItsPathWhenItEnds) {
  const RecordLog log = Recorded([] {
    Span process("process");
    { Span signal("sig/nal"); }
    Span background("background");
    SpinWall(100000);
  });
  ASSERT_EQ(log.spans.size(), 3u);
  EXPECT_EQ(log.spans[0].name, "sig/nal");
  EXPECT_EQ(log.spans[0].path, "process/sig%2Fnal");
  EXPECT_EQ(log.spans[1].path, "process/background");
  EXPECT_GE(log.spans[1].stop_ns - log.spans[1].start_ns, 100000);
  EXPECT_EQ(log.spans[2].path, "process");
  EXPECT_LE(log.spans[2].start_ns, log.spans[0].start_ns);
  EXPECT_GE(log.spans[2].stop_ns, log.spans[1].stop_ns);
}

TEST(Span, OutsideChunksIsTheWholeProcesss) {
  const RecordLog log = Recorded([] {
    { TrackMetrics metrics("before"); }
    Span process("process");
    std::thread([] { TrackMetrics metrics("other thread"); }).join();
    {
      Span signal("signal");
      TrackMetrics metrics("nested");
    }
    TrackMetrics metrics("after");
  });
  EXPECT_EQ(ChunkOf(log, "before").span, std::nullopt);
  EXPECT_EQ(ChunkOf(log, "other thread").span, "process");
  EXPECT_EQ(ChunkOf(log, "nested").span, "process/signal");
  EXPECT_EQ(ChunkOf(log, "after").span, "process");
}

TEST(Span, InsideAChunkIsItsThreadsOwn) {
  const RecordLog log = Recorded([] {
    Span process("process");
    TrackMetrics outer({"outer", "f", 0, 1});
    Span mine("mine");
    { TrackMetrics inner({"inner", "f", 1, 2}); }
    std::thread([] { TrackMetrics other({"other", "f", 2, 3}); }).join();
  });
  EXPECT_EQ(ChunkOf(log, "outer").span, "process");
  EXPECT_EQ(ChunkOf(log, "inner").span, "process/mine");
  EXPECT_EQ(ChunkOf(log, "other").span, "process");
}

TEST(Span, EndedOutOfOrderLeavesTheOthers) {
  const RecordLog log = Recorded([] {
    auto first = std::make_unique<Span>("first");
    auto second = std::make_unique<Span>("second");
    first.reset();
    { TrackMetrics metrics("inside second"); }
    second.reset();
    TrackMetrics metrics("after");
  });
  EXPECT_EQ(ChunkOf(log, "inside second").span, "first/second");
  EXPECT_EQ(ChunkOf(log, "after").span, std::nullopt);
  EXPECT_EQ(log.spans.size(), 2u);
}

TEST(Span, InsideAChunkEndedOutOfOrderLeavesTheOthers) {
  const RecordLog log = Recorded([] {
    TrackMetrics outer({"outer", "f", 0, 1});
    auto first = std::make_unique<Span>("first");
    auto second = std::make_unique<Span>("second");
    first.reset();
    { TrackMetrics inner({"inside second", "f", 1, 2}); }
    second.reset();
    TrackMetrics inner({"after", "f", 2, 3});
  });
  EXPECT_EQ(ChunkOf(log, "inside second").span, "first/second");
  EXPECT_EQ(ChunkOf(log, "after").span, std::nullopt);
}

TEST(Span, OpenAtExitIsNotWritten) {
  const RecordLog log = Recorded([] {
    Span process("process");
    { TrackMetrics metrics("ttbar"); }
    std::exit(0);
  });
  EXPECT_TRUE(log.spans.empty());
  EXPECT_EQ(log.chunks.size(), 1u);
}

}  // namespace
}  // namespace testing
}  // namespace crema
