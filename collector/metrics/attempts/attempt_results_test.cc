#include "collector/metrics/attempts/attempt_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace crema
