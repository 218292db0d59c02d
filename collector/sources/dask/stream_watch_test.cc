#include "collector/sources/dask/stream_watch.h"

#include <gtest/gtest.h>

namespace crema {
namespace {

TEST(StreamWatch, TasksThatFinishUntoldTwiceInARowAreToldToSomebodyElse) {
  StreamWatch watch;
  watch.Begin();
  watch.Look(10, 5);
  watch.Look(11, 5);
  EXPECT_FALSE(watch.is_taken()) << "the messages may be on their way";
  watch.Look(12, 5);
  EXPECT_TRUE(watch.is_taken());
  watch.Look(12, 5);
  EXPECT_TRUE(watch.is_taken()) << "nothing finishes";
  watch.Look(13, 6);
  EXPECT_FALSE(watch.is_taken()) << "it is back";
}

TEST(StreamWatch, AQuietClusterIsNoSign) {
  StreamWatch watch;
  watch.Begin();
  for (int i = 0; i < 5; ++i) watch.Look(10, 5);
  EXPECT_FALSE(watch.is_taken());
}

TEST(StreamWatch, WhatHappenedWhileItWasNotConnectedIsNoSign) {
  StreamWatch watch;
  watch.Begin();
  watch.Look(10, 0);
  watch.Begin();
  watch.Look(20, 0);
  watch.Look(30, 0);
  EXPECT_FALSE(watch.is_taken());
}

}  // namespace
}  // namespace crema
