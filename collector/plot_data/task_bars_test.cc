#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "collector/idioms/units.h"
#include "collector/plot_data/run_detail.h"

namespace crema {
namespace {

constexpr int64_t kRunStart = 1'790'000'000'000'000'000;

struct MadeTask {
  uint64_t thread;
  int64_t from, to;  ///< seconds
  bool failed = false;
};

/// One process; a chunk of a second in thread 7 at each of these seconds.
RunDetail DetailOf(const std::vector<int64_t>& chunks, const std::vector<MadeTask>& tasks, DetailOptions options = {}) {
  const AttemptProcess process = {{"run", "node", 1, kRunStart}, "node:1"};
  const auto attempts = [&](const OnAttempt& on_attempt) {
    for (const int64_t second : chunks) {
      ChunkFact chunk;
      chunk.number = second;
      chunk.thread = 7;
      chunk.tid = 70;
      chunk.start_ns = kRunStart + second * kSecondNs;
      chunk.stop_ns = chunk.start_ns + kSecondNs;
      on_attempt({process, AttemptState::kOk, chunk});
    }
    return absl::OkStatus();
  };
  const auto read_tasks = [&](const OnTask& on_task) {
    for (const MadeTask& made : tasks) {
      TaskFact fact;
      fact.prefix = "process";
      fact.thread = made.thread;
      fact.start_ns = kRunStart + made.from * kSecondNs;
      fact.stop_ns = kRunStart + made.to * kSecondNs;
      fact.outcome = made.failed ? "error" : "memory";
      on_task({process, fact});
    }
    return absl::OkStatus();
  };
  Measurement measurement;
  measurement.run.start_ns = kRunStart;
  measurement.metrics.Set("wall_time", 20.0);
  measurement.quality.tasks_read = tasks.size();
  return ReadRunDetail(measurement, attempts, options, read_tasks);
}

TEST(TaskBars, StandOnTheRowsOfTheirThreads) {
  const RunDetail detail = DetailOf({2, 6}, {{7, 5, 8}, {7, 1, 4, true}, {7, 9, 10}});
  ASSERT_EQ(detail.tasks.size(), 3u);
  EXPECT_EQ(detail.tasks[0].start_ns, 1 * kSecondNs) << "by start";
  EXPECT_EQ(detail.tasks[0].stop_ns, 4 * kSecondNs);
  EXPECT_TRUE(detail.tasks[0].failed);
  EXPECT_TRUE(detail.tasks[0].has_chunk);
  EXPECT_TRUE(detail.tasks[1].has_chunk);
  EXPECT_FALSE(detail.tasks[2].has_chunk) << "no chunk began in it";
  EXPECT_THAT(detail.task_prefixes, testing::ElementsAre("process"));
}

TEST(TaskBars, OfThreadsWithoutChunksAreCounted) {
  const RunDetail detail = DetailOf({2}, {{7, 1, 4}, {8, 1, 4}, {0, 1, 4}});
  EXPECT_EQ(detail.tasks.size(), 1u);
  EXPECT_EQ(detail.tasks_elsewhere, 2);
}

TEST(TaskBars, TooManyAreAllLeftOutAndCounted) {
  DetailOptions options;
  options.tasks = 2;
  const RunDetail detail = DetailOf({2}, {{7, 1, 4}, {7, 5, 6}, {7, 8, 9}}, options);
  EXPECT_TRUE(detail.tasks.empty());
  EXPECT_EQ(detail.tasks_left_out, 3);
}

}  // namespace
}  // namespace crema
