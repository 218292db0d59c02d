#include "collector/metrics/attempts/row_spill.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <filesystem>
#include <string>
#include <vector>

#include "collector/metrics/attempts/attempt_rows.h"

namespace crema {
namespace {

// So many that the list of all is more than kLeastLaidUnder.
constexpr size_t kRows = 400'000;
constexpr size_t kBytes = kRows * sizeof(AttemptRow);

AttemptRow RowOf(size_t i) {
  AttemptRow row;
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
void CheckRows(const std::vector<AttemptRow>& rows) {
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

std::vector<AttemptRow> TakeRows(RowSpill* spill) {
  AttemptRows some;
  AttemptRows others;
  for (AttemptRows* rows : {&some, &others}) rows->SpillTo(spill);
  for (size_t i = 0; i < kRows; ++i) (i < kRows / 2 ? some : others).Add(RowOf(i));
  some.Take(std::move(others));
  some.ForEach([](AttemptRow& row) { ++row.events; });
  return std::move(some).TakeGrouped({0, 1, 2});
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
  EXPECT_GT(spill.spilled_bytes(), 2 * kBytes * 9 / 10) << "while they are read, and the list of all";
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(RowsThatSpill, StayInMemoryUpToTheLimit) {
  RowSpill roomy(directory_, 4 * kBytes);
  CheckRows(TakeRows(&roomy));
  EXPECT_EQ(roomy.spilled_bytes(), 0u);
  if (IsInMemory(directory_)) GTEST_SKIP() << "the test's directory is in memory";
  RowSpill half(directory_, kBytes / 2);
  CheckRows(TakeRows(&half));
  EXPECT_GT(half.spilled_bytes(), kBytes);
  EXPECT_LT(half.spilled_bytes(), 2 * kBytes * 9 / 10);
}

TEST_F(RowsThatSpill, StayInMemoryWhereTheDirectoryIsMissing) {
  RowSpill spill(directory_ + "/missing", 0);
  CheckRows(TakeRows(&spill));
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(spill.problem(), "No such file or directory");
}

TEST_F(RowsThatSpill, StayInMemoryWhereTheDirectoryIsInMemory) {
  if (!IsInMemory("/dev/shm")) GTEST_SKIP() << "/dev/shm is no tmpfs";
  RowSpill spill("/dev/shm", 0);
  CheckRows(TakeRows(&spill));
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(spill.problem(), "it lies in memory");
}

TEST_F(RowsThatSpill, AreNotSpilledOneByOne) {
  RowSpill spill(directory_, 0);
  AttemptRows rows;
  rows.SpillTo(&spill);
  rows.Add(RowOf(7));
  EXPECT_EQ(std::move(rows).TakeGrouped({0, 0, 0})[0].number, 7);
  EXPECT_EQ(spill.spilled_bytes(), 0u);
  EXPECT_EQ(spill.problem(), "");
}

}  // namespace
}  // namespace crema
