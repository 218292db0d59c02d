// Exceptions through guards, and guards that are not used as they should be.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/misused_guards.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

/// The log of a program that misuses guards: with crema's one warning.
RecordLog LogWithAWarning(const std::function<void()>& program) {
  const FaultRun run = RunWithFault(NewDirectory(), program);
  EXPECT_NE(run.warning, "");
  EXPECT_EQ(run.logs.size(), 1u);
  if (run.logs.size() != 1) return {};
  EXPECT_TRUE(run.logs[0].malformed.empty());
  EXPECT_GT(run.logs[0].end->dropped, 0);
  return run.logs[0];
}

void ThrowThroughGuards() {
  TrackMetrics metrics({"fails", "f", 0, 1});
  TrackSection outer("outer", kCpuTime);
  TrackMemory memory("jets");
  TrackActivity activity("compute");
  Span span("phase");
  TrackSection inner("inner");
  throw std::runtime_error("the host's own error");
}

/// Fault [guards]: an exception through nested guards
/// Program: nothing; it catches its exception
/// Recorded: a failed chunk, its sections marked `failed`; all guards ended
TEST(GuardFault, AnExceptionThroughNestedGuards) {
  const RecordLog log = LogWithFault([] {
    for (int i = 0; i < 2; ++i) {
      try {
        ThrowThroughGuards();
      } catch (const std::runtime_error& error) {
        std::puts(error.what());
      }
    }
    RecordChunks(1, "after");
  });
  ASSERT_EQ(log.chunks.size(), 3u);
  for (int i = 0; i < 2; ++i) {
    const ChunkLine& chunk = log.chunks[static_cast<std::size_t>(i)];
    EXPECT_EQ(chunk.status, "failed");
    EXPECT_EQ(chunk.error, "exception");
    EXPECT_EQ(Section(chunk.sections, "outer").failed, 1);
    EXPECT_EQ(Section(chunk.sections, "outer/inner").failed, 1);
    ExpectSelfTimesAddUp(chunk);
  }
  EXPECT_EQ(log.chunks[2].status, "ok");
  EXPECT_EQ(log.end->failed, 2);
  EXPECT_EQ(log.end->open, 0);
  EXPECT_EQ(log.end->dropped, 0);
}

class ThrowsAtItsBegin : public BaseInstrumentationContext {
 public:
  explicit ThrowsAtItsBegin(std::string_view name) : BaseInstrumentationContext(name) {
    throw std::runtime_error("begin");
  }
};

class ThrowsAtItsEnd : public BaseInstrumentationContext {
 public:
  explicit ThrowsAtItsEnd(std::string_view name) : BaseInstrumentationContext(name) {}
  ~ThrowsAtItsEnd() noexcept(false) { throw std::runtime_error("end"); }
};

template <class Guard>
void CatchFrom(const char* name) {
  try {
    Guard guard(name);
    TrackSection inside("inside");
  } catch (const std::runtime_error& error) {
    std::puts(error.what());
  }
}

/// Fault [guards]: a user's own guard that throws, at its begin or at its end
/// Program: nothing; it catches its exception
/// Recorded: the section around the throwing hook, and everything after it
TEST(GuardFault, AUsersGuardThatThrows) {
  const RecordLog log = LogWithFault([] {
    TrackMetrics metrics("ttbar");
    CatchFrom<ThrowsAtItsBegin>("begins badly");
    CatchFrom<ThrowsAtItsEnd>("ends badly");
    TrackSection after("after");
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_EQ(Paths(chunk.sections),
            (std::vector<std::string>{"begins badly", "ends badly", "ends badly/inside", "after"}));
  EXPECT_EQ(Section(chunk.sections, "begins badly").failed, 1);
  ExpectSelfTimesAddUp(chunk);
}

/// Fault [guards]: a section ended on another thread
/// Program: one warning
/// Recorded: the section until the end of its chunk; counted in `end.dropped`
TEST(GuardFault, ASectionEndedOnAnotherThread) {
  const RecordLog log = LogWithAWarning([] {
    TrackMetrics metrics("ttbar");
    EndOnAnotherThread(std::make_unique<TrackSection>("wanders"));
    TrackSection after("after");
  });
  EXPECT_EQ(Section(log.chunks.at(0).sections, "wanders").count, 1);
  ExpectSelfTimesAddUp(log.chunks.at(0));
}

/// Fault [guards]: a chunk ended on another thread
/// Program: one warning
/// Recorded: the chunk, until its own thread goes on; counted in `end.misused`
TEST(GuardFault, AChunkEndedOnAnotherThread) {
  const RecordLog log = LogWithAWarning([] {
    EndOnAnotherThread(std::make_unique<TrackMetrics>("wanders"));
    RecordChunks(1, "next");
  });
  EXPECT_EQ(ChunkOf(log, "wanders").status, "ok");
  EXPECT_EQ(log.end->misused, 1);
  EXPECT_EQ(ChunkOf(log, "next").status, "ok");
}

/// Fault [guards]: two coroutines with chunks of their own take turns on one thread, without `Suspend` and `Resume`
/// Program: one warning
/// Recorded: all chunks, none as failed; their times overlap. Counted in `end.misused`
TEST(GuardFault, ChunksThatInterleaveOnOneThread) {
  constexpr int kChunks = 10;
  const RecordLog log = LogWithAWarning([] {
    std::unique_ptr<TrackMetrics> others = std::make_unique<TrackMetrics>(Chunk{"coroutine", "other", 0, 1});
    for (int i = 0; i < kChunks; ++i) {
      auto mine = std::make_unique<TrackMetrics>(Chunk{"coroutine", "mine", i, i + 1});
      others = std::make_unique<TrackMetrics>(Chunk{"coroutine", "other", i + 1, i + 2});
      TrackSection section("read");
      RecordMetric("turns", 1);
      mine.reset();
    }
  });
  ASSERT_EQ(log.chunks.size(), 2u * kChunks + 1);
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_EQ(chunk.status, "ok");
    ExpectSelfTimesAddUp(chunk);
  }
  EXPECT_GE(log.end->misused, kChunks);
  EXPECT_EQ(log.end->open, 0);
}

/// Fault [guards]: guards of every kind ended out of order, in every chunk
/// Program: one warning
/// Recorded: all chunks, with times that add up; each misuse is counted in `end.dropped`
TEST(GuardFault, GuardsEndedOutOfOrder) {
  const RecordLog log = LogWithAWarning([] {
    for (int i = 0; i < 5; ++i) {
      auto metrics = std::make_unique<TrackMetrics>(Chunk{"ttbar", "f", i, i + 1});
      auto outer = std::make_unique<TrackSection>("outer");
      auto memory = std::make_unique<TrackMemory>("jets");
      auto inner = std::make_unique<TrackSection>("inner");
      auto activity = std::make_unique<TrackActivity>("compute");
      outer.reset();
      metrics.reset();
      inner.reset();
      memory.reset();
      activity.reset();
    }
  });
  ASSERT_EQ(log.chunks.size(), 5u);
  for (const ChunkLine& chunk : log.chunks) ExpectSelfTimesAddUp(chunk);
  EXPECT_GE(log.end->dropped, 5);
  EXPECT_EQ(log.end->open, 0);
}

/// Fault [guards]: handles, and helper scopes, that outlive their chunk
/// Program: nothing
/// Recorded: the chunk without them; each is counted in `end.dropped`
TEST(GuardFault, HandlesThatOutliveTheirChunk) {
  const RecordLog log = LogWithFault([] {
    ChunkHandle handle;
    {
      TrackMetrics metrics("ttbar");
      handle = metrics.handle();
    }
    std::thread([&] {
      for (int i = 0; i < 10; ++i) {
        TrackHelper helper(handle);
        TrackSection section("late");
      }
    }).join();
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_TRUE(log.chunks[0].sections.empty());
  EXPECT_EQ(log.chunks[0].helper_scope_ns, 0);
  EXPECT_EQ(log.end->dropped, 10);
}

/// Fault [guards]: sections, metrics and memory guards without a chunk
/// Program: nothing
/// Recorded: the sections, with the process; what only a chunk has is counted in `end.dropped`
TEST(GuardFault, WithoutAChunk) {
  const RecordLog log = LogWithFault([] {
    TrackSection section("outside");
    RecordMetric("jets", 1, "count");
    RecordCut("all", 1);
    RecordActivity("read", 1);
    TrackMemory memory("jets");
  });
  EXPECT_EQ(Section(log.end->sections, "outside").count, 1);
  EXPECT_EQ(log.end->dropped, 4);
}

/// Fault [guards]: metrics that are not finite
/// Program: nothing
/// Recorded: the finite values; the others are counted in the metric's `invalid`, cuts and activities in `end.dropped`
TEST(GuardFault, MetricsThatAreNotFinite) {
  const RecordLog log = LogWithFault([] {
    TrackMetrics metrics("ttbar");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double value : {1.0, std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 2.0}) {
      RecordMetric("mass", value, "GeV");
    }
    RecordMetric("only bad", kInfinity);
    RecordCut("all", 1, kInfinity);
    RecordActivity("read", kInfinity);
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  const MetricRow mass = Metric(log.chunks[0], "mass", "GeV");
  EXPECT_EQ(mass.count, 2);
  EXPECT_EQ(mass.sum, 3);
  EXPECT_EQ(mass.max, 2);
  EXPECT_EQ(mass.invalid, 3);
  EXPECT_EQ(Metric(log.chunks[0], "only bad").invalid, 1);
  EXPECT_EQ(log.end->dropped, 2);
}

}  // namespace
}  // namespace testing
}  // namespace crema
