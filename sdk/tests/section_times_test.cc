// The figures of a section.
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

TEST(TrackSection, CountsItsOccurrences) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 5; ++i) TrackSection section("read");
  });
  EXPECT_EQ(Section(chunk.sections, "read").count, 5);
}

TEST(TrackSection, TotalLiesBetweenClockReadsInsideAndAroundIt) {
  struct Readings {
    std::int64_t inside_ns;
    std::int64_t around_ns;
  };
  const SharedValue<Readings> readings;
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    const std::int64_t before = WallNs();
    {
      TrackSection section("read");
      const std::int64_t start = WallNs();
      SpinWall(3000000);
      readings->inside_ns = WallNs() - start;
    }
    readings->around_ns = WallNs() - before;
  });
  const SectionRow read = Section(chunk.sections, "read");
  EXPECT_GE(read.total_ns, readings->inside_ns - CounterToleranceNs(readings->inside_ns));
  EXPECT_LE(read.total_ns, readings->around_ns + CounterToleranceNs(readings->around_ns));
  EXPECT_EQ(read.min_ns, read.total_ns);
  EXPECT_EQ(read.max_ns, read.total_ns);
  EXPECT_EQ(read.self_ns, read.total_ns);
}

TEST(TrackSection, KeepsTheLeastAndTheLongestOccurrence) {
  constexpr std::int64_t kLoads[] = {400000, 100000, 1600000, 200000};
  const SharedValue<std::int64_t> shortest_around_ns;
  *shortest_around_ns = INT64_MAX;
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    for (const std::int64_t load_ns : kLoads) {
      const std::int64_t before = WallNs();
      {
        TrackSection section("read");
        SpinWall(load_ns);
      }
      *shortest_around_ns = std::min(*shortest_around_ns, WallNs() - before);
    }
  });
  const SectionRow read = Section(chunk.sections, "read");
  EXPECT_GE(read.min_ns, 100000 - CounterToleranceNs(100000));
  EXPECT_LE(read.min_ns, *shortest_around_ns + CounterToleranceNs(*shortest_around_ns));
  EXPECT_GE(read.max_ns, 1600000 - CounterToleranceNs(1600000));
  EXPECT_LE(read.count * *read.min_ns, read.total_ns);
  EXPECT_GE(read.total_ns, *read.max_ns + 3 * *read.min_ns);
}

TEST(TrackSection, SelfTimeExcludesNestedSections) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    TrackSection select("select");
    {
      TrackSection jets("jets");
      TrackSection cluster("cluster");
      SpinWall(100000);
    }
    TrackSection muons("muons");
  });
  const SectionRow select = Section(chunk.sections, "select");
  const SectionRow jets = Section(chunk.sections, "select/jets");
  const SectionRow cluster = Section(chunk.sections, "select/jets/cluster");
  const SectionRow muons = Section(chunk.sections, "select/muons");
  EXPECT_EQ(select.self_ns, select.total_ns - jets.total_ns - muons.total_ns);
  EXPECT_EQ(jets.self_ns, jets.total_ns - cluster.total_ns);
  EXPECT_EQ(cluster.self_ns, cluster.total_ns);
}

TEST(TrackSection, OfOneNameInTwoPlacesIsTwoPaths) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 3; ++i) {
      TrackSection select("select");
      TrackSection read("read");
    }
    TrackSection read("read");
    TrackSection again("read");
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"select", "select/read", "read", "read/read"}));
  EXPECT_EQ(Section(chunk.sections, "select/read").count, 3);
  EXPECT_EQ(Section(chunk.sections, "read").count, 1);
}

TEST(TrackSection, SiblingsKeepTheOrderInWhichTheyFirstCame) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (const char* name : {"read", "decompress", "select", "fill", "select", "read"}) TrackSection section(name);
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"read", "decompress", "select", "fill"}));
  EXPECT_EQ(Section(chunk.sections, "read").count, 2);
  EXPECT_EQ(Section(chunk.sections, "fill").count, 1);
}

TEST(TrackSection, StartsFromNoneInTheNextChunk) {
  const RecordLog log = Recorded([] {
    for (const char* dataset : {"first", "second"}) {
      TrackMetrics metrics(dataset);
      TrackSection read("read");
      if (dataset == std::string_view("first")) TrackSection only("only here");
    }
  });
  EXPECT_EQ(Section(ChunkOf(log, "second").sections, "read").count, 1);
  EXPECT_EQ(Paths(ChunkOf(log, "first").sections), (std::vector<std::string>{"read", "read/only here"}));
  EXPECT_EQ(Paths(ChunkOf(log, "second").sections), (std::vector<std::string>{"read"}));
}

TEST(TrackSection, MeasuresCpuTimeOnlyWhereAsked) {
  struct Readings {
    std::int64_t inside_ns;
    std::int64_t around_ns;
  };
  const SharedValue<Readings> readings;
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    const std::int64_t before = ThreadCpuNs();
    {
      TrackSection section("computes", kCpuTime);
      const std::int64_t start = ThreadCpuNs();
      SpinCpu(2000000);
      readings->inside_ns = ThreadCpuNs() - start;
    }
    readings->around_ns = ThreadCpuNs() - before;
    {
      TrackSection section("sleeps", kCpuTime);
      Sleep(2000000);
    }
    TrackSection section("not asked");
  });
  const SectionRow computes = Section(chunk.sections, "computes");
  EXPECT_GE(computes.cpu_ns, readings->inside_ns);
  EXPECT_LE(computes.cpu_ns, readings->around_ns);
  const SectionRow sleeps = Section(chunk.sections, "sleeps");
  EXPECT_GE(sleeps.total_ns, 2000000 - CounterToleranceNs(2000000));
  EXPECT_LT(sleeps.cpu_ns, 1000000);
  EXPECT_GE(sleeps.cpu_ns, 0);
  EXPECT_FALSE(Section(chunk.sections, "not asked").cpu_ns.has_value());
}

TEST(TrackSection, CountsOccurrencesLeftByAnException) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 3; ++i) {
      try {
        TrackSection outer("outer");
        TrackSection inner("inner");
        if (i == 1) throw std::runtime_error("bad event");
      } catch (const std::runtime_error&) {
        TrackSection handler("handler");
      }
    }
  });
  EXPECT_EQ(Section(chunk.sections, "outer").failed, 1);
  EXPECT_EQ(Section(chunk.sections, "outer/inner").failed, 1);
  EXPECT_EQ(Section(chunk.sections, "handler").failed, 0);
  EXPECT_EQ(chunk.status, "ok");
}

TEST(TrackSection, ThatRunsWhileTheStackUnwindsDidNotFail) {
  struct CleansUp {
    ~CleansUp() { TrackSection section("clean up"); }
  };
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    try {
      CleansUp cleans_up;
      throw std::runtime_error("bad event");
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_EQ(Section(chunk.sections, "clean up").count, 1);
  EXPECT_EQ(Section(chunk.sections, "clean up").failed, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
