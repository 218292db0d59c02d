// Helper threads: other threads' work becomes the chunk's.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

/// Runs `work` as a helper of the chunk, and waits for it.
template <class Work>
void RunHelper(const ChunkHandle& handle, Work work) {
  std::thread([&] {
    TrackHelper helper(handle);
    work();
  }).join();
}

TEST(TrackHelper, SectionsAreMarkedAndStartWhereTheHandleWasTaken) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    { TrackSection read("read"); }
    TrackSection cluster("cluster");
    const ChunkHandle handle = metrics.handle();
    for (int i = 0; i < 2; ++i) {
      RunHelper(handle, [] {
        TrackSection jets("jets");
        TrackSection sort("sort");
      });
    }
  });
  EXPECT_EQ(Paths(chunk.sections), (std::vector<std::string>{"read", "cluster", "cluster/jets", "cluster/jets/sort"}));
  const SectionRow jets = Section(chunk.sections, "cluster/jets", true);
  const SectionRow sort = Section(chunk.sections, "cluster/jets/sort", true);
  EXPECT_EQ(jets.count, 2);
  EXPECT_LE(jets.self_ns, jets.total_ns - sort.total_ns + 1);  // sums are rounded down each
  EXPECT_GE(jets.self_ns, jets.total_ns - sort.total_ns - 1);
  const SectionRow cluster = Section(chunk.sections, "cluster");
  EXPECT_EQ(cluster.self_ns, cluster.total_ns);  // a helper's rows take nothing from the owner's
}

TEST(TrackHelper, SectionsOfOneNameStandApartFromTheOwners) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    { TrackSection select("select"); }
    RunHelper(metrics.handle(), [] { TrackSection select("select"); });
  });
  EXPECT_EQ(Section(chunk.sections, "select", false).count, 1);
  EXPECT_EQ(Section(chunk.sections, "select", true).count, 1);
}

TEST(TrackHelper, InsideAnotherHelperScopeIsNoLaneOfItsOwn) {
  const RecordLog log = Recorded([] {
    TrackMetrics one({"one", "f", 0, 1});
    const ChunkHandle first = one.handle();
    std::thread([&] {
      TrackMetrics two({"two", "f", 1, 2});
      const ChunkHandle second = two.handle();
      two.Suspend();
      RunHelper(first, [&] { TrackHelper inside(second); });
      two.Resume();
    }).join();
  });
  EXPECT_EQ(ChunkOf(log, "one").lanes_peak, 2) << "its owner, and the thread that helps both";
}

TEST(TrackHelper, AddsItsCpuTimeToTheChunks) {
  struct Cpu {
    std::int64_t inside_ns;
    std::int64_t around_ns;
  };
  const SharedValue<Cpu> cpu;
  const ChunkLine chunk = RecordedChunk([&] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      const std::int64_t before = ThreadCpuNs();
      {
        TrackHelper helper(handle);
        const std::int64_t start = ThreadCpuNs();
        SpinCpu(3000000);
        cpu->inside_ns = ThreadCpuNs() - start;
      }
      cpu->around_ns = ThreadCpuNs() - before;
      SpinCpu(20000000);  // not the chunk's
    }).join();
  });
  EXPECT_GE(chunk.helper_cpu_ns, cpu->inside_ns);
  EXPECT_LE(chunk.helper_cpu_ns, cpu->around_ns);
  EXPECT_LT(chunk.cpu_ns, 20000000);
  EXPECT_GE(chunk.helper_scope_ns, cpu->inside_ns);
}

TEST(TrackHelper, ItsMetricsCutsBytesMemoryAndAttributesAreTheChunks) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    RecordMetric("jets", 1, "count");
    metrics.AddBytesRead(100);
    TrackSection cluster("cluster");
    RunHelper(metrics.handle(), [] {
      RecordMetric("jets", 5, "count");
      RecordCut("good jets", 2, 1.5);
      AddBytesRead(10, 40);
      SetAttribute("algorithm", "anti-kt");
      TrackSection sort("sort");
      TrackMemory memory("buffer");
    });
  });
  EXPECT_EQ(Metric(chunk, "jets", "count").count, 2);
  EXPECT_EQ(Metric(chunk, "jets", "count").sum, 6);
  EXPECT_EQ(Metric(chunk, "jets", "count").max, 5);
  EXPECT_EQ(chunk.cuts.at(0).events, 2);
  EXPECT_EQ(chunk.bytes_read, 110);
  EXPECT_EQ(chunk.bytes_uncompressed, 40);
  EXPECT_EQ(chunk.attributes.at("algorithm"), "anti-kt");
  EXPECT_EQ(Memory(chunk, "cluster/sort/buffer").count, 1);
}

TEST(TrackHelper, ScopesThatOverlapCountOnceInTheirUnion) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    std::atomic<int> inside{0};
    const auto work = [&] {
      TrackHelper helper(handle);
      ++inside;
      while (inside < 2) std::this_thread::yield();
      SpinWall(3000000);
      ++inside;
      while (inside < 4) std::this_thread::yield();  // both scopes are open all this time
    };
    std::thread first(work);
    std::thread second(work);
    first.join();
    second.join();
  });
  EXPECT_GE(chunk.helper_union_ns, 3000000);
  EXPECT_GE(chunk.helper_scope_ns, *chunk.helper_union_ns + 3000000);
  EXPECT_LE(chunk.helper_scope_ns, 2 * *chunk.helper_union_ns);
  EXPECT_LE(chunk.helper_union_ns, chunk.duration_ns() + CounterToleranceNs(chunk.duration_ns()));
}

TEST(TrackHelper, ScopesThatDoNotOverlapAddUpInTheirUnion) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    for (int i = 0; i < 3; ++i) RunHelper(metrics.handle(), [] { SpinWall(300000); });
  });
  EXPECT_EQ(chunk.helper_union_ns, chunk.helper_scope_ns);
  EXPECT_GE(chunk.helper_union_ns, 900000);
}

TEST(TrackHelper, EachIsALaneOfItsProcess) {
  const RecordLog log = Recorded([] {
    {
      TrackMetrics metrics("helped");
      const ChunkHandle handle = metrics.handle();
      std::atomic<int> inside{0};
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          TrackHelper helper(handle);
          ++inside;
          while (inside < 3) std::this_thread::yield();
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    TrackMetrics metrics("alone");
  });
  EXPECT_EQ(ChunkOf(log, "helped").lanes_peak, 4);
  EXPECT_EQ(ChunkOf(log, "helped").open_chunks, 1);
  EXPECT_EQ(ChunkOf(log, "alone").lanes_peak, 1);
}

TEST(TrackHelper, OnTheChunksOwnThreadDoesNothing) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    TrackHelper helper(handle);
    TrackSection select("select");
    RecordMetric("jets", 1);
  });
  EXPECT_FALSE(HasSection(chunk.sections, "select", true));
  EXPECT_TRUE(HasSection(chunk.sections, "select", false));
  EXPECT_EQ(chunk.helper_scope_ns, 0);
  EXPECT_EQ(chunk.lanes_peak, 1);
  EXPECT_EQ(Metric(chunk, "jets").count, 1);
}

TEST(TrackHelper, InsideAHelperOfTheSameChunkDoesNothing) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    RunHelper(handle, [&] {
      TrackHelper again(handle);
      TrackSection select("select");
    });
  });
  EXPECT_EQ(Section(chunk.sections, "select", true).count, 1);
  EXPECT_EQ(chunk.lanes_peak, 2);
  EXPECT_EQ(chunk.helper_scope_ns, chunk.helper_union_ns);
}

TEST(TrackHelper, OfAChunkThatIsOverIsHarmlessAndCounted) {
  const RecordLog log = Recorded([] {
    ChunkHandle stale;
    {
      TrackMetrics metrics("over");
      stale = metrics.handle();
    }
    TrackMetrics metrics("next");
    RunHelper(stale, [] { TrackSection late("late"); });
  });
  EXPECT_TRUE(ChunkOf(log, "over").sections.empty());
  EXPECT_TRUE(ChunkOf(log, "next").sections.empty());
  EXPECT_EQ(ChunkOf(log, "next").helper_scope_ns, 0);
  EXPECT_EQ(log.end->dropped, 1);
}

TEST(TrackHelper, ThatOutlivesItsChunkIsHarmlessAndCounted) {
  const RecordLog log = Recorded([] {
    std::atomic<bool> joined{false};
    std::atomic<bool> over{false};
    auto metrics = std::make_unique<TrackMetrics>("short");
    std::thread thread([&, handle = metrics->handle()] {
      TrackHelper helper(handle);
      TrackSection section("work");
      joined = true;
      while (!over) std::this_thread::yield();
    });
    while (!joined) std::this_thread::yield();
    metrics.reset();
    over = true;
    thread.join();
    TrackMetrics next("next");
  });
  EXPECT_EQ(ChunkOf(log, "short").status, "ok");
  EXPECT_GT(ChunkOf(log, "short").helper_union_ns, 0);
  EXPECT_LE(ChunkOf(log, "short").helper_union_ns, ChunkOf(log, "short").duration_ns() + CounterToleranceNs(0));
  EXPECT_EQ(ChunkOf(log, "short").helper_cpu_ns, 0);
  EXPECT_EQ(ChunkOf(log, "next").lanes_peak, 1);
  EXPECT_EQ(log.end->dropped, 1);
}

TEST(TrackHelper, OfAChunkAroundAnotherStartsInTheOuterOnesSection) {
  const RecordLog log = Recorded([] {
    TrackMetrics outer({"outer", "f", 0, 1});
    TrackSection select("select");
    ChunkHandle handle;
    {
      TrackMetrics inner({"inner", "f", 1, 2});
      TrackSection read("read");
      handle = outer.handle();
    }
    RunHelper(handle, [] { TrackSection jets("jets"); });
  });
  EXPECT_EQ(Paths(ChunkOf(log, "outer").sections), (std::vector<std::string>{"select", "select/jets"}));
}

TEST(TrackHelper, WithoutAHandleDoesNothing) {
  const RecordLog log = Recorded([] {
    TrackHelper helper{ChunkHandle()};
    TrackSection section("outside");
  });
  EXPECT_EQ(Section(log.end->sections, "outside").count, 1);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(TrackHelper, OfAnotherChunkLeavesTheThreadsOwnChunkAlone) {
  // As when a thread that waits for its own parallel loop is given a piece of another chunk's.
  const SharedValue<std::int64_t> own_cpu_ns;
  const RecordLog log = Recorded([&] {
    TrackMetrics other("other");
    const ChunkHandle handle = other.handle();
    std::thread([&] {
      const std::int64_t before = ThreadCpuNs();
      TrackMetrics own("own");
      TrackSection mine("mine");
      {
        TrackHelper helper(handle);
        TrackSection theirs("theirs");
        SpinCpu(10000000);
      }
      *own_cpu_ns = ThreadCpuNs() - before - 10000000;
      TrackSection after("after");
    }).join();
  });
  EXPECT_EQ(Paths(ChunkOf(log, "own").sections), (std::vector<std::string>{"mine", "mine/after"}));
  EXPECT_TRUE(HasSection(ChunkOf(log, "other").sections, "theirs", true));
  EXPECT_GE(ChunkOf(log, "other").helper_cpu_ns, 10000000);
  EXPECT_LE(ChunkOf(log, "own").cpu_ns, *own_cpu_ns + 1000000);
}

}  // namespace
}  // namespace testing
}  // namespace crema
