// The resident set that chunks of several threads share.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <cstdint>

#include "sdk/src/kernel/kernel_readings.h"

namespace crema {
namespace internal {
namespace {

constexpr std::int64_t kStartNs = 5'000'000'000;
constexpr std::int64_t kOldestNs = 100'000;
constexpr std::size_t kBytes = std::size_t{32} << 20;

/// What threads 1 and 2 of one process read, with memory that grows between.
class SharedReading : public ::testing::Test {
 protected:
  SharedReading() { budget_.Start(); }
  ~SharedReading() override {
    rss_.Close(&budget_);
    own_.Close(&budget_);
    free(grown_);
  }
  std::int64_t Bytes(std::int64_t now_ns, std::int64_t tid) { return rss_.Bytes(now_ns, tid, &own_, &budget_).value(); }
  void Grow() {
    grown_ = malloc(kBytes);
    memset(grown_, 1, kBytes);
  }

 private:
  DescriptorBudget budget_;
  KernelReadings own_;
  ProcessRss rss_;
  void* grown_ = nullptr;
};

TEST_F(SharedReading, OfAnotherThreadIsTakenWhileItIsNew) {
  const std::int64_t before = Bytes(kStartNs, 1);
  Grow();
  EXPECT_EQ(Bytes(kStartNs + kOldestNs / 2 - 1, 2), before);
}

TEST_F(SharedReading, IsReadAnewWhereTheLatestIsTheThreadsOwn) {
  const std::int64_t before = Bytes(kStartNs, 1);
  Grow();
  EXPECT_GE(Bytes(kStartNs + 1, 1), before + static_cast<std::int64_t>(kBytes));
}

TEST_F(SharedReading, IsReadAnewWhereTheLatestIsOld) {
  const std::int64_t before = Bytes(kStartNs, 1);
  Grow();
  const std::int64_t after = Bytes(kStartNs + kOldestNs, 2);
  EXPECT_GE(after, before + static_cast<std::int64_t>(kBytes));
  EXPECT_EQ(Bytes(kStartNs + kOldestNs, 1), after) << "it is the latest for other threads now";
}

}  // namespace
}  // namespace internal
}  // namespace crema
