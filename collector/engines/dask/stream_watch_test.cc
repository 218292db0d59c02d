#include "collector/engines/dask/stream_watch.h"

#include <gtest/gtest.h>

namespace crema {
namespace {

constexpr bool kBusy = true;
constexpr bool kIdle = false;

class StreamWatchTest : public ::testing::Test {
 protected:
  StreamWatchTest() { watch_.Begin(now_); }

  /// A second passes.
  void Second(int64_t messages, bool is_busy) { watch_.Look(++now_, messages, is_busy); }
  void Seconds(int seconds, int64_t messages, bool is_busy) {
    for (int i = 0; i < seconds; ++i) Second(messages, is_busy);
  }

  double now_ = 1000;
  StreamWatch watch_;
};

TEST_F(StreamWatchTest, WhereNothingIsToDoSilenceIsBelieved) {
  Seconds(1000, 5, kIdle);
  EXPECT_FALSE(watch_.is_doubtful(now_));
  EXPECT_FALSE(watch_.is_taken());
}

TEST_F(StreamWatchTest, WhereTasksAreAtWorkersSilenceIsDoubted) {
  Seconds(5, 5, kBusy);
  EXPECT_FALSE(watch_.is_doubtful(now_));
  Seconds(10, 5, kBusy);
  EXPECT_TRUE(watch_.is_doubtful(now_));
  Second(6, kBusy);
  EXPECT_FALSE(watch_.is_doubtful(now_)) << "one has finished";
}

TEST_F(StreamWatchTest, LongTasksAreGotUsedTo) {
  Second(5, kBusy);
  Seconds(39, 5, kBusy);
  Second(6, kBusy);
  Seconds(79, 6, kBusy);
  EXPECT_FALSE(watch_.is_doubtful(now_)) << "the one before took 40 s";
  Seconds(2, 6, kBusy);
  EXPECT_TRUE(watch_.is_doubtful(now_));
}

TEST_F(StreamWatchTest, TheSchedulersSecondsProveThatNoneHasFinished) {
  for (int round = 0; round < 20; ++round) {
    Seconds(5, 5, kBusy);
    watch_.LookAtSeconds(now_, 5, 12.5);
    EXPECT_FALSE(watch_.is_doubtful(now_));
  }
}

TEST_F(StreamWatchTest, TasksThatFinishUntoldTwiceInARowAreToldToSomebodyElse) {
  Second(5, kBusy);
  watch_.LookAtSeconds(now_, 5, 10);
  watch_.LookAtSeconds(now_, 5, 11);
  EXPECT_FALSE(watch_.is_taken()) << "the messages may be on their way";
  watch_.LookAtSeconds(now_, 5, 12);
  EXPECT_TRUE(watch_.is_taken());
  watch_.LookAtSeconds(now_, 5, 12);
  EXPECT_TRUE(watch_.is_taken()) << "nothing finishes";
  Second(6, kBusy);
  EXPECT_FALSE(watch_.is_taken()) << "it is back";
}

TEST_F(StreamWatchTest, WhatHappenedWhileItWasNotConnectedIsNoSign) {
  Second(5, kBusy);
  watch_.LookAtSeconds(now_, 5, 10);
  watch_.Begin(now_);
  watch_.LookAtSeconds(now_, 5, 20);
  watch_.LookAtSeconds(now_, 5, 30);
  EXPECT_FALSE(watch_.is_taken());
}

}  // namespace
}  // namespace crema
