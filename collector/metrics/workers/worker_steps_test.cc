#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "collector/metrics/record_lines_fixture.h"
#include "collector/metrics/workers/worker_life.h"

namespace crema {
namespace {

ProcessSample WorkerSample(double seconds, std::optional<int64_t> rss = std::nullopt,
                           std::optional<double> cpu = std::nullopt) {
  ProcessSample sample;
  sample.time_ns = Ns(seconds);
  sample.rss_bytes = rss;
  if (cpu.has_value()) sample.cpu_ns = Ns(*cpu);
  return sample;
}

// Workers in a run of 0 to 10 s.
struct Workers {
  std::vector<WorkerLife> lives;
  std::vector<ProcessRow> processes;

  Workers& Add(double start, double stop, double cores, std::vector<ProcessSample> samples = {},
               std::optional<int64_t> limit = std::nullopt) {
    lives.push_back({static_cast<uint32_t>(processes.size()), Ns(start), Ns(stop), cores, CoresSource::kDeclared});
    processes.emplace_back();
    processes.back().samples = std::move(samples);
    processes.back().memory_limit_bytes = limit;
    return *this;
  }
  MetricSet Measure() const {
    MetricSet metrics;
    MeasureWorkers(lives, processes, {0, Ns(10)}, &metrics);
    return metrics;
  }
};

TEST(WorkerSteps, IntegrateCountsAndCoresAsSteps) {
  const MetricSet steps = Workers().Add(0, 10, 2).Add(2, 6, 4).Add(5, 7, 1).Measure();
  EXPECT_DOUBLE_EQ(*steps.Number("avg_workers"), 1.6);
  EXPECT_EQ(steps.Number("peak_workers"), 3);
  EXPECT_DOUBLE_EQ(*steps.Number("core_seconds"), 20 + 16 + 2);
  EXPECT_DOUBLE_EQ(*steps.Number("total_cores"), 3.8);
  EXPECT_EQ(steps.Number("peak_cores"), 7);
  EXPECT_DOUBLE_EQ(*steps.Number("cores_per_worker"), 38.0 / 16);
}

TEST(WorkerSteps, CountPartsOfCores) {
  const MetricSet steps = Workers().Add(0, 10, 0.5).Add(0, 4, 1.5).Measure();
  EXPECT_DOUBLE_EQ(*steps.Number("core_seconds"), 5 + 6);
  EXPECT_DOUBLE_EQ(*steps.Number("peak_cores"), 2);
  EXPECT_DOUBLE_EQ(*steps.Number("total_cores"), 1.1);
}

TEST(WorkerSteps, TakeTheKernelsPeakWhereNoSampleShowsIt) {
  Workers workers;
  workers.Add(0, 10, 1, {WorkerSample(1, 300), WorkerSample(2, 200)}, 1000).Add(0, 10, 1);
  workers.processes[0].counts.rss_peak_bytes = 950;
  EXPECT_EQ(workers.Measure().Number("peak_memory_bytes"), 950);
  EXPECT_DOUBLE_EQ(*workers.Measure().Number("memory_utilization_max"), 0.95);
  EXPECT_DOUBLE_EQ(*workers.Measure().Number("memory_utilization_min"), 0.2);
  workers.processes[1].counts.rss_peak_bytes = 2000;  // it was never sampled
  EXPECT_EQ(workers.Measure().Number("peak_memory_bytes"), 2000);
  workers.processes[0].counts.rss_peak_bytes = 10;  // less than a sample: not of the whole process
  workers.processes.pop_back();
  workers.lives.pop_back();
  EXPECT_EQ(workers.Measure().Number("peak_memory_bytes"), 300);
}

TEST(WorkerSteps, DoNotCountAWorkerThatLeavesAsAnotherJoinsTwice) {
  const MetricSet steps = Workers().Add(0, 5, 2).Add(5, 10, 2).Measure();
  EXPECT_EQ(steps.Number("peak_workers"), 1);
  EXPECT_EQ(steps.Number("peak_cores"), 2);
}

TEST(WorkerSteps, LeaveOutAWorkerOutsideTheRun) {
  const MetricSet steps = Workers().Add(0, 10, 2).Add(10, 10, 8, {WorkerSample(10, 1 << 30)}).Measure();
  EXPECT_EQ(steps.Number("peak_workers"), 1);
  EXPECT_EQ(steps.Number("peak_cores"), 2);
  EXPECT_EQ(steps.Number("peak_memory_bytes"), std::nullopt);
}

TEST(WorkerSteps, AverageTheSampledCountOverTheInstantsOfSamples) {
  const MetricSet steps = Workers()
                              .Add(0, 10, 1, {WorkerSample(1), WorkerSample(2), WorkerSample(3), WorkerSample(10)})
                              .Add(2, 3, 1, {WorkerSample(2), WorkerSample(3)})
                              .Measure();
  EXPECT_DOUBLE_EQ(*steps.Number("mean_sampled_workers"), (1 + 2 + 2 + 1) / 4.0);
}

TEST(WorkerSteps, HoldTheLastMemorySampleUntilTheNextOrTheEnd) {
  const MetricSet steps =
      Workers().Add(0, 8, 1, {WorkerSample(0, 100), WorkerSample(2, 300), WorkerSample(6, 50)}).Measure();
  EXPECT_EQ(steps.Number("peak_memory_bytes"), 300);
  EXPECT_EQ(steps.Number("peak_total_memory_bytes"), 300);
  EXPECT_DOUBLE_EQ(*steps.Number("avg_memory_per_worker_bytes"), (2 * 100 + 4 * 300 + 2 * 50) / 8.0);
}

TEST(WorkerSteps, AverageMemoryOverTheTimeSinceAWorkersFirstSample) {
  const MetricSet steps = Workers().Add(0, 10, 1, {WorkerSample(4, 100), WorkerSample(7, 200)}).Add(0, 10, 1).Measure();
  EXPECT_DOUBLE_EQ(*steps.Number("avg_memory_per_worker_bytes"), (3 * 100 + 3 * 200) / 6.0);
}

TEST(WorkerSteps, SumMemoryOverLiveWorkersAtOneInstant) {
  Workers workers;
  workers.Add(0, 4, 1, {WorkerSample(0, 500), WorkerSample(3, 100)});
  workers.Add(2, 10, 1, {WorkerSample(3, 450), WorkerSample(5, 600)});  // rises as the first one falls
  const MetricSet steps = workers.Measure();
  EXPECT_EQ(steps.Number("peak_memory_bytes"), 600);
  EXPECT_EQ(steps.Number("peak_total_memory_bytes"), 600);  // 500, then 100 + 450, then the first one is gone
}

TEST(WorkerSteps, CountASampleTakenAsTheWorkerEnds) {
  const MetricSet steps =
      Workers().Add(0, 4, 1, {WorkerSample(1, 100), WorkerSample(4, 700), WorkerSample(5, 900)}).Measure();
  EXPECT_EQ(steps.Number("peak_memory_bytes"), 700);
  EXPECT_EQ(steps.Number("peak_total_memory_bytes"), 700);
}

TEST(WorkerSteps, MeasureMemoryUtilizationOverWorkersWithALimit) {
  Workers workers;
  workers.Add(0, 10, 1, {WorkerSample(0, 200), WorkerSample(5, 800)}, 1000);
  workers.Add(0, 10, 1, {WorkerSample(0, 5000)});
  workers.Add(0, 5, 1, {WorkerSample(0, 1000)}, 4000);
  const MetricSet steps = workers.Measure();
  EXPECT_DOUBLE_EQ(*steps.Number("memory_utilization_avg"), (5 * 200 + 5 * 800 + 5 * 1000) / (10 * 1000 + 5 * 4000.0));
  EXPECT_DOUBLE_EQ(*steps.Number("memory_utilization_min"), 0.2);
  EXPECT_DOUBLE_EQ(*steps.Number("memory_utilization_max"), 0.8);
}

TEST(WorkerSteps, FollowAMemoryLimitThatChanges) {
  std::vector<ProcessSample> samples = {WorkerSample(0, 500), WorkerSample(6, 500)};
  samples[1].memory_limit_bytes = 2000;
  const MetricSet steps = Workers().Add(0, 10, 1, samples, 1000).Measure();
  EXPECT_DOUBLE_EQ(*steps.Number("memory_utilization_avg"), 5000 / (6 * 1000 + 4 * 2000.0));
  EXPECT_DOUBLE_EQ(*steps.Number("memory_utilization_min"), 0.25);
  EXPECT_DOUBLE_EQ(*steps.Number("memory_utilization_max"), 0.5);
}

TEST(WorkerSteps, TakeCpuUtilizationBetweenFirstAndLastSample) {
  Workers workers;
  workers.Add(0, 10, 2,
              {WorkerSample(1, std::nullopt, 3.0), WorkerSample(2, 100), WorkerSample(9, std::nullopt, 11.0)});
  workers.Add(0, 10, 4, {WorkerSample(5, std::nullopt, 100.0)});  // one reading tells no rate
  EXPECT_DOUBLE_EQ(*workers.Measure().Number("worker_cpu_utilization_avg"), 8.0 / 16);
}

TEST(WorkerSteps, KnowNothingOfSamplesWithoutSamples) {
  const MetricSet steps = Workers().Add(0, 10, 1, {}, 1000).Measure();
  EXPECT_EQ(steps.Number("mean_sampled_workers"), std::nullopt);
  EXPECT_EQ(steps.Number("peak_memory_bytes"), std::nullopt);
  EXPECT_EQ(steps.Number("peak_total_memory_bytes"), std::nullopt);
  EXPECT_EQ(steps.Number("avg_memory_per_worker_bytes"), std::nullopt);
  EXPECT_EQ(steps.Number("memory_utilization_avg"), std::nullopt);
  EXPECT_EQ(steps.Number("memory_utilization_min"), std::nullopt);
  EXPECT_EQ(steps.Number("worker_cpu_utilization_avg"), std::nullopt);
}

TEST(WorkerSteps, OfNoWorkersAreZeroAndRatiosAreNotMeasured) {
  const MetricSet steps = Workers().Measure();
  EXPECT_EQ(steps.Number("avg_workers"), 0);
  EXPECT_EQ(steps.Number("peak_workers"), 0);
  EXPECT_EQ(steps.Number("core_seconds"), 0);
  EXPECT_EQ(steps.Number("cores_per_worker"), std::nullopt);
  MetricSet outside;
  MeasureWorkers({}, {}, {5, 5}, &outside);
  EXPECT_EQ(outside.Number("avg_workers"), std::nullopt);
}

}  // namespace
}  // namespace crema
