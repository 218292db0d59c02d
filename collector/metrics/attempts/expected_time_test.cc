#include <gtest/gtest.h>

#include <vector>

#include "collector/metrics/attempts/stragglers.h"

namespace crema {
namespace {

AttemptRow ChunkOfInput(uint32_t process, uint32_t input, int64_t events, double seconds) {
  AttemptRow attempt;
  attempt.process = process;
  attempt.input = input;
  attempt.events = events;
  attempt.duration_ns = static_cast<int64_t>(seconds * 1e9);
  attempt.is_result = true;
  return attempt;
}

/// Two processes and two files of one dataset; 1 s and 1 ms an event, process 1 at `factor` times that.
std::vector<AttemptRow> ChunksWithSlowProcess(double factor) {
  std::vector<AttemptRow> attempts;
  for (int i = 0; i < 40; ++i) {
    const int64_t events = 1000 + 100 * (i % 7);
    const uint32_t process = i % 4 == 0 ? 1 : 0;
    const double seconds = 1 + 1e-3 * static_cast<double>(events);
    attempts.push_back(
        ChunkOfInput(process, static_cast<uint32_t>(i % 2), events, seconds * (process == 1 ? factor : 1)));
  }
  return attempts;
}

const std::vector<uint32_t> kOneDataset = {0, 0};
const std::vector<uint32_t> kFileOfInput = {0, 1};

TEST(ExpectedTime, IsWhatWasTakenWhereNobodyIsSlow) {
  const std::vector<AttemptRow> attempts = ChunksWithSlowProcess(1);
  const auto fits = FindStragglers(attempts, {}, kOneDataset).datasets;
  const ExpectedTimes times = FindExpectedTimes(attempts, kOneDataset, kFileOfInput, fits);
  ASSERT_EQ(times.by_process.size(), 2u);
  for (const ExpectedTime& time : times.by_process) {
    EXPECT_NEAR(time.duration_seconds, time.predicted_seconds, 1e-6);
  }
}

TEST(ExpectedTime, TellsTheSlowWorkerFromTheOthers) {
  const std::vector<AttemptRow> attempts = ChunksWithSlowProcess(3);
  const auto fits = FindStragglers(attempts, {}, kOneDataset).datasets;
  const std::vector<ExpectedTime> times = FindExpectedTimes(attempts, kOneDataset, kFileOfInput, fits).by_process;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].group, 1u);
  EXPECT_EQ(times[0].attempts, 10);
  EXPECT_NEAR(times[0].duration_seconds / times[0].predicted_seconds, 3, 0.05);
  EXPECT_NEAR(times[1].duration_seconds / times[1].predicted_seconds, 1, 0.05);
}

TEST(ExpectedTime, SumsByFile) {
  const std::vector<AttemptRow> attempts = ChunksWithSlowProcess(3);  // the slow worker reads file 0 only
  const auto fits = FindStragglers(attempts, {}, kOneDataset).datasets;
  const std::vector<ExpectedTime> times = FindExpectedTimes(attempts, kOneDataset, kFileOfInput, fits).by_file;
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].group, 0u);
  EXPECT_NEAR(times[0].duration_seconds / times[0].predicted_seconds, 2, 0.05);
}

TEST(ExpectedTime, LeavesOutWhatNoFitJudges) {
  std::vector<AttemptRow> attempts = ChunksWithSlowProcess(1);
  attempts.push_back(ChunkOfInput(2, 0, AttemptRow::kUnknown, 100));
  attempts.push_back(ChunkOfInput(3, 2, 1000, 100));  // alone in its dataset
  AttemptRow failed = ChunkOfInput(4, 0, 1000, 100);
  failed.status = AttemptState::kFailed;
  attempts.push_back(failed);
  const std::vector<uint32_t> datasets = {0, 0, 1};
  const auto fits = FindStragglers(attempts, {}, datasets).datasets;
  EXPECT_EQ(FindExpectedTimes(attempts, datasets, kFileOfInput, fits).by_process.size(), 2u);
}

}  // namespace
}  // namespace crema
