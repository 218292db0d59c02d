#include "collector/metrics/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <vector>

namespace crema {
namespace {

/// Counts who is there, and lets them wait for one another.
class Meeting {
 public:
  /// Returns whether so many were there at once, at the latest after `patience`.
  bool WaitFor(int count, std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++present_);
    changed_.notify_all();
    const bool met = changed_.wait_for(lock, patience, [&] { return most_ >= count; });
    --present_;
    return met;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int present_ = 0;
  int most_ = 0;
};

constexpr std::chrono::milliseconds kAMinute = std::chrono::minutes(1);
constexpr std::chrono::milliseconds kAMoment{20};

TEST(SideBySide, RunsEachPieceOnceWithAnyNumberOfThreads) {
  for (const size_t threads : {0, 1, 2, 7, 100}) {
    std::vector<std::atomic<int>> runs(20);
    std::vector<ParallelTask> pieces;
    for (std::atomic<int>& count : runs) pieces.push_back({1, [&count] { ++count; }});
    RunParallel(pieces, {threads, 3});
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1) << threads;
  }
  RunParallel({}, {4});
}

TEST(SideBySide, RunsPiecesAtOnceWhereMemoryAllows) {
  Meeting meeting;
  const ParallelTask waits = {50, [&] { EXPECT_TRUE(meeting.WaitFor(2, kAMinute)); }};
  RunParallel({waits, waits}, {2, 100});
}

TEST(SideBySide, RunsPiecesOneAfterAnotherWhereMemoryIsShort) {
  Meeting meeting;
  const ParallelTask alone = {51, [&] { EXPECT_FALSE(meeting.WaitFor(2, kAMoment)); }};
  RunParallel({alone, alone, alone}, {3, 100});
}

TEST(SideBySide, RunsAPieceThatIsBeyondTheLimitAlone) {
  Meeting meeting;
  const ParallelTask alone = {1000, [&] { EXPECT_FALSE(meeting.WaitFor(2, kAMoment)); }};
  const ParallelTask small = {1, [&] { EXPECT_FALSE(meeting.WaitFor(2, kAMoment)); }};
  RunParallel({alone, small}, {2, 100});
}

TEST(SideBySide, BeginsWhatFitsBeforeWhatHasToWait) {
  Meeting meeting;
  const ParallelTask waits = {60, [&] { EXPECT_TRUE(meeting.WaitFor(2, kAMinute)); }};
  RunParallel({waits, {60, [] {}}, {40, waits.run}}, {2, 100});
}

TEST(SideBySide, ThrowsWhatAPieceThrewAfterTheOthersHaveEnded) {
  for (const size_t threads : {1, 2, 4}) {
    std::atomic<int> ended{0};
    const ParallelTask ends = {60, [&] { ++ended; }};
    const ParallelTask fails = {60, [] { throw std::bad_alloc(); }};
    EXPECT_THROW(RunParallel({ends, fails, ends}, {threads, 100}), std::bad_alloc);
    EXPECT_GE(ended, 1);
  }
}

TEST(SideBySide, BeginsAPieceAfterThoseThatItNames) {
  for (const size_t threads : {1, 2, 7}) {
    std::vector<std::atomic<int>> ended(6);
    std::vector<PieceTime> times;
    std::vector<ParallelTask> pieces;
    for (size_t i = 0; i < ended.size(); ++i) {
      const std::vector<size_t> after = i == 0 ? std::vector<size_t>() : std::vector<size_t>{i / 2, i - 1};
      const auto run = [&ended, after, i] {
        for (const size_t other : after) EXPECT_EQ(ended[other], 1) << i;
        ++ended[i];
      };
      pieces.push_back({0, run, after, "piece"});
    }
    RunParallel(pieces, {threads, 100, nullptr, &times});
    for (const std::atomic<int>& count : ended) EXPECT_EQ(count, 1);
    ASSERT_EQ(times.size(), pieces.size());
    EXPECT_EQ(times[5].after, pieces[5].after);
  }
}

TEST(SideBySide, DoesNotBeginWhatComesAfterAPieceThatThrew) {
  bool has_begun = false;
  const ParallelTask fails = {0, [] { throw std::bad_alloc(); }};
  EXPECT_THROW(RunParallel({fails, {0, [&] { has_begun = true; }, {0}}}, {2}), std::bad_alloc);
  EXPECT_FALSE(has_begun);
}

TEST(SideBySide, DoesEachPartOnceWithAnyNumberOfThreads) {
  for (const size_t threads : {0, 1, 2, 100}) {
    std::vector<std::atomic<int>> parts(20);
    ForEachPart("parts", parts.size(), {threads}, [&parts](size_t part) { ++parts[part]; });
    for (const std::atomic<int>& count : parts) EXPECT_EQ(count, 1) << threads;
  }
  ForEachPart("none", 0, {3}, [](size_t) { ADD_FAILURE(); });
}

TEST(SideBySide, HasAThreadForEachCoreUnlessAskedOtherwise) {
  EXPECT_EQ(ThreadsFor(3), 3u);
  EXPECT_GE(ThreadsFor(0), 1u);
}

}  // namespace
}  // namespace crema
