#include "collector/metrics/workers/worker_timelines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace crema {
namespace {

constexpr int64_t kRunStart = 1'700'000'000'000'000'000;  // the run's start

using Points = std::vector<std::pair<double, double>>;

int64_t TimeAt(double seconds) { return kRunStart + std::llround(seconds * 1e9); }

AttemptRow TimelineAttempt(uint32_t process, double start, double stop) {
  AttemptRow attempt;
  attempt.process = process;
  attempt.start_ns = TimeAt(start);
  attempt.duration_ns = TimeAt(stop) - TimeAt(start);
  return attempt;
}

ProcessRow TimelineProcess(int64_t pid, std::vector<ProcessSample> samples = {}) {
  ProcessRow process;
  process.host = "node";
  process.pid = pid;
  process.samples = std::move(samples);
  return process;
}

ProcessSample TimelineSample(double seconds, int64_t rss, double cpu, int64_t threads) {
  ProcessSample sample;
  sample.time_ns = TimeAt(seconds);
  sample.rss_bytes = rss;
  sample.cpu_ns = std::llround(cpu * 1e9);
  sample.threads = threads;
  return sample;
}

WorkerLife Life(uint32_t process, double start, double stop, double cores) {
  return {process, TimeAt(start), TimeAt(stop), cores, CoresSource::kDeclared};
}

Points PointsOf(const Timeline& timeline) {
  Points points;
  for (const TimelinePoint& point : timeline) points.emplace_back(point.seconds, point.value);
  return points;
}

const TimelinesByWorker& Series(const WorkerTimelines& timelines, std::string_view key) {
  for (const TimelinesByWorker& series : timelines.series) {
    if (series.key == key) return series;
  }
  ADD_FAILURE() << key;
  return timelines.series.front();
}

Points PointsOf(const WorkerTimelines& timelines, std::string_view key, const std::string& worker) {
  const TimelinesByWorker& series = Series(timelines, key);
  if (!series.by_worker.has_value() || series.by_worker->count(worker) == 0) return {};
  return PointsOf(series.by_worker->at(worker));
}

const RunWindow kRun = {TimeAt(0), TimeAt(10)};

TEST(WorkerTimelines, HaveEveryKeyOfTheSpecificationInOrder) {
  std::vector<std::string> keys;
  for (const TimelinesByWorker& series : DrawWorkerTimelines({}, {}, {}, kRun).series) keys.emplace_back(series.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"worker_memory",
                                            "worker_anonymous_memory",
                                            "worker_memory_limit",
                                            "worker_cores",
                                            "worker_active_tasks",
                                            "worker_executing",
                                            "worker_nbytes",
                                            "worker_occupancy",
                                            "worker_last_seen",
                                            "worker_cpu",
                                            "worker_spilled_bytes",
                                            "worker_managed_bytes",
                                            "worker_network_read_bps",
                                            "worker_network_write_bps",
                                            "worker_disk_read_bps",
                                            "worker_disk_write_bps",
                                            "worker_event_loop_interval",
                                            "worker_gil_contention",
                                            "worker_open_chunks",
                                            "worker_fds",
                                            "worker_threads"}));
}

TEST(WorkerTimelines, CountWorkersFromTheRunsStart) {
  const std::vector<WorkerLife> workers = {Life(0, 1, 10, 2), Life(1, 2, 4, 2), Life(2, 4, 5, 2), Life(3, 10, 10, 2)};
  const WorkerTimelines timelines = DrawWorkerTimelines(
      workers, {}, {TimelineProcess(1), TimelineProcess(2), TimelineProcess(3), TimelineProcess(4)}, kRun);
  EXPECT_EQ(PointsOf(timelines.worker_counts), (Points{{0, 0}, {1, 1}, {2, 2}, {5, 1}, {10, 0}}));
  EXPECT_EQ(PointsOf(timelines, "worker_cores", "node:2"), (Points{{2, 2}, {4, 0}}));
  EXPECT_TRUE(PointsOf(timelines, "worker_cores", "node:4").empty());
}

TEST(WorkerTimelines, GiveSamplesOnChange) {
  ProcessRow process = TimelineProcess(
      7, {TimelineSample(1, 100, 0.5, 4), TimelineSample(2, 100, 1.5, 4), TimelineSample(4, 300, 5.5, 4)});
  process.memory_limit_bytes = 900;
  process.samples[2].memory_limit_bytes = 800;
  const WorkerTimelines timelines = DrawWorkerTimelines({Life(0, 0, 10, 2)}, {}, {process}, kRun);
  EXPECT_EQ(PointsOf(timelines, "worker_memory", "node:7"), (Points{{1, 100}, {4, 300}}));
  EXPECT_EQ(PointsOf(timelines, "worker_memory_limit", "node:7"), (Points{{0, 900}, {4, 800}}));
  EXPECT_EQ(PointsOf(timelines, "worker_threads", "node:7"), (Points{{1, 4}}));
  EXPECT_EQ(PointsOf(timelines, "worker_cpu", "node:7"), (Points{{2, 1}, {4, 2}}));
  EXPECT_EQ(PointsOf(timelines, "worker_last_seen", "node:7"), (Points{{1, 1}, {2, 2}, {4, 4}}));
}

TEST(WorkerTimelines, CountOpenChunksFromTheirIntervals) {
  AttemptRow lost = TimelineAttempt(0, 6, 6);
  lost.duration_ns = AttemptRow::kUnknown;
  lost.status = AttemptState::kLost;
  ProcessRow process = TimelineProcess(7);
  process.last_ns = TimeAt(9);
  const WorkerTimelines timelines = DrawWorkerTimelines(
      {Life(0, 0, 9, 2)}, {TimelineAttempt(0, 1, 3), TimelineAttempt(0, 2, 5), TimelineAttempt(0, 3, 4), lost},
      {process}, kRun);
  EXPECT_EQ(PointsOf(timelines, "worker_open_chunks", "node:7"),
            (Points{{0, 0}, {1, 1}, {2, 2}, {4, 1}, {5, 0}, {6, 1}, {9, 0}}));
}

TEST(WorkerTimelines, KeepTheIntegralOfOpenChunksWhenThereAreTooManyChanges) {
  std::vector<AttemptRow> attempts;
  double busy = 0;
  for (int i = 0; i < 6000; ++i) {
    const double start = i * 1.5e-3;
    const double length = 0.5e-3 + 0.2e-3 * (i % 11);
    attempts.push_back(TimelineAttempt(0, start, start + length));
    busy += length;
  }
  const WorkerTimelines timelines = DrawWorkerTimelines({Life(0, 0, 10, 2)}, attempts, {TimelineProcess(7)}, kRun);
  const Points points = PointsOf(timelines, "worker_open_chunks", "node:7");
  EXPECT_LE(points.size(), 2001u);
  EXPECT_GT(points.size(), 1000u);
  double integral = 0;
  for (size_t i = 0; i + 1 < points.size(); ++i) integral += points[i].second * (points[i + 1].first - points[i].first);
  EXPECT_NEAR(integral, busy, 1e-6);
  EXPECT_EQ(points.back().second, 0);
}

TEST(WorkerTimelines, ContinueTheLineOfAWorkerWhosePidCameBack) {
  const WorkerTimelines timelines =
      DrawWorkerTimelines({Life(0, 6, 8, 1), Life(1, 1, 3, 4)}, {}, {TimelineProcess(7), TimelineProcess(7)}, kRun);
  EXPECT_EQ(PointsOf(timelines, "worker_cores", "node:7"), (Points{{1, 4}, {3, 0}, {6, 1}, {8, 0}}));
}

TEST(WorkerTimelines, AreNotMeasuredWithoutTheirSource) {
  const WorkerTimelines timelines =
      DrawWorkerTimelines({Life(0, 0, 10, 2)}, {TimelineAttempt(0, 1, 2)}, {TimelineProcess(7)}, kRun);
  for (const TimelinesByWorker& series : timelines.series) {
    const bool measured = series.key == "worker_cores" || series.key == "worker_open_chunks";
    EXPECT_EQ(series.by_worker.has_value(), measured) << series.key;
  }
}

// Takes minutes if the line is sorted again for each of its processes.
TEST(WorkerTimelines, APidMayComeBackManyTimes) {
  constexpr uint32_t kMany = 50'000;
  std::vector<WorkerLife> lives;
  std::vector<ProcessRow> processes;
  for (uint32_t i = 0; i < kMany; ++i) {
    lives.push_back(Life(i, 2 * (kMany - i), 2 * (kMany - i) + 1, i + 1));
    processes.push_back(TimelineProcess(7));
  }
  const RunWindow run = {TimeAt(0), TimeAt(3 * kMany)};
  const Points points = PointsOf(DrawWorkerTimelines(lives, {}, processes, run), "worker_cores", "node:7");
  ASSERT_EQ(points.size(), 2u * kMany);
  EXPECT_EQ(points.front(), std::pair(2.0, double{kMany}));
  EXPECT_EQ(points.back(), std::pair(2.0 * kMany + 1, 0.0));
}

}  // namespace
}  // namespace crema
