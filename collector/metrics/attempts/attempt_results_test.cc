#include "collector/metrics/attempts/attempt_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace crema {
namespace {

using ::testing::ElementsAre;

AttemptRow Attempt(uint64_t chunk, int64_t start_ns, AttemptStatus status, int64_t duration_ns = 10) {
  AttemptRow row;
  row.chunk_id = chunk;
  row.start_ns = start_ns;
  row.status = status;
  if (status == AttemptStatus::kOk || status == AttemptStatus::kFailed) row.duration_ns = duration_ns;
  return row;
}

std::vector<bool> Results(std::vector<AttemptRow> attempts) {
  MarkResults(attempts);
  std::vector<bool> results;
  for (const AttemptRow& attempt : attempts) results.push_back(attempt.is_result);
  return results;
}

AttemptCounts Count(std::vector<AttemptRow> attempts) { return MarkResults(attempts); }

TEST(MarkResults, TakesTheOkAttemptThatStoppedLast) {
  EXPECT_THAT(Results({Attempt(1, 0, AttemptStatus::kOk, 500), Attempt(1, 100, AttemptStatus::kOk, 10),
                       Attempt(1, 900, AttemptStatus::kFailed), Attempt(2, 0, AttemptStatus::kOk)}),
              ElementsAre(true, false, false, true));
}

TEST(MarkResults, TakesExactlyOneOfSeveralThatStoppedTogether) {
  EXPECT_THAT(Results({Attempt(1, 0, AttemptStatus::kOk), Attempt(1, 0, AttemptStatus::kOk)}),
              ElementsAre(false, true));
}

TEST(MarkResults, FindsNoneAmongFailedLostAndOpenAttempts) {
  EXPECT_THAT(Results({Attempt(1, 0, AttemptStatus::kFailed), Attempt(1, 1, AttemptStatus::kLost),
                       Attempt(1, 2, AttemptStatus::kOpen)}),
              ElementsAre(false, false, false));
}

TEST(MarkResults, CountsAChunkThatFailedAndThenWorkedAsRetried) {
  const AttemptCounts counts = Count({Attempt(1, 0, AttemptStatus::kFailed), Attempt(1, 100, AttemptStatus::kOk)});
  EXPECT_EQ(counts.num_chunks, 1);
  EXPECT_EQ(counts.num_attempts, 2);
  EXPECT_EQ(counts.num_failed_attempts, 1);
  EXPECT_EQ(counts.num_retried_chunks, 1);
  EXPECT_EQ(counts.num_recomputed_chunks, 0);
  EXPECT_EQ(counts.num_unfinished_chunks, 0);
}

TEST(MarkResults, CountsALostAttemptThatWasTriedAgainAsRetried) {
  const AttemptCounts counts = Count({Attempt(1, 100, AttemptStatus::kOk), Attempt(1, 0, AttemptStatus::kLost)});
  EXPECT_EQ(counts.num_lost_attempts, 1);
  EXPECT_EQ(counts.num_retried_chunks, 1);
}

TEST(MarkResults, DoesNotCallAFailureAfterTheResultARetry) {
  const AttemptCounts counts = Count({Attempt(1, 0, AttemptStatus::kOk), Attempt(1, 100, AttemptStatus::kFailed)});
  EXPECT_EQ(counts.num_chunks, 1);
  EXPECT_EQ(counts.num_retried_chunks, 0);
}

TEST(MarkResults, CountsSeveralOkAttemptsAsRecomputedAndNoResultAsUnfinished) {
  const AttemptCounts counts = Count({Attempt(1, 0, AttemptStatus::kOk), Attempt(1, 100, AttemptStatus::kOk),
                                      Attempt(2, 0, AttemptStatus::kFailed), Attempt(3, 0, AttemptStatus::kLost),
                                      Attempt(4, 0, AttemptStatus::kOpen)});
  EXPECT_EQ(counts.num_chunks, 1);
  EXPECT_EQ(counts.num_attempts, 5);
  EXPECT_EQ(counts.num_recomputed_chunks, 1);
  EXPECT_EQ(counts.num_unfinished_chunks, 3);
  EXPECT_EQ(counts.num_open_attempts, 1);
}

}  // namespace
}  // namespace crema
