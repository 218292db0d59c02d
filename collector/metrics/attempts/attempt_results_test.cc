#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {
namespace {

using ::testing::ElementsAre;

AttemptRow Attempt(uint64_t chunk, int64_t start_ns, AttemptState status, int64_t duration_ns = 10) {
  AttemptRow row;
  row.chunk_id = chunk;
  row.start_ns = start_ns;
  row.status = status;
  if (status == AttemptState::kOk || status == AttemptState::kFailed) row.duration_ns = duration_ns;
  return row;
}

std::vector<bool> Results(AttemptRows attempts) {
  MarkResults(attempts);
  std::vector<bool> results;
  for (const AttemptRow& attempt : attempts) results.push_back(attempt.is_result);
  return results;
}

AttemptCounts Count(AttemptRows attempts) { return MarkResults(attempts); }

TEST(MarkResults, TakesTheOkAttemptThatStoppedLast) {
  EXPECT_THAT(Results({Attempt(1, 0, AttemptState::kOk, 500), Attempt(1, 100, AttemptState::kOk, 10),
                       Attempt(1, 900, AttemptState::kFailed), Attempt(2, 0, AttemptState::kOk)}),
              ElementsAre(true, false, false, true));
}

TEST(MarkResults, TakesExactlyOneOfSeveralThatStoppedTogether) {
  EXPECT_THAT(Results({Attempt(1, 0, AttemptState::kOk), Attempt(1, 0, AttemptState::kOk)}), ElementsAre(false, true));
}

TEST(MarkResults, FindsNoneAmongFailedLostAndOpenAttempts) {
  EXPECT_THAT(Results({Attempt(1, 0, AttemptState::kFailed), Attempt(1, 1, AttemptState::kLost),
                       Attempt(1, 2, AttemptState::kRunning)}),
              ElementsAre(false, false, false));
}

TEST(MarkResults, CountsAChunkThatFailedAndThenWorkedAsRetried) {
  const AttemptCounts counts = Count({Attempt(1, 0, AttemptState::kFailed), Attempt(1, 100, AttemptState::kOk)});
  EXPECT_EQ(counts.num_chunks, 1);
  EXPECT_EQ(counts.num_attempts, 2);
  EXPECT_EQ(counts.num_failed_attempts, 1);
  EXPECT_EQ(counts.num_retried_chunks, 1);
  EXPECT_EQ(counts.num_recomputed_chunks, 0);
  EXPECT_EQ(counts.num_unfinished_chunks, 0);
}

TEST(MarkResults, CountsALostAttemptThatWasTriedAgainAsRetried) {
  const AttemptCounts counts = Count({Attempt(1, 100, AttemptState::kOk), Attempt(1, 0, AttemptState::kLost)});
  EXPECT_EQ(counts.num_lost_attempts, 1);
  EXPECT_EQ(counts.num_retried_chunks, 1);
}

TEST(MarkResults, DoesNotCallAFailureAfterTheResultARetry) {
  const AttemptCounts counts = Count({Attempt(1, 0, AttemptState::kOk), Attempt(1, 100, AttemptState::kFailed)});
  EXPECT_EQ(counts.num_chunks, 1);
  EXPECT_EQ(counts.num_retried_chunks, 0);
}

TEST(MarkResults, CountsSeveralOkAttemptsAsRecomputedAndNoResultAsUnfinished) {
  const AttemptCounts counts =
      Count({Attempt(1, 0, AttemptState::kOk), Attempt(1, 100, AttemptState::kOk), Attempt(2, 0, AttemptState::kFailed),
             Attempt(3, 0, AttemptState::kLost), Attempt(4, 0, AttemptState::kRunning)});
  EXPECT_EQ(counts.num_chunks, 1);
  EXPECT_EQ(counts.num_attempts, 5);
  EXPECT_EQ(counts.num_recomputed_chunks, 1);
  EXPECT_EQ(counts.num_unfinished_chunks, 3);
  EXPECT_EQ(counts.num_open_attempts, 1);
}

TEST(MarkResults, SaysTheSameOnAnyNumberOfThreads) {
  std::mt19937_64 random(1);
  std::vector<AttemptRow> rows;
  std::map<uint64_t, std::vector<size_t>> attempts;
  constexpr AttemptState kStates[] = {AttemptState::kOk,      AttemptState::kOk,   AttemptState::kOk,
                                      AttemptState::kFailed,  AttemptState::kLost, AttemptState::kUnrecorded,
                                      AttemptState::kRunning, AttemptState::kOk};
  for (size_t i = 0; i < 400'000; ++i) {
    const bool is_again = i > 0 && random() % 20 == 0;
    const uint64_t chunk = is_again ? rows[random() % i].chunk_id : random();
    attempts[chunk].push_back(i);
    rows.push_back(Attempt(chunk, static_cast<int64_t>(random() % 1000), kStates[random() % std::size(kStates)]));
  }
  std::vector<size_t> expected;
  for (const auto& [chunk, of_chunk] : attempts) {
    if (of_chunk.size() > 1) expected.insert(expected.end(), of_chunk.begin(), of_chunk.end());
  }
  std::sort(expected.begin(), expected.end());
  AttemptRows alone = rows;
  const AttemptCounts counts = MarkResults(alone);
  int64_t results = 0;
  for (const AttemptRow& attempt : alone) results += attempt.is_result;
  EXPECT_EQ(counts.num_chunks, results);
  EXPECT_EQ(counts.num_attempts, 400'000);
  for (const size_t threads : {1, 2, 3, 16}) {
    AttemptRows marked = rows;
    std::vector<size_t> repeated;
    const AttemptCounts same = MarkResults(marked, {threads}, &repeated);
    EXPECT_EQ(repeated, expected) << threads;
    EXPECT_EQ(same.num_chunks, counts.num_chunks);
    EXPECT_EQ(same.num_failed_attempts, counts.num_failed_attempts);
    EXPECT_EQ(same.num_lost_attempts, counts.num_lost_attempts);
    EXPECT_EQ(same.num_open_attempts, counts.num_open_attempts);
    EXPECT_EQ(same.num_unrecorded_attempts, counts.num_unrecorded_attempts);
    EXPECT_EQ(same.num_retried_chunks, counts.num_retried_chunks);
    EXPECT_EQ(same.num_recomputed_chunks, counts.num_recomputed_chunks);
    EXPECT_EQ(same.num_unfinished_chunks, counts.num_unfinished_chunks);
    size_t different = 0;
    for (size_t i = 0; i < rows.size(); ++i) different += marked[i].is_result != alone[i].is_result;
    EXPECT_EQ(different, 0u) << threads;
  }
}

}  // namespace
}  // namespace crema
