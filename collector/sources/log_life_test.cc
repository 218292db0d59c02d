#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <string>

#include "collector/sources/record_log.h"

namespace crema {
namespace {

TEST(LogLife, TheNameOfALiveCopyTellsTheKindOfLogStill) {
  EXPECT_EQ(LiveCopyName("node-1-2-0.jsonl"), "node-1-2-0.live.jsonl");
  EXPECT_EQ(LiveCopyName("node.cern.ch-1-2.tree.ndjson"), "node.cern.ch-1-2.live.tree.ndjson");
  EXPECT_EQ(LiveCopyName("node-1-2-0.live.jsonl"), "node-1-2-0.live.jsonl");
  EXPECT_EQ(LiveCopyName("prmon.txt"), "prmon.live.txt");
}

TEST(LogLife, OnlyTheNameMakesALiveCopy) {
  EXPECT_TRUE(IsLiveCopy("records/a.live.jsonl"));
  EXPECT_TRUE(IsLiveCopy("a.live.tree.ndjson"));
  EXPECT_FALSE(IsLiveCopy("a.jsonl"));
  EXPECT_FALSE(IsLiveCopy("run.live.d/a.jsonl"));
  EXPECT_FALSE(IsLiveCopy("alive.jsonl"));
}

TEST(LogLife, ALogHeldByItsProcessMayLackItsEnd) {
  const std::string path = testing::TempDir() + "/held.jsonl";
  const int writer = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(writer, 0);
  EXPECT_FALSE(MayLackItsEnd(path));
  ASSERT_EQ(flock(writer, LOCK_EX), 0);
  EXPECT_TRUE(MayLackItsEnd(path));
  close(writer);
  EXPECT_FALSE(MayLackItsEnd(path));
}

}  // namespace
}  // namespace crema
