// Guards that users derive.
#include <gtest/gtest.h>

#include <stdexcept>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

/// What the hooks of a context saw.
struct Seen {
  bool recording;
  bool failed_at_start;
  bool failed_at_end;
  std::int64_t elapsed_at_start_ns;
  std::int64_t elapsed_at_end_ns;
};

class Watches : public BaseInstrumentationContext {
 public:
  Watches(std::string_view name, Seen* seen) : BaseInstrumentationContext(name), seen_(seen) {
    seen_->recording = recording();
    seen_->failed_at_start = failed();
    seen_->elapsed_at_start_ns = elapsed().count();
    RecordMetric("begun", 1, "count");
  }
  ~Watches() {
    seen_->failed_at_end = failed();
    seen_->elapsed_at_end_ns = elapsed().count();
    RecordMetric("ended", seen_->failed_at_end ? 1 : 0);
  }

 private:
  Seen* seen_;
};

TEST(BaseInstrumentationContext, HooksRecordMetricsAndKnowTheElapsedTime) {
  const SharedValue<Seen> seen;
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    TrackSection select("select");
    Watches watches("watched", &*seen);
    TrackSection inner("inner");
    SpinWall(1000000);
  });
  EXPECT_TRUE(seen->recording);
  EXPECT_FALSE(seen->failed_at_start);
  EXPECT_FALSE(seen->failed_at_end);
  EXPECT_GE(seen->elapsed_at_start_ns, 0);
  EXPECT_GE(seen->elapsed_at_end_ns, seen->elapsed_at_start_ns + 1000000);
  EXPECT_EQ(Metric(chunk, "begun", "count").sum, 1);
  EXPECT_EQ(Metric(chunk, "ended").sum, 0);
  const SectionRow watched = Section(chunk.sections, "select/watched");
  EXPECT_EQ(watched.count, 1);
  EXPECT_GE(watched.total_ns, seen->elapsed_at_end_ns - CounterToleranceNs(seen->elapsed_at_end_ns));
  EXPECT_EQ(Section(chunk.sections, "select/watched/inner").count, 1);
}

TEST(BaseInstrumentationContext, FailedIsTrueWhileAnExceptionLeavesTheScope) {
  const SharedValue<Seen> seen;
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    try {
      Watches watches("watched", &*seen);
      throw std::runtime_error("bad event");
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_FALSE(seen->failed_at_start);
  EXPECT_TRUE(seen->failed_at_end);
  EXPECT_EQ(Section(chunk.sections, "watched").failed, 1);
  EXPECT_EQ(Metric(chunk, "ended").sum, 1);
}

TEST(BaseInstrumentationContext, MadeWhileTheStackUnwindsDidNotFail) {
  struct Cleanup {
    Seen* seen;
    ~Cleanup() { Watches watches("watched", seen); }
  };
  const SharedValue<Seen> seen;
  RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    try {
      Cleanup cleanup{&*seen};
      throw std::runtime_error("bad event");
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_FALSE(seen->failed_at_end);
}

TEST(BaseInstrumentationContext, KnowsThatRecordingIsOff) {
  const SharedValue<Seen> seen;
  const ChildResult child = RunInChild({}, [&] {
    Watches watches("watched", &*seen);
    SpinWall(100000);
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_FALSE(seen->recording);
  EXPECT_EQ(seen->elapsed_at_end_ns, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
