// Activities: time and other amounts by label, no moment counted twice.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

double Seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

TEST(TrackActivity, LeavesOutWhatActivitiesInsideTook) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackActivity read("read");
    SpinWall(1000000);
    for (int i = 0; i < 2; ++i) {
      TrackActivity decompress("decompress");
      SpinWall(2000000);
    }
  });
  const double read_s = Activity(chunk, "read").value;
  const double decompress_s = Activity(chunk, "decompress").value;
  EXPECT_GE(read_s, 0.001);
  EXPECT_GE(decompress_s, 0.004);
  EXPECT_LE(read_s + decompress_s, Seconds(chunk.duration_ns() + CounterToleranceNs(chunk.duration_ns())));
}

TEST(RecordActivity, OfSecondsInsideAnActivityIsTakenOutOfIt) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackActivity read("read");
    SpinWall(1000000);
    RecordActivity("elsewhere", 3600);  // more than the clock's: nothing of its own is left
    RecordActivity("baskets", 7, "count");
    RecordActivity("baskets", 3, "count");
  });
  EXPECT_EQ(Activity(chunk, "read").value, 0);
  EXPECT_EQ(Activity(chunk, "elsewhere").value, 3600);
  EXPECT_EQ(Activity(chunk, "baskets", "count").value, 10);
}

TEST(RecordActivity, OutsideAChunkOrNotFiniteIsCountedAsDropped) {
  const RecordLog log = Recorded([] {
    RecordActivity("early", 1);
    { TrackActivity early("early"); }
    TrackMetrics metrics("ttbar");
    RecordActivity("bad", std::numeric_limits<double>::quiet_NaN());
  });
  EXPECT_TRUE(log.chunks.at(0).activities.empty());
  EXPECT_EQ(log.end->dropped, 3);
}

TEST(TrackActivity, OfAHelperIsTheChunks) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      TrackHelper helper(handle);
      TrackActivity cluster("cluster");
      SpinWall(1000000);
    }).join();
  });
  EXPECT_GE(Activity(chunk, "cluster").value, 0.001);
}

TEST(TrackActivity, WhoseGuardIsGoneIsNotFollowed) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {
    {
      TrackMetrics metrics("out of order");
      auto outer = std::make_unique<TrackActivity>("outer");
      auto inner = std::make_unique<TrackActivity>("inner");
      outer.reset();
      inner.reset();
      TrackActivity after("after");
    }
    {
      TrackMetrics metrics("in another's place");
      auto outer = std::make_unique<TrackActivity>("outer");
      auto inner = std::make_unique<TrackActivity>("inner");
      outer.reset();
      TrackActivity first("first");
      TrackActivity second("second");
      inner.reset();  // lay as deep as the second lies now, which it must not end
      SpinWall(1000000);
    }
    TrackMetrics metrics("elsewhere");
    auto wanders = std::make_unique<TrackActivity>("wanders");
    std::thread([&] {
      TrackSection section("records");
      wanders.reset();
    }).join();
    RecordActivity("more", 1);
    TrackActivity after("after");
  });
  EXPECT_EQ(child.exit_status, 0) << child.errors;
  EXPECT_EQ(child.errors.substr(0, 7), "crema: ");
  const RecordLog log = ReadRecordLogs(directory).at(0);
  EXPECT_GE(Activity(ChunkOf(log, "out of order"), "outer").value, 0);
  EXPECT_GE(Activity(ChunkOf(log, "out of order"), "after").value, 0);
  EXPECT_GE(Activity(ChunkOf(log, "in another's place"), "second").value, 0.001);
  EXPECT_EQ(Activity(ChunkOf(log, "elsewhere"), "more").value, 1);
  EXPECT_EQ(log.end->dropped, 5);
}

}  // namespace
}  // namespace testing
}  // namespace crema
