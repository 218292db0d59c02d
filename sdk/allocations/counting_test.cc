#include "counting.h"

#include <setjmp.h>

#include <cstdint>

#include "gtest/gtest.h"
#include "process/allocation_counter.h"

extern "C" const crema::internal::AllocationCounter* crema_allocation_counter();

namespace crema {
namespace allocations {
namespace {

constexpr std::size_t kBytes = 48;
constexpr int kBlocks = 100;
alignas(64) char g_blocks[kBlocks][64];
jmp_buf g_before;
bool g_leaves = false;
/// Called while a block is counted, as a signal handler may be.
void (*g_meanwhile)() = nullptr;

std::size_t SizeOf(void*) {
  if (g_leaves) longjmp(g_before, 1);
  return kBytes;
}

std::uint32_t SiteOfThread() {
  void (*const meanwhile)() = g_meanwhile;
  g_meanwhile = nullptr;
  if (meanwhile != nullptr) meanwhile();
  return internal::kInChunks;
}

const NextAllocator kAllocator = {nullptr, nullptr, nullptr, nullptr, nullptr,
                                  nullptr, nullptr, nullptr, nullptr, SizeOf};

class Counting : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(counter_.attach(SiteOfThread));
    counter_.thread_counts(&calls_, &bytes_);
    blocks_lost_ = counter_.blocks_lost();
  }
  void TearDown() override {
    for (auto& block : g_blocks) SeeEnd(kAllocator, block);
  }
  std::uint64_t NewCalls() const {
    std::uint64_t calls = 0, bytes = 0;
    counter_.thread_counts(&calls, &bytes);
    EXPECT_EQ(bytes - bytes_, (calls - calls_) * kBytes);
    return calls - calls_;
  }
  std::uint64_t NewBlocksLost() const { return counter_.blocks_lost() - blocks_lost_; }

  const internal::AllocationCounter& counter_ = *crema_allocation_counter();

 private:
  std::uint64_t calls_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t blocks_lost_ = 0;
};

TEST_F(Counting, CountsEachBlock) {
  for (auto& block : g_blocks) SawBlock(kAllocator, block);
  EXPECT_EQ(NewCalls(), kBlocks);
  EXPECT_EQ(NewBlocksLost(), 0);
}

// As a signal handler does by siglongjmp(3).
TEST_F(Counting, GoesOnAfterTheThreadWasTakenOutOfIt) {
  g_leaves = true;
  if (setjmp(g_before) == 0) SawBlock(kAllocator, g_blocks[0]);
  g_leaves = false;
  for (int i = 1; i < kBlocks; ++i) SawBlock(kAllocator, g_blocks[i]);
  EXPECT_EQ(NewCalls(), kBlocks - 1);
  EXPECT_EQ(NewBlocksLost(), 1);
}

TEST_F(Counting, CountsWhatAHandlerAllocatesMeanwhile) {
  g_meanwhile = [] { SawBlock(kAllocator, g_blocks[1]); };
  SawBlock(kAllocator, g_blocks[0]);
  EXPECT_EQ(NewCalls(), 2);
  EXPECT_EQ(NewBlocksLost(), 1) << "the tables cannot be changed at that moment";
}

}  // namespace
}  // namespace allocations
}  // namespace crema
