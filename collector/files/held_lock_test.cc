#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "collector/files/output_directory.h"

namespace crema {
namespace {

class HeldLockTest : public ::testing::Test {
 protected:
  HeldLockTest() : path_(::testing::TempDir() + "held_lock_test_" + std::to_string(getpid())) {
    mkdir(path_.c_str(), 0700);
  }
  ~HeldLockTest() override { std::filesystem::remove_all(path_); }

  std::string path_;
};

TEST_F(HeldLockTest, IsOneHoldersUntilHeIsGone) {
  {
    HeldLock lock(path_);
    EXPECT_EQ(lock.state(), HeldLock::State::kHeld);
    EXPECT_EQ(HeldLock(path_).state(), HeldLock::State::kTaken);
    const HeldLock moved = std::move(lock);
    EXPECT_EQ(HeldLock(path_).state(), HeldLock::State::kTaken);
  }
  EXPECT_EQ(HeldLock(path_).state(), HeldLock::State::kHeld);
}

TEST_F(HeldLockTest, StaysWithWhatIsRenamed) {
  const HeldLock lock(path_);
  ASSERT_EQ(rename(path_.c_str(), (path_ + ".away").c_str()), 0);
  mkdir(path_.c_str(), 0700);
  EXPECT_EQ(HeldLock(path_).state(), HeldLock::State::kHeld);
  EXPECT_EQ(HeldLock(path_ + ".away").state(), HeldLock::State::kTaken);
  rmdir((path_ + ".away").c_str());
}

TEST_F(HeldLockTest, OfNothingOrOfALinkIsNone) {
  EXPECT_EQ(HeldLock(path_ + "/nothing").state(), HeldLock::State::kNone);
  ASSERT_EQ(symlink(path_.c_str(), (path_ + "/link").c_str()), 0);
  EXPECT_EQ(HeldLock(path_ + "/link").state(), HeldLock::State::kNone);
}

}  // namespace
}  // namespace crema
