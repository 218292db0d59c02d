#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "collector/idioms/units.h"
#include "collector/metrics/record_lines_fixture.h"
#include "collector/metrics/workers/worker_timelines.h"

namespace crema {
namespace {

TreeSampleFact SecondSample(int second, int64_t cpu_seconds, int64_t read_bytes, std::vector<TreeProcessFact> rows) {
  TreeSampleFact sample;
  sample.time_ns = kEpoch + second * kSecondNs;
  sample.cpu_user_ns = cpu_seconds * kSecondNs;
  sample.io = TreeIo{read_bytes, 0, 0, 0};
  for (const TreeProcessFact& row : rows) {
    sample.rss_bytes += row.rss_bytes;
    sample.threads += row.threads;
    ++sample.processes;
  }
  sample.process_rows = std::move(rows);
  return sample;
}

WorkerTimelines Drawn(const std::vector<TreeSampleFact>& samples) {
  TreeRun run;
  run.run.host = "node";
  run.run.pid = 7;
  run.run.start_ns = kEpoch;
  for (const TreeSampleFact& sample : samples) run.Add(sample);
  TreeAccumulator trees;
  trees.Add(run);
  WorkerTimelines timelines;
  AddTreeTimelines(trees, {kEpoch, kEpoch + 10 * kSecondNs}, &timelines);
  return timelines;
}

// "second:value …"
std::string TimelineText(const WorkerTimelines& timelines, std::string_view key, const std::string& name) {
  for (const TimelinesByWorker& series : timelines.series) {
    if (series.key != key) continue;
    if (!series.by_worker.has_value()) return "none";
    const auto line = series.by_worker->find(name);
    if (line == series.by_worker->end()) return "no such line";
    std::string text;
    for (const TimelinePoint& point : line->second) {
      text += (text.empty() ? "" : " ") + std::to_string(static_cast<int>(point.seconds)) + ":" +
              std::to_string(static_cast<int>(point.value));
    }
    return text;
  }
  return "no such series";
}

TEST(TreeTimelines, RatesHoldFromTheReadingBefore) {
  const WorkerTimelines timelines = Drawn({SecondSample(0, 0, 0, {}), SecondSample(2, 4, 600, {}),
                                           SecondSample(3, 4, 600, {}), SecondSample(4, 7, 900, {})});
  EXPECT_EQ(TimelineText(timelines, "tree_cpu", "node:7"), "0:2 2:0 3:3 4:0");
  EXPECT_EQ(TimelineText(timelines, "tree_read_bps", "node:7"), "0:300 2:0 3:300 4:0");
}

TEST(TreeTimelines, TellWhatTheKernelTookWhatCallsMovedAndWhatTheNetworkCarried) {
  std::vector<TreeSampleFact> samples = {SecondSample(0, 0, 0, {}), SecondSample(2, 4, 0, {}),
                                         SecondSample(4, 8, 0, {})};
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto n = static_cast<int64_t>(i);
    samples[i].cpu_system_ns = 2 * n * kSecondNs;
    samples[i].io = TreeIo{0, 0, 1000 * n, 500 * n};
    samples[i].net = TreeNet{60 * n, 30 * n};
  }
  samples[1].pss_bytes = 77;
  const WorkerTimelines timelines = Drawn(samples);
  EXPECT_EQ(TimelineText(timelines, "tree_cpu", "node:7"), "0:3 4:0") << "with that in the kernel";
  EXPECT_EQ(TimelineText(timelines, "tree_cpu_system", "node:7"), "0:1 4:0");
  EXPECT_EQ(TimelineText(timelines, "tree_rchar_bps", "node:7"), "0:500 4:0");
  EXPECT_EQ(TimelineText(timelines, "tree_wchar_bps", "node:7"), "0:250 4:0");
  EXPECT_EQ(TimelineText(timelines, "tree_net_rx_bps", "node:7"), "0:30 4:0");
  EXPECT_EQ(TimelineText(timelines, "tree_net_tx_bps", "node:7"), "0:15 4:0");
  EXPECT_EQ(TimelineText(timelines, "tree_pss", "node:7"), "2:77 6:0");
}

TEST(TreeTimelines, AReadingThatIsNotInEachSampleStaysWhenPointsAreThinnedOut) {
  TreeRun run;
  for (int second = 1; second <= 20'000; ++second) {
    TreeSampleFact sample = SecondSample(second, 0, 0, {});
    if (second % 10 == 1) sample.pss_bytes = second;
    run.Add(sample);
  }
  const auto has_pss = [](const TreeSampleFact& point) { return point.pss_bytes.has_value(); };
  // one of eight samples is a point: nearly all have a reading since the one before
  EXPECT_GT(std::count_if(run.points.begin(), run.points.end(), has_pss), 0.7 * static_cast<double>(run.points.size()));
}

TEST(TreeTimelines, ProcessesAreNamedAndEnd) {
  const WorkerTimelines timelines =
      Drawn({SecondSample(0, 0, 0, {{11, kEpoch, 100, 0, 1, "sort"}}),
             SecondSample(1, 1, 0, {{11, kEpoch, 150, kSecondNs, 3, "sort"}, {12, kEpoch, 50, 0, 1, "seq"}}),
             SecondSample(2, 1, 0, {{12, kEpoch, 60, 0, 1, "seq"}}), SecondSample(3, 1, 0, {})});
  EXPECT_EQ(TimelineText(timelines, "process_memory", "sort:11"), "0:100 1:150 2:0");
  EXPECT_EQ(TimelineText(timelines, "process_memory", "seq:12"), "1:50 2:60 3:0");
  EXPECT_EQ(TimelineText(timelines, "process_cpu", "sort:11"), "0:1 1:0");
  EXPECT_EQ(TimelineText(timelines, "process_threads", "sort:11"), "0:1 1:3 2:0");
  EXPECT_EQ(TimelineText(timelines, "tree_memory", "node:7"), "0:100 1:200 2:60 3:0");
  EXPECT_EQ(TimelineText(timelines, "tree_processes", "node:7"), "0:1 1:2 2:1 3:0");
}

TEST(TreeTimelines, OfManyProcessesTheLargestHaveALine) {
  std::vector<TreeProcessFact> first, second;
  for (int64_t pid = 1; pid <= 100; ++pid) {
    first.push_back({pid, kEpoch, 1, 0, 1, "p"});
    second.push_back({pid, kEpoch, pid == 1 ? 1000 : 1, pid * kSecondNs / 100, 1, "p"});
  }
  const WorkerTimelines timelines = Drawn({SecondSample(0, 0, 0, first), SecondSample(1, 50, 0, second)});
  const auto memory = std::find_if(timelines.series.begin(), timelines.series.end(),
                                   [](const TimelinesByWorker& series) { return series.key == "process_memory"; });
  ASSERT_NE(memory, timelines.series.end());
  EXPECT_LE(memory->by_worker->size(), 32u);
  EXPECT_EQ(memory->by_worker->count("p:1"), 1u) << "it held most memory";
  EXPECT_EQ(memory->by_worker->count("p:100"), 1u) << "it used most CPU time";
}

TEST(TreeTimelines, OfALongRunPointsAreFew) {
  TreeRun run;
  for (int second = 0; second < 100'000; ++second) run.Add(SecondSample(second, second, 0, {}));
  EXPECT_LT(run.points.size(), 4097u);
  EXPECT_GT(run.points.size(), 1024u);
  EXPECT_LT(run.points.front().time_ns, kEpoch + 100 * kSecondNs);
  EXPECT_GT(run.points.back().time_ns, kEpoch + 99'900 * kSecondNs);
}

TEST(TreeTimelines, WithoutATreeThereAreNone) {
  WorkerTimelines timelines;
  AddTreeTimelines({}, {0, kSecondNs}, &timelines);
  EXPECT_EQ(TimelineText(timelines, "tree_cpu", ""), "none");
}

}  // namespace
}  // namespace crema
