#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

constexpr int kWorkers = 8;

/// Eight workers for 400 s, chunks of some 2 s of three datasets in turn, with the noise of a shared cluster.
struct SimulatedRun {
  std::vector<AttemptRow> attempts;
  std::vector<uint32_t> dataset_of_input;
  std::vector<uint32_t> file_of_input;
  std::vector<uint32_t> host_of_process;

  /// `factor(worker, file, seconds)`: how many times as long a chunk takes that begins then.
  template <class Factor>
  SimulatedRun(uint32_t seed, Factor factor) {
    std::mt19937 random(seed);
    std::lognormal_distribution<double> noise(0, 0.15);
    std::uniform_int_distribution<int> events(8000, 12000);
    std::bernoulli_distribution is_outlier(0.01);
    for (uint32_t file = 0; file < 60; ++file) {
      dataset_of_input.push_back(file % 3);
      file_of_input.push_back(file);
    }
    uint32_t next = 0;
    for (uint32_t worker = 0; worker < kWorkers; ++worker) {
      host_of_process.push_back(worker / 4);
      double now = 0.1 * worker;
      while (now < 400) {
        AttemptRow attempt;
        attempt.input = next++ % 60;
        attempt.process = worker;
        attempt.chunk_id = next;
        attempt.start_ns = static_cast<int64_t>(now * 1e9);
        attempt.events = events(random);
        const double expected = 0.3 + (1 + attempt.input % 3) * 1e-4 * static_cast<double>(attempt.events);
        const double seconds =
            expected * noise(random) * (is_outlier(random) ? 4 : 1) * factor(worker, attempt.input, now);
        attempt.duration_ns = static_cast<int64_t>(seconds * 1e9);
        now += seconds + 0.01;
        attempts.push_back(attempt);
      }
    }
  }

  std::vector<SlowPeriod> Find() const {
    const StragglerFindings findings = FindStragglers(attempts, {}, dataset_of_input);
    return FindSlowPeriods(attempts, OrderByStart(attempts), {dataset_of_input, file_of_input, host_of_process},
                           findings.datasets);
  }
};

TEST(SlowPeriods, OfOneWorkerAreFoundWithBeginAndEnd) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    const SimulatedRun run(
        seed, [](uint32_t worker, uint32_t, double now) { return worker == 5 && now >= 120 && now < 214 ? 3.0 : 1.0; });
    const std::vector<SlowPeriod> periods = run.Find();
    ASSERT_EQ(periods.size(), 1u);
    EXPECT_EQ(ToString(periods[0].of), "worker");
    EXPECT_EQ(periods[0].group, 5u);
    EXPECT_NEAR(static_cast<double>(periods[0].start_ns) / 1e9, 120, 10);
    EXPECT_NEAR(static_cast<double>(periods[0].stop_ns) / 1e9, 214, 15);
    EXPECT_GT(periods[0].duration_seconds, 2 * periods[0].predicted_seconds);
  }
}

TEST(SlowPeriods, OfAHostAndOfEverythingAreNamedSo) {
  const SimulatedRun host(
      1, [](uint32_t worker, uint32_t, double now) { return worker < 4 && now >= 100 && now < 150 ? 2.5 : 1.0; });
  ASSERT_EQ(host.Find().size(), 1u);
  EXPECT_EQ(ToString(host.Find()[0].of), "host");
  EXPECT_EQ(host.Find()[0].group, 0u);
  const SimulatedRun all(2, [](uint32_t, uint32_t, double now) { return now >= 300 && now < 340 ? 3.0 : 1.0; });
  ASSERT_EQ(all.Find().size(), 1u);
  EXPECT_EQ(ToString(all.Find()[0].of), "run");
}

TEST(SlowPeriods, AreNotFoundInHealthyRuns) {
  for (uint32_t seed = 100; seed < 120; ++seed) {
    EXPECT_TRUE(SimulatedRun(seed, [](uint32_t, uint32_t, double) { return 1.0; }).Find().empty()) << seed;
  }
}

TEST(SlowPeriods, AreNotWhatIsSlowAllTheTime) {
  const SimulatedRun one_worker(3, [](uint32_t worker, uint32_t, double) { return worker == 2 ? 3.0 : 1.0; });
  EXPECT_TRUE(one_worker.Find().empty());
  const SimulatedRun one_file(4, [](uint32_t, uint32_t file, double) { return file == 7 ? 3.0 : 1.0; });
  EXPECT_TRUE(one_file.Find().empty());
}

TEST(SlowPeriods, DoNotDependOnTheOrderOfTheAttempts) {
  SimulatedRun run(5, [](uint32_t worker, uint32_t, double now) { return worker == 1 && now > 300 ? 3.0 : 1.0; });
  const std::vector<SlowPeriod> first = run.Find();
  std::mt19937 random(9);
  std::shuffle(run.attempts.begin(), run.attempts.end(), random);
  const std::vector<SlowPeriod> again = run.Find();
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(first[0].start_ns, again[0].start_ns);
  EXPECT_EQ(first[0].stop_ns, again[0].stop_ns);
  EXPECT_EQ(first[0].attempts, again[0].attempts);
}

}  // namespace
}  // namespace crema
