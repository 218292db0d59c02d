#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "collector/engines/engines.h"

namespace crema {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kSampleTransactions[] = "collector/engines/testdata/work_queue/transactions.log";

// 16 tasks on 3 workers, of which one was killed: two tasks ran again, one ended with status 7, one made no output.
TEST(WorkQueue, TellsTheSamplesWorkersAndTasks) {
  const std::optional<EngineLog> log = FindEngineLog(kSampleTransactions);
  ASSERT_TRUE(log.has_value());
  ASSERT_EQ(log->engine, &kWorkQueue);
  const auto reading = kWorkQueue.read(log->path);
  ASSERT_TRUE(reading.ok()) << reading.status();
  EXPECT_EQ(reading->malformed + reading->torn + reading->unknown, 0);
  ASSERT_EQ(reading->clusters.size(), 1u);
  const ClusterFact& cluster = reading->clusters[0];
  ASSERT_EQ(cluster.workers.size(), 3u);
  for (const ClusterWorkerFact& worker : cluster.workers) {
    EXPECT_EQ(worker.threads, 2);
    EXPECT_EQ(worker.host, "127.0.0.1");
    EXPECT_EQ(worker.is_lost, worker.address == "worker-8f3a2c9fdbd9f4ae3f612a1bc766bf32");
  }
  EXPECT_EQ(cluster.tasks.size(), 18u) << "as many as lines RUNNING";
  const auto count = [&](const auto& passes) {
    return std::count_if(cluster.tasks.begin(), cluster.tasks.end(), passes);
  };
  EXPECT_EQ(count([](const ClusterTaskFact& task) { return task.is_repeat; }), 2);
  EXPECT_EQ(count([](const ClusterTaskFact& task) { return task.failed; }), 2 + 2);
  EXPECT_EQ(count([](const ClusterTaskFact& task) { return task.job == "work_queue 4" && task.directory == "t.4"; }),
            2);
  for (const ClusterTaskFact& task : cluster.tasks) {
    const bool is_known = std::any_of(cluster.workers.begin(), cluster.workers.end(),
                                      [&](const ClusterWorkerFact& worker) { return worker.address == task.worker; });
    EXPECT_TRUE(is_known) << task.worker << ": lines of tasks name workers by their address";
  }
  EXPECT_EQ(cluster.counts.at("done"), 16);
  EXPECT_TRUE(cluster.sessions.at(0).end_ns.has_value());
  EXPECT_THAT(cluster.complaints, Contains(HasSubstr("was lost: the manager says FAILURE")));
}

}  // namespace
}  // namespace crema
