#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"
#include "collector/metrics/storage/row_memory.h"

namespace crema {
namespace {

constexpr size_t kRows = 400'000;
constexpr size_t kBytes = kRows * sizeof(uint64_t);  // at least: of an identity no bit is spared

AttemptRow RowOf(size_t i) {
  AttemptRow row;
  row.chunk_id = 0x9e3779b97f4a7c15 * i;
  row.process = static_cast<uint32_t>(i % 3);
  row.number = static_cast<int64_t>(i);
  row.duration_ns = static_cast<int64_t>(i * i);
  return row;
}

bool IsInMemory(const std::string& directory) {
  struct statfs system = {};
  return statfs(directory.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC;
}

/// All rows by process, in order: what became of those that were added.
void CheckRows(const AttemptRows& rows) {
  ASSERT_EQ(rows.size(), kRows);
  size_t at = 0;
  for (size_t process = 0; process < 3; ++process) {
    for (size_t i = process; i < kRows; i += 3) {
      const AttemptRow expected = RowOf(i);
      ASSERT_EQ(rows[at].number, expected.number);
      ASSERT_EQ(rows[at].duration_ns, expected.duration_ns);
      ++at;
    }
  }
}

AttemptRows TakeRows(RowSpill* spill) {
  AttemptRows some;
  AttemptRows others;
  for (AttemptRows* rows : {&some, &others}) rows->SpillTo(spill);
  for (size_t i = 0; i < kRows; ++i) (i < kRows / 2 ? some : others).Add(RowOf(i));
  some.Take(std::move(others));
  return std::move(some).Ordered({0, 1, 2});
}

class RowsThatSpill : public ::testing::Test {
 protected:
  RowsThatSpill() : directory_(std::string(::testing::TempDir()) + "spill") {
    std::filesystem::create_directories(directory_);
  }
  ~RowsThatSpill() override { std::filesystem::remove_all(directory_); }

  std::string directory_;
};

TEST_F(RowsThatSpill, AreTheSameAndLeaveNoFile) {
  if (IsInMemory(directory_)) GTEST_SKIP() << "the test's directory is in memory";
  RowSpill spill(directory_, 0);
  CheckRows(TakeRows(&spill));
  EXPECT_EQ(spill.problem(), "");
  EXPECT_GT(spill.spilled_bytes(), 2 * kBytes) << "as they came, and in order";
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(RowsThatSpill, StayInMemoryUpToTheLimit) {
  RowSpill roomy(directory_, 10 * kBytes);
  CheckRows(TakeRows(&roomy));
  EXPECT_EQ(roomy.spilled_bytes(), 0u);
  if (IsInMemory(directory_)) GTEST_SKIP() << "the test's directory is in memory";
  RowSpill half(directory_, kBytes / 2);
  CheckRows(TakeRows(&half));
  EXPECT_GT(half.spilled_bytes(), kBytes);
  RowSpill none(directory_, 0);
  CheckRows(TakeRows(&none));
  EXPECT_LT(half.spilled_bytes(), none.spilled_bytes() - kBytes / 4);
}

TEST_F(RowsThatSpill, StayInMemoryWhereTheDirectoryIsMissing) {
  RowSpill spill(directory_ + "/missing", 0);
  CheckRows(TakeRows(&spill));
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(spill.problem(), "No such file or directory");
}

TEST_F(RowsThatSpill, StayInMemoryWhereTheDirectoryIsInMemory) {
  if (!IsInMemory("/dev/shm")) GTEST_SKIP() << "/dev/shm is not a tmpfs";
  RowSpill spill("/dev/shm", 0);
  CheckRows(TakeRows(&spill));
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(spill.problem(), "it is in memory: tmpfs or ramfs");
}

TEST_F(RowsThatSpill, HaveListsInFilesWhileTheyAreToBeThere) {
  if (IsInMemory(directory_)) GTEST_SKIP() << "the test's directory is in memory";
  constexpr size_t kCount = 5'000'000;
  RowSpill spill(directory_, size_t{1} << 40);  // not for want of room
  LargeList<int64_t> before, list;
  before.reserve(kCount);
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  {
    const SpilledLists lists(&spill);
    list = LargeList<int64_t>();
    list.reserve(kCount);
    LargeList<int64_t> small;
    small.reserve(1000);
  }
  const size_t spilled = spill.spilled_bytes();
  EXPECT_EQ(spilled, kCount * sizeof(int64_t));
  for (size_t i = 0; i < kCount; ++i) list.push_back(static_cast<int64_t>(3 * i));
  for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(list[i], static_cast<int64_t>(3 * i));
  EXPECT_EQ(spill.in_memory_bytes(), 0u);
  list = LargeList<int64_t>();
  LargeList<int64_t> after;
  after.reserve(kCount);
  EXPECT_EQ(spill.spilled_bytes(), spilled) << "that was over";
  EXPECT_EQ(spill.problem(), "");
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

}  // namespace
}  // namespace crema
