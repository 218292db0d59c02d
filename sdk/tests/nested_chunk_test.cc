// A chunk begun inside another chunk of the same thread.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

TEST(NestedChunk, ThatIsTheSameIsASectionOfTheOuter) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics outer({"ttbar", "f.root", 0, 100});
    TrackMetrics inner({"ttbar", "f.root", 0, 100});
    TrackSection read("read");
    inner.SetEvents(100);
    inner.AddBytesRead(10, 20);
    inner.SetAttribute("layer", "inner");
    RecordMetric("jets", 4, "count");
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"(chunk)", "(chunk)/read"}));
  EXPECT_EQ(chunk.events, 100);
  EXPECT_EQ(chunk.bytes_read, 10);
  EXPECT_EQ(chunk.bytes_uncompressed, 20);
  EXPECT_EQ(chunk.attributes.at("layer"), "inner");
  EXPECT_EQ(Metric(chunk, "jets", "count").sum, 4);
}

TEST(NestedChunk, ThatDoesNotSayItsPartOfTheDataIsASectionOfTheOuter) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics outer({"ttbar", "f.root", 0, 100});
    TrackMetrics inner("ttbar");
    inner.Fail("bad event");
  });
  EXPECT_EQ(Paths(chunk.sections), std::vector<std::string>{"(chunk)"});
  EXPECT_EQ(chunk.status, "failed");
  EXPECT_EQ(chunk.error, "bad event");
}

TEST(NestedChunk, OfAnotherIdentityIsAChunkOfItsOwn) {
  const RecordLog log = Recorded([] {
    TrackMetrics outer({"outer", "f.root", 0, 100});
    TrackSection select("select");
    {
      TrackMetrics inner({"inner", "f.root", 100, 200});
      TrackSection read("read");
      inner.SetEvents(7);
    }
    TrackSection fill("fill");
  });
  ASSERT_EQ(log.chunks.size(), 2u);
  EXPECT_EQ(Paths(ChunkOf(log, "inner").sections), std::vector<std::string>{"read"});
  EXPECT_EQ(ChunkOf(log, "inner").events, 7);
  EXPECT_EQ(ChunkOf(log, "inner").open_chunks, 2);
  EXPECT_EQ(Paths(ChunkOf(log, "outer").sections), (std::vector<std::string>{"select", "select/fill"}));
  EXPECT_EQ(ChunkOf(log, "outer").events, std::nullopt);
  EXPECT_EQ(ChunkOf(log, "outer").lanes_peak, 1) << "one thread";
  EXPECT_EQ(ChunkOf(log, "inner").lanes_peak, 1);
}

TEST(NestedChunk, TakesItsCpuTimeOutOfTheOuters) {
  const SharedValue<std::int64_t> cpu_ns;
  const RecordLog log = Recorded([&] {
    const std::int64_t before = ThreadCpuNs();
    {
      TrackMetrics outer({"outer", "f.root", 0, 100});
      SpinCpu(1000000);
      TrackMetrics inner({"inner", "f.root", 100, 200});
      SpinCpu(5000000);
    }
    *cpu_ns = ThreadCpuNs() - before;
  });
  EXPECT_GE(ChunkOf(log, "inner").cpu_ns, 5000000);
  EXPECT_GE(ChunkOf(log, "outer").cpu_ns, 1000000);
  EXPECT_LE(*ChunkOf(log, "inner").cpu_ns + *ChunkOf(log, "outer").cpu_ns, *cpu_ns);
}

TEST(NestedChunk, TakesItsTimeOutOfTheOuterAndOfItsSections) {
  const SharedValue<std::int64_t> wall_ns;
  const RecordLog log = Recorded([&] {
    const std::int64_t before_ns = WallNs();
    {
      TrackMetrics outer({"outer", "f.root", 0, 100});
      TrackSection around("around", kCpuTime);
      TrackSection select("select", kCpuTime);
      SpinCpu(1000000);
      {
        TrackMetrics inner({"inner", "f.root", 100, 200});
        SpinCpu(2000000);
        TrackMetrics innermost({"innermost", "f.root", 200, 300});
        SpinCpu(4000000);
      }
      SpinCpu(1000000);
    }
    *wall_ns = WallNs() - before_ns;
  });
  const ChunkLine outer = ChunkOf(log, "outer");
  const ChunkLine inner = ChunkOf(log, "inner");
  const ChunkLine innermost = ChunkOf(log, "innermost");
  EXPECT_EQ(innermost.inner_ns, std::nullopt);
  const auto expect_near = [](std::int64_t ns, std::int64_t clock_ns) {
    EXPECT_NEAR(static_cast<double>(ns), static_cast<double>(clock_ns),
                static_cast<double>(CounterToleranceNs(clock_ns)));
  };
  expect_near(*inner.inner_ns, innermost.duration_ns());
  expect_near(*outer.inner_ns, inner.duration_ns());
  const std::int64_t own_ns = outer.duration_ns() - *outer.inner_ns;
  EXPECT_GE(own_ns, 2000000);
  EXPECT_LE(own_ns + inner.duration_ns(), *wall_ns + CounterToleranceNs(*wall_ns));
  for (const char* path : {"around", "around/select"}) {
    const SectionRow section = Section(outer.sections, path);
    EXPECT_EQ(section.count, 1);
    EXPECT_GE(section.total_ns, 2000000);
    EXPECT_LE(section.total_ns, own_ns);
    EXPECT_GE(*section.cpu_ns, 2000000);
    EXPECT_LE(*section.cpu_ns, *outer.cpu_ns);
  }
}

/// Like a task that a scheduler runs on a thread that waits inside another task.
TEST(NestedChunk, AndHelperScopesTakeTheirTimeOutOfEachOther) {
  const SharedValue<std::int64_t> wall_ns;
  const RecordLog log = Recorded([&] {
    TrackMetrics helped({"helped", "f.root", 0, 100});
    std::thread([&wall_ns, handle = helped.handle()] {
      const std::int64_t before_ns = WallNs();
      {
        TrackMetrics outer({"outer", "f.root", 100, 200});
        SpinCpu(1000000);
        const TrackHelper helper(handle);
        SpinCpu(2000000);
        TrackMetrics inner({"inner", "f.root", 200, 300});
        SpinCpu(4000000);
      }
      *wall_ns = WallNs() - before_ns;
    }).join();
  });
  const ChunkLine outer = ChunkOf(log, "outer");
  const ChunkLine helped = ChunkOf(log, "helped");
  const ChunkLine inner = ChunkOf(log, "inner");
  EXPECT_GE(*outer.inner_ns, 6000000);
  EXPECT_GE(helped.helper_scope_ns, 2000000);
  const std::int64_t all_ns =
      outer.duration_ns() - *outer.inner_ns + helped.helper_scope_ns.value() + inner.duration_ns();
  EXPECT_LE(all_ns, *wall_ns + CounterToleranceNs(*wall_ns));
}

TEST(NestedChunk, SaysInWhichOneItIs) {
  const RecordLog log = Recorded([] {
    const TrackMetrics outer({"outer", "f.root", 0, 100});
    std::thread([&outer] {
      const TrackMetrics apart({"apart", "f.root", 100, 200});
      const TrackHelper helper(outer.handle());
      const TrackMetrics inner({"inner", "f.root", 200, 300});
    }).join();
    const TrackMetrics inner({"last", "f.root", 300, 400});
  });
  ASSERT_EQ(log.begins.size(), 4u);
  EXPECT_EQ(log.begins[0].inside, std::nullopt);
  EXPECT_EQ(log.begins[1].inside, std::nullopt);
  EXPECT_EQ(log.begins[2].inside, log.begins[1].number);
  EXPECT_EQ(log.begins[3].inside, log.begins[0].number);
}

TEST(NestedChunk, TooDeepIsASection) {
  struct Nest {
    static void Down(int depth) {
      if (depth == 0) return;
      TrackMetrics metrics({"ttbar", "f.root", depth, depth + 1});
      Down(depth - 1);
    }
  };
  const RecordLog log = Recorded([] { Nest::Down(20); });
  EXPECT_EQ(log.chunks.size(), 8u);
  EXPECT_EQ(log.end->open, 0);
}

TEST(NestedChunk, FailsAloneWhenItsExceptionIsCaughtInTheOuter) {
  const RecordLog log = Recorded([] {
    TrackMetrics outer({"outer", "f.root", 0, 100});
    try {
      TrackMetrics inner({"inner", "f.root", 100, 200});
      throw std::runtime_error("bad event");
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_EQ(ChunkOf(log, "inner").status, "failed");
  EXPECT_EQ(ChunkOf(log, "outer").status, "ok");
}

}  // namespace
}  // namespace testing
}  // namespace crema
