#include "collector/metrics/attempts/stragglers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "collector/metrics/record_lines_fixture.h"

namespace crema {
namespace {

AttemptRow Chunk(uint32_t input, int64_t events, double seconds) {
  static int64_t start = 0;
  AttemptRow attempt;
  attempt.input = input;
  attempt.start_ns = ++start;
  attempt.chunk_id = static_cast<uint64_t>(start);
  attempt.events = events;
  attempt.duration_ns = Ns(seconds);
  attempt.cpu_ns = Ns(0.8 * seconds);
  attempt.cpu_wait_ns = Ns(0.1 * seconds);
  attempt.is_result = true;
  return attempt;
}

// Chunks of different sizes that take 0.2 s and 0.1 ms an event, give or take 2 %.
std::vector<AttemptRow> OrdinaryChunks(int count, uint32_t input = 0) {
  std::vector<AttemptRow> attempts;
  for (int i = 0; i < count; ++i) {
    const int64_t events = 5000 + 1000 * (i % 7);
    const double seconds = (0.2 + 1e-4 * static_cast<double>(events)) * (1 + 0.01 * (i % 5 - 2));
    attempts.push_back(Chunk(input, events, seconds));
  }
  return attempts;
}

TEST(Stragglers, AreNoneAmongOrdinaryChunks) {
  const StragglerFindings findings = FindStragglers(OrdinaryChunks(100), {}, {0});
  EXPECT_EQ(findings.straggler_chunks, 0);
  EXPECT_EQ(findings.oversized_chunks, 0);
  ASSERT_EQ(findings.datasets.size(), 1u);
  EXPECT_NEAR(findings.datasets[0].fit.seconds_per_event, 1e-4, 5e-6);
}

TEST(Stragglers, TookOverTwiceWhatTheirSizeExplains) {
  std::vector<AttemptRow> attempts = OrdinaryChunks(100);
  attempts.push_back(Chunk(0, 5000, 2.1));    // 0.7 s predicted
  attempts.push_back(Chunk(0, 5000, 1.0));    // far out, but not twice the prediction
  attempts.push_back(Chunk(0, 30000, 3.3));   // long, but so is its list of events
  attempts.push_back(Chunk(0, 10000, 12.0));  // 1.2 s predicted
  const StragglerFindings findings = FindStragglers(attempts, {}, {0});
  EXPECT_EQ(findings.straggler_chunks, 2);
  ASSERT_EQ(findings.stragglers.size(), 2u);
  EXPECT_EQ(findings.stragglers[0].attempt, 103u);  // the largest excess first
  EXPECT_NEAR(findings.stragglers[0].predicted_seconds, 1.2, 0.03);
  EXPECT_EQ(findings.stragglers[1].attempt, 100u);
  EXPECT_NEAR(findings.stragglers[1].predicted_seconds, 0.7, 0.03);
}

TEST(Stragglers, StandOutsideTheSpreadOfTheirDataset) {
  std::vector<AttemptRow> attempts;
  for (int i = 0; i < 40; ++i) attempts.push_back(Chunk(0, 1000, 1 + 0.1 * (i % 20)));
  attempts.push_back(Chunk(0, 1000, 4.2));  // over twice the median of 1.9, within Q3 + 3 IQR = 5.4
  EXPECT_EQ(FindStragglers(attempts, {}, {0}).straggler_chunks, 0);
  attempts.back() = Chunk(0, 1000, 5.6);
  EXPECT_EQ(FindStragglers(attempts, {}, {0}).straggler_chunks, 1);
}

TEST(Stragglers, AChunkThatWasComputedTwiceCountsOnceForTheUsualSize) {
  std::vector<AttemptRow> attempts;
  for (uint32_t dataset = 0; dataset < 3; ++dataset) {
    for (int i = 0; i < 10; ++i) attempts.push_back(Chunk(dataset, 1000, 1));
    for (int i = 0; i < 12; ++i) attempts.push_back(Chunk(dataset, 9000, 9));
  }
  for (AttemptRow& attempt : attempts) attempt.is_result = true;
  EXPECT_EQ(FindStragglers(attempts, {}, {0, 1, 2}).oversized_chunks, 0);
  int repeats = 0;  // of the larger chunks of the last two datasets, all but three are computed again
  for (AttemptRow& attempt : attempts) {
    repeats = attempt.events == 9000 ? repeats + 1 : 0;
    if (attempt.input > 0 && repeats > 3) attempt.is_result = false;
  }
  const StragglerFindings findings = FindStragglers(attempts, {}, {0, 1, 2});
  EXPECT_EQ(findings.datasets[0].oversized, 0);
  EXPECT_EQ(findings.datasets[1].oversized, 3);
  EXPECT_EQ(findings.datasets[2].oversized, 3);
}

TEST(Stragglers, AreJudgedWithinTheirDataset) {
  std::vector<AttemptRow> attempts;
  for (uint32_t input = 0; input < 3; ++input) {  // two files of one dataset, and a dataset that is slow throughout
    for (const AttemptRow& chunk : OrdinaryChunks(20, input)) {
      attempts.push_back(chunk);
      if (input == 2) attempts.back().duration_ns *= 10;
    }
  }
  StragglerFindings findings = FindStragglers(attempts, {}, {4, 4, 1});
  EXPECT_EQ(findings.straggler_chunks, 0);
  ASSERT_EQ(findings.datasets.size(), 2u);
  EXPECT_EQ(findings.datasets[0].dataset, 1u);
  EXPECT_EQ(findings.datasets[1].dataset, 4u);
  EXPECT_EQ(findings.datasets[1].fit.points, 40);
  attempts[0].duration_ns *= 10;
  findings = FindStragglers(attempts, {}, {4, 4, 1});
  EXPECT_EQ(findings.straggler_chunks, 1);
  EXPECT_EQ(findings.datasets[0].stragglers, 0);
  EXPECT_EQ(findings.datasets[1].stragglers, 1);
}

TEST(Stragglers, NeedEightOkAttempts) {
  std::vector<AttemptRow> attempts = OrdinaryChunks(7);
  attempts[3].duration_ns *= 20;
  EXPECT_EQ(FindStragglers(attempts, {}, {0}).straggler_chunks, std::nullopt);
  AttemptRow failed = Chunk(0, 5000, 0.7);
  failed.status = AttemptState::kFailed;
  attempts.push_back(failed);
  EXPECT_EQ(FindStragglers(attempts, {}, {0}).straggler_chunks, std::nullopt);
  attempts.push_back(Chunk(0, 5000, 0.7));
  EXPECT_EQ(FindStragglers(attempts, {}, {0}).straggler_chunks, 1);
}

TEST(Stragglers, AreJudgedByTheMedianWhereNoEventsAreKnown) {
  std::vector<AttemptRow> attempts;
  for (int i = 0; i < 20; ++i) attempts.push_back(Chunk(0, AttemptRow::kUnknown, 1 + 0.01 * i));
  attempts.push_back(Chunk(0, AttemptRow::kUnknown, 3));
  const StragglerFindings findings = FindStragglers(attempts, {}, {0});
  ASSERT_EQ(findings.straggler_chunks, 1);
  EXPECT_DOUBLE_EQ(findings.stragglers[0].predicted_seconds, 1.1);
  EXPECT_EQ(findings.oversized_chunks, std::nullopt);
}

TEST(Stragglers, NameWhatTheExcessWasSpentOn) {
  std::vector<AttemptRow> attempts = OrdinaryChunks(40);
  const auto add = [&](double cpu, double wait) {
    attempts.push_back(Chunk(0, 5000, 7));
    attempts.back().cpu_ns = cpu < 0 ? AttemptRow::kUnknown : Ns(cpu);
    attempts.back().cpu_wait_ns = wait < 0 ? AttemptRow::kUnknown : Ns(wait);
    return attempts.size() - 1;
  };
  const size_t computing = add(6.5, 0.1);
  const size_t waiting = add(0.6, 5);
  const size_t blocked = add(0.6, 0.1);
  const size_t joined = add(0.6, 0.1);
  const size_t no_delay_known = add(0.6, -1);
  const size_t nothing_known = add(-1, -1);
  HelperTimes helper;
  helper.scope_ns = helper.union_ns = Ns(6);
  attempts[joined].helpers = 0;
  const StragglerFindings findings = FindStragglers(attempts, {helper}, {0});
  ASSERT_EQ(findings.stragglers.size(), 6u);
  const auto reason = [&](size_t attempt) {
    for (const Straggler& straggler : findings.stragglers) {
      if (straggler.attempt == attempt) return ToString(straggler.reason);
    }
    return std::string_view("no straggler");
  };
  EXPECT_EQ(reason(computing), "cpu");
  EXPECT_EQ(reason(waiting), "cpu_wait");
  EXPECT_EQ(reason(blocked), "blocked");
  EXPECT_EQ(reason(joined), "joined");
  EXPECT_EQ(reason(no_delay_known), "unknown");
  EXPECT_EQ(reason(nothing_known), "unknown");
}

TEST(Stragglers, BlameWhatGrewNotWhatIsLargest) {
  std::vector<AttemptRow> attempts = OrdinaryChunks(40);
  attempts.push_back(Chunk(0, 48000, 12));  // predicted: 5 s, 4 of them CPU
  attempts.back().cpu_ns = Ns(6);
  attempts.back().cpu_wait_ns = Ns(0.5);
  const StragglerFindings findings = FindStragglers(attempts, {}, {0});
  ASSERT_EQ(findings.stragglers.size(), 1u);
  EXPECT_EQ(ToString(findings.stragglers[0].reason), "blocked");
}

TEST(Stragglers, AreTheSameWhateverTheOrderOfTheRows) {
  std::vector<AttemptRow> attempts = OrdinaryChunks(300);
  for (size_t i = 0; i < attempts.size(); i += 50) attempts[i].duration_ns = Ns(9);
  const auto chunks_of = [&](const StragglerFindings& findings) {
    std::vector<uint64_t> chunks;
    for (const Straggler& straggler : findings.stragglers) chunks.push_back(attempts[straggler.attempt].chunk_id);
    return chunks;
  };
  const std::vector<uint64_t> before = chunks_of(FindStragglers(attempts, {}, {0}));
  EXPECT_EQ(before.size(), 6u);
  std::mt19937 random(8);
  std::shuffle(attempts.begin(), attempts.end(), random);
  EXPECT_EQ(chunks_of(FindStragglers(attempts, {}, {0})), before);
}

TEST(OversizedChunks, AreResultsOfOverThreeTimesTheMedianOfTheirDataset) {
  std::vector<AttemptRow> attempts;
  for (int i = 0; i < 9; ++i) attempts.push_back(Chunk(0, 1000, 1));
  attempts.push_back(Chunk(0, 3000, 3));
  attempts.push_back(Chunk(0, 3001, 3));
  attempts.push_back(Chunk(1, 50000, 50));  // alone in its dataset
  AttemptRow repeated = Chunk(0, 9000, 9);
  repeated.is_result = false;
  attempts.push_back(repeated);
  const StragglerFindings findings = FindStragglers(attempts, {}, {0, 1});
  EXPECT_EQ(findings.oversized_chunks, 1);
  EXPECT_EQ(findings.datasets[0].oversized, 1);
  EXPECT_EQ(findings.datasets[1].oversized, 0);
}

TEST(Stragglers, OfNothingAreNotMeasured) {
  const StragglerFindings findings = FindStragglers({}, {}, {});
  EXPECT_EQ(findings.straggler_chunks, std::nullopt);
  EXPECT_EQ(findings.oversized_chunks, std::nullopt);
  EXPECT_TRUE(findings.datasets.empty());
}

}  // namespace
}  // namespace crema
