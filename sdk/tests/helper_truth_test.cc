// Known loads on helper threads: the CPU time of a chunk is that of its threads, which is that of the whole process.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/thread_account.h"

namespace crema {
namespace testing {
namespace {

constexpr int kHelpers = 6;

struct Readings {
  Bounds owner;
  Bounds helpers[kHelpers];
  std::int64_t process_cpu_inside_ns;
  std::int64_t process_cpu_outside_ns;
};

ChunkLine RunHelpers(Readings* readings) {
  return RecordedChunk([&] {
    const ThreadAccount before = ReadThreadAccount();
    const std::int64_t process_before_ns = ProcessCpuNs();
    {
      TrackMetrics metrics("ttbar");
      const std::int64_t process_start_ns = ProcessCpuNs();
      const ThreadAccount start = ReadThreadAccount();
      const ChunkHandle handle = metrics.handle();
      std::vector<std::thread> threads;
      for (Bounds& bounds : readings->helpers) {
        threads.emplace_back([&bounds, handle] {
          const ThreadAccount helper_before = ReadThreadAccount();
          {
            TrackHelper helper(handle);
            const ThreadAccount helper_start = ReadThreadAccount();
            SpinCpu(40000000);
            bounds.inside = ReadThreadAccount() - helper_start;
          }
          bounds.outside = ReadThreadAccount() - helper_before;
        });
      }
      SpinCpu(10000000);
      for (std::thread& thread : threads) thread.join();
      readings->owner.inside = ReadThreadAccount() - start;
      readings->process_cpu_inside_ns = ProcessCpuNs() - process_start_ns;
    }
    readings->process_cpu_outside_ns = ProcessCpuNs() - process_before_ns;
    readings->owner.outside = ReadThreadAccount() - before;
  });
}

TEST(HelperTruth, CpuTimeAndWaitingAreTheSumsOfTheHelpersOwn) {
  const SharedValue<Readings> readings;
  const ChunkLine chunk = RunHelpers(&*readings);
  ThreadAccount inside;
  ThreadAccount outside;
  inside.wait_ns = outside.wait_ns = 0;
  for (const Bounds& bounds : readings->helpers) {
    inside.cpu_ns += bounds.inside.cpu_ns;
    outside.cpu_ns += bounds.outside.cpu_ns;
    inside.wall_ns += bounds.inside.wall_ns;
    outside.wall_ns += bounds.outside.wall_ns;
    inside.wait_ns += bounds.inside.wait_ns;
    outside.wait_ns += bounds.outside.wait_ns;
  }
  EXPECT_GE(chunk.helper_cpu_ns, inside.cpu_ns);
  EXPECT_LE(chunk.helper_cpu_ns, outside.cpu_ns);
  EXPECT_GE(chunk.helper_scope_ns, inside.wall_ns);
  EXPECT_LE(chunk.helper_scope_ns, outside.wall_ns);
  if (readings->helpers[0].inside.wait_ns < 0) {
    EXPECT_EQ(chunk.helper_wait_ns, std::nullopt);
  } else {
    EXPECT_GE(chunk.helper_wait_ns, inside.wait_ns);
    EXPECT_LE(chunk.helper_wait_ns, outside.wait_ns);
  }
  EXPECT_GE(chunk.cpu_ns, readings->owner.inside.cpu_ns);
  EXPECT_LE(chunk.cpu_ns, readings->owner.outside.cpu_ns);
}

TEST(HelperTruth, OwnerAndHelpersAreTheWholeProcess) {
  const SharedValue<Readings> readings;
  const ChunkLine chunk = RunHelpers(&*readings);
  const std::int64_t recorded_ns = *chunk.cpu_ns + *chunk.helper_cpu_ns;
  EXPECT_LE(recorded_ns, readings->process_cpu_outside_ns + 1000);  // getrusage counts in us
  // Before and after its scope, a helper's thread starts, reads its account, and ends. This is not the chunk's work.
  std::int64_t outside_scopes_ns = 0;
  for (const Bounds& bounds : readings->helpers) outside_scopes_ns += bounds.outside.cpu_ns - bounds.inside.cpu_ns;
  constexpr std::int64_t kStartAndEndOfAThreadNs = 1000000;
  EXPECT_GE(recorded_ns, readings->process_cpu_inside_ns - outside_scopes_ns - kHelpers * kStartAndEndOfAThreadNs);
  EXPECT_GE(recorded_ns, (kHelpers * 4 + 1) * std::int64_t{10000000});
}

TEST(HelperTruth, TheUnionIsTheTimeInWhichAnyHelperWasThere) {
  const SharedValue<Readings> readings;
  const ChunkLine chunk = RunHelpers(&*readings);
  std::int64_t longest_ns = 0;
  for (const Bounds& bounds : readings->helpers) longest_ns = std::max(longest_ns, bounds.inside.wall_ns);
  EXPECT_GE(chunk.helper_union_ns, longest_ns);
  EXPECT_LE(chunk.helper_union_ns, chunk.helper_scope_ns);
  EXPECT_LE(chunk.helper_union_ns, chunk.duration_ns() + CounterToleranceNs(chunk.duration_ns()));
}

}  // namespace
}  // namespace testing
}  // namespace crema
