#include "collector/metrics/process_tree/tree_accumulator.h"

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/idioms/units.h"
#include "gtest/gtest.h"

namespace crema {
namespace {

TreeRun RunOn(const std::string& host, int64_t start_ns, const std::string& id = "r") {
  TreeRun run;
  run.run.run_id = id;
  run.run.host = host;
  run.run.pid = 7;
  run.run.start_ns = start_ns;
  run.run.command = {"ana", host};
  run.run.allocated_cores = 4;
  run.run.allocated_cores_source = "slurm";
  return run;
}

TreeEndFact End(int64_t time_ns, int64_t cpu_ns, int exit_status = 0) {
  TreeEndFact end;
  end.time_ns = time_ns;
  end.exit_status = exit_status;
  end.totals.cpu_user_ns = cpu_ns;
  end.totals.process_peak_rss_bytes = 1000;
  end.totals.io = TreeIo{1, 2, 3, 4};
  end.totals.max_processes = 3;
  return end;
}

TreeSampleFact Sample(int64_t time_ns, int64_t rss_bytes, int64_t cpu_ns) {
  TreeSampleFact sample;
  sample.time_ns = time_ns;
  sample.rss_bytes = rss_bytes;
  sample.cpu_user_ns = cpu_ns;
  sample.process_rows = {{7, 50, rss_bytes, cpu_ns, 1}};
  return sample;
}

TEST(TreeAccumulator, AddsWhatWasUsedAndKeepsTheLargestOfWhatWasHeld) {
  TreeAccumulator trees;
  TreeRun first = RunOn("a", 0), second = RunOn("b", 5);
  first.Add(End(10 * kSecondNs, 3 * kSecondNs));
  TreeEndFact end = End(20 * kSecondNs, 4 * kSecondNs, 2);
  end.totals.process_peak_rss_bytes = 500;
  end.totals.max_processes = 9;
  second.Add(end);
  trees.Add(first);
  trees.Add(second);
  const TreeFigures figures = *trees.Finalize();
  EXPECT_EQ(figures.totals.cpu_user_ns, 7 * kSecondNs);
  EXPECT_EQ(figures.totals.io->wchar_bytes, 8);
  EXPECT_EQ(figures.totals.process_peak_rss_bytes, 1000);
  EXPECT_EQ(figures.totals.max_processes, 9);
  EXPECT_EQ(figures.start_ns, 0);
  EXPECT_EQ(figures.stop_ns, 20 * kSecondNs);
  EXPECT_EQ(figures.exit_status, 2);
  EXPECT_EQ(figures.command, std::vector<std::string>({"ana", "a"}));
}

TEST(TreeAccumulator, RunsOfTwoCommitsHaveNone) {
  TreeRun first = RunOn("a", 0), second = RunOn("b", 5);
  first.run.commit = second.run.commit = "0123abc";
  first.run.commit_source = "git";
  second.run.commit_source = "CREMA_COMMIT";
  TreeAccumulator same, different;
  for (TreeAccumulator* trees : {&same, &different}) {
    trees->Add(first);
    trees->Add(second);
    second.run.start_ns = 9;
    second.run.commit = "4567def";
  }
  EXPECT_EQ(same.Finalize()->commit, "0123abc");
  EXPECT_EQ(same.Finalize()->commit_source, "git");
  EXPECT_EQ(different.Finalize()->commit, "");
  EXPECT_EQ(different.Finalize()->commit_source, "");
}

TEST(TreeAccumulator, EachHostGrantsItsCoresOnce) {
  TreeAccumulator trees;
  trees.Add(RunOn("a", 0));
  trees.Add(RunOn("a", 100));
  trees.Add(RunOn("b", 0));
  EXPECT_EQ(trees.Finalize()->allocated_cores, 8);
  EXPECT_EQ(trees.Finalize()->allocated_cores_source, "slurm");
}

TEST(TreeAccumulator, TheOrderAndTheGroupingOfRunsDoNotMatter) {
  TreeRun first = RunOn("a", 3), second = RunOn("b", 1), third = RunOn("c", 2);
  first.Add(End(10, 1, 5));
  second.Add(End(12, 2, 6));
  third.Add(Sample(9, 10, 3));
  TreeAccumulator forwards, backwards, part;
  forwards.Add(first);
  forwards.Add(second);
  forwards.Add(third);
  part.Add(third);
  part.Add(second);
  backwards.Add(first);
  backwards.Merge(part);
  const TreeFigures a = *forwards.Finalize(), b = *backwards.Finalize();
  EXPECT_EQ(a.totals.cpu_user_ns, b.totals.cpu_user_ns);
  EXPECT_EQ(a.exit_status, b.exit_status);
  EXPECT_EQ(a.command, b.command);
  EXPECT_FALSE(a.stop_ns.has_value());  // one has no end
  EXPECT_EQ(a.last_ns, b.last_ns);
}

TEST(TreeAccumulator, TheSameRunTwiceCountsOnceAsTheFullerOne) {
  TreeRun live = RunOn("a", 0);
  live.Add(Sample(1 * kSecondNs, 10, 1));
  TreeRun ended = live;
  ended.Add(End(2 * kSecondNs, 5));
  for (bool live_first : {true, false}) {
    TreeAccumulator trees;
    trees.Add(live_first ? live : ended);
    trees.Add(live_first ? ended : live);
    EXPECT_EQ(trees.Finalize()->totals.cpu_user_ns, 5);
  }
}

TEST(TreeAccumulator, ARunWithoutEndGivesWhatItHad) {
  TreeRun run = RunOn("a", 0);
  run.Add(Sample(1 * kSecondNs, 10, 100));
  run.Add(Sample(4 * kSecondNs, 30, 200));
  run.Add(Sample(5 * kSecondNs, 20, 300));
  TreeReapFact reaped;
  reaped.time_ns = 6 * kSecondNs;
  reaped.user_ns = 350;
  reaped.max_rss_bytes = 25;
  run.Add(reaped);
  TreeAccumulator trees;
  trees.Add(run);
  const TreeFigures figures = *trees.Finalize();
  EXPECT_EQ(figures.totals.cpu_user_ns, 350);
  EXPECT_EQ(figures.totals.tree_peak_rss_bytes, 30);
  EXPECT_EQ(figures.last_ns, 6 * kSecondNs);
  EXPECT_EQ(figures.sampling_gap_max_seconds, 3);
  EXPECT_FALSE(figures.exit_status.has_value());
}

TEST(TreeAccumulator, PssReadFarFromThePeakOfMemoryIsNoPeak) {
  for (const auto& [rss_at_reading, is_peak] : {std::pair<int64_t, bool>(12'000, false), {900'000, true}}) {
    TreeRun run = RunOn("a", 0);
    TreeSampleFact sample = Sample(kSecondNs, rss_at_reading, 1);
    sample.pss_bytes = rss_at_reading;
    run.Add(sample);
    TreeEndFact end = End(2 * kSecondNs, 1);
    end.totals.tree_peak_rss_bytes = 1'000'000;  // of wait4
    end.totals.tree_peak_pss_bytes = rss_at_reading;
    run.Add(end);
    TreeAccumulator trees;
    trees.Add(run);
    EXPECT_EQ(trees.Finalize()->totals.tree_peak_pss_bytes.has_value(), is_peak) << rss_at_reading;
  }
}

// Two cores for 10 s: nobody wants one for 5 s, then four threads want all of them, and get 3 s.
TEST(TreeAccumulator, ThreadsWaitForNoMoreThanTheCoresThatTheyCouldHaveHad) {
  TreeRun run = RunOn("a", 0);
  run.run.allocated_cores = 2;
  for (int64_t second = 1; second <= 10; ++second) {
    const int64_t busy = std::max<int64_t>(0, second - 5);
    TreeSampleFact sample = Sample(second * kSecondNs, 1, busy * kSecondNs * 3 / 5);
    for (int64_t pid = 1; pid <= 4; ++pid) {
      if (busy > 0) sample.process_rows.push_back({pid, 5 * kSecondNs, 1, {}, 1});
      if (busy > 0) sample.process_rows.back().counts.run_delay_ns = busy * kSecondNs * 17 / 20;
    }
    run.Add(sample);
  }
  TreeAccumulator trees;
  trees.Add(std::move(run));
  MetricSet metrics;
  SetTreeMetrics(trees.Finalize(), 10.0, {}, &metrics);
  EXPECT_DOUBLE_EQ(*metrics.Number("tree_cpu_wait"), 2 * 5 - 3.0) << "not 4 x 5 - 3, and not 2 x 10 - 3";
}

TEST(TreeAccumulator, SamplesGoToTheProcessWhoseStartIsNearest) {
  TreeRun run = RunOn("a", 0);
  for (int64_t start_ns : {50 * kSecondNs, 90 * kSecondNs}) {
    TreeSampleFact sample;
    sample.time_ns = start_ns + kSecondNs;
    sample.process_rows = {{7, start_ns, start_ns, 1, 1}};
    run.Add(sample);
  }
  TreeAccumulator trees;
  trees.Add(run);
  const TreeProcesses processes(trees);
  ASSERT_NE(processes.Find("a", 7, 91 * kSecondNs).process, nullptr);
  EXPECT_EQ(processes.Find("a", 7, 91 * kSecondNs).process->second.at(0).rss_bytes, 90 * kSecondNs);
  EXPECT_EQ(processes.Find("a", 7, 51 * kSecondNs).process->second.at(0).rss_bytes, 50 * kSecondNs);
  EXPECT_EQ(processes.Find("b", 7, 51 * kSecondNs).process, nullptr);
  EXPECT_EQ(processes.Find("a", 8, 51 * kSecondNs).process, nullptr);
}

TEST(TreeAccumulator, OfNestedRunsTheOneWithMoreSamplesKnowsAProcess) {
  TreeAccumulator trees;
  for (const int samples : {1, 3, 2}) {
    TreeRun run = RunOn("a", samples);
    for (int i = 0; i < samples; ++i) run.Add(Sample(kSecondNs * (i + 1), 1, 1));
    trees.Add(run);
  }
  const TreeProcesses::Seen seen = TreeProcesses(trees).Find("a", 7, 60);
  ASSERT_NE(seen.process, nullptr);
  EXPECT_EQ(seen.process->second.size(), 3u);
  EXPECT_EQ(seen.tree->run.start_ns, 3);
}

// Takes minutes if each process is looked for in all runs.
TEST(TreeAccumulator, AHostMayHaveManyRuns) {
  constexpr int64_t kMany = 50'000;
  TreeAccumulator trees;
  for (int64_t i = 0; i < kMany; ++i) {
    TreeRun run = RunOn("a", i);
    run.processes[{i, i}].emplace_back();
    trees.Add(run);
  }
  const TreeProcesses processes(trees);
  for (int64_t i = 0; i < kMany; ++i) {
    ASSERT_NE(processes.Find("a", i, 0).tree, nullptr);
    EXPECT_EQ(processes.Find("a", i, 0).tree->run.start_ns, i);
  }
}

TEST(TreeAccumulator, OneRunOfSeveralCanBeKept) {
  TreeAccumulator trees;
  trees.Add(RunOn("a", 0, "second"));
  trees.Add(RunOn("b", 0, "first"));
  EXPECT_EQ(trees.run_ids(), std::vector<std::string>({"first", "second"}));
  trees.KeepRun("first");
  EXPECT_EQ(trees.Finalize()->command.at(1), "b");
}

TEST(SetTreeMetrics, RatiosAreOfCoresWallTimeAndChunks) {
  TreeRun run = RunOn("a", 0);
  TreeEndFact end = End(10 * kSecondNs, 6 * kSecondNs);
  end.totals.cpu_system_ns = 2 * kSecondNs;
  run.Add(end);
  TreeAccumulator trees;
  trees.Add(run);
  MetricSet metrics;
  SetTreeMetrics(trees.Finalize(), 10.0, 6.0, &metrics);
  EXPECT_EQ(metrics.Number("tree_cpu_user"), 6.0);
  EXPECT_EQ(metrics.Number("tree_cpu_system"), 2.0);
  EXPECT_DOUBLE_EQ(*metrics.Number("job_cpu_efficiency"), 8.0 / (10 * 4));
  EXPECT_DOUBLE_EQ(*metrics.Number("cpu_outside_chunks_share"), 0.25);
  EXPECT_EQ(metrics.Number("tree_wchar_bytes"), 4);
  EXPECT_EQ(metrics.Number("allocated_cores"), 4);
}

TEST(SetTreeMetrics, WhoReadsNoRunDelayKnowsOfNoWaiting) {
  for (const TreeOrigin origin : {TreeOrigin::kPrmon, TreeOrigin::kWatched}) {
    TreeRun run = RunOn("a", 0);
    run.run.origin = origin;
    run.Add(Sample(kSecondNs, 1, kSecondNs));
    TreeAccumulator trees;
    trees.Add(run);
    MetricSet metrics;
    SetTreeMetrics(trees.Finalize(), 10.0, {}, &metrics);
    EXPECT_FALSE(metrics.Number("tree_cpu_wait").has_value());
    EXPECT_NE(metrics.Reason("tree_cpu_wait").find(origin == TreeOrigin::kPrmon ? "prmon does not" : "schedstat"),
              std::string_view::npos);
  }
}

TEST(SetTreeMetrics, WhatIsNotKnownIsNullWithItsReason) {
  MetricSet metrics;
  SetTreeMetrics(std::nullopt, 10.0, 6.0, &metrics);
  EXPECT_FALSE(metrics.Number("tree_cpu_user").has_value());
  EXPECT_NE(metrics.Reason("tree_cpu_user").find("crema run"), std::string_view::npos);

  TreeRun run = RunOn("a", 0);
  run.run.allocated_cores.reset();
  TreeAccumulator trees;
  trees.Add(run);
  SetTreeMetrics(trees.Finalize(), 10.0, std::nullopt, &metrics);
  for (const char* key :
       {"tree_cpu_user", "major_faults", "max_processes", "job_cpu_efficiency", "cpu_outside_chunks_share",
        "tree_read_bytes", "net_rx_bytes", "tree_peak_pss_bytes", "tree_peak_swap_bytes"}) {
    EXPECT_FALSE(metrics.Number(key).has_value()) << key;
    EXPECT_FALSE(metrics.Reason(key).empty()) << key;
  }
}

TEST(SetTreeMetrics, AMeasuredZeroIsZero) {
  TreeRun run = RunOn("a", 0);
  run.Add(Sample(kSecondNs, 10, 0));
  TreeAccumulator trees;
  trees.Add(run);
  MetricSet metrics;
  SetTreeMetrics(trees.Finalize(), 10.0, std::nullopt, &metrics);
  EXPECT_EQ(metrics.Number("tree_cpu_user"), 0.0);
  EXPECT_EQ(metrics.Number("job_cpu_efficiency"), 0.0);
}

TEST(SetTreeMetrics, ABusyGpuOfUnknownOwnersHasAUtilizationAndNoMemory) {
  for (const auto& [percent, memory, utilization] :
       {std::tuple<int64_t, std::optional<int64_t>, std::optional<double>>(80, std::nullopt, 0.8),
        {0, std::nullopt, std::nullopt},
        {80, 0, std::nullopt}}) {
    TreeRun run = RunOn("a", 0);
    TreeSampleFact sample = Sample(kSecondNs, 10, 0);
    TreeGpu& gpu = sample.gpus.emplace_back();
    gpu.utilization_percent = percent;
    gpu.tree_memory_bytes = memory;
    run.Add(sample);
    TreeAccumulator trees;
    trees.Add(run);
    MetricSet metrics;
    SetTreeMetrics(trees.Finalize(), 10.0, std::nullopt, &metrics);
    EXPECT_EQ(metrics.Number("gpu_utilization"), utilization) << percent;
    EXPECT_FALSE(metrics.Number("gpu_peak_memory_bytes").has_value()) << percent;
  }
}

TEST(SetTreeMetrics, ASumOfWhichOnePartIsUnknownIsUnknown) {
  TreeRun started = RunOn("a", 0), watched = RunOn("b", 1);
  TreeEndFact end = End(10 * kSecondNs, kSecondNs);
  end.totals.cpu_system_ns = kSecondNs;
  end.totals.context_switches_involuntary = 5;
  started.Add(end);
  end.totals.context_switches_involuntary.reset();
  end.exit_status.reset();
  watched.run.origin = TreeOrigin::kWatched;
  watched.Add(end);
  TreeAccumulator trees;
  trees.Add(started);
  trees.Add(watched);
  MetricSet metrics;
  SetTreeMetrics(trees.Finalize(), 10.0, std::nullopt, &metrics);
  EXPECT_EQ(metrics.Number("tree_cpu_user"), 2.0);
  EXPECT_FALSE(metrics.Number("context_switches_involuntary").has_value());
  EXPECT_NE(metrics.Reason("context_switches_involuntary").find("--pid"), std::string_view::npos);
  EXPECT_EQ(trees.Finalize()->exit_status, 0);
}

}  // namespace
}  // namespace crema
