// The file that a log is.
#include "sdk/src/log/log_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "sdk/tests/child_process.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace internal {
namespace {

TEST(LogFile, TakesTheFirstRecorderNumberThatIsFree) {
  DescriptorBudget budget;
  const std::string directory = testing::NewDirectory();
  LogFile first;
  LogFile second;
  EXPECT_EQ(first.Open(directory.c_str(), "host", 7, 1000), 0);
  EXPECT_EQ(second.Open(directory.c_str(), "host", 7, 1000), 1);
  EXPECT_TRUE(std::filesystem::exists(directory + "/host-7-1000-0.jsonl"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/host-7-1000-1.jsonl"));
  first.Close(&budget);
  second.Close(&budget);
}

TEST(LogFile, BesideAnotherOneTakesTheNextNumber) {
  DescriptorBudget budget;
  const std::string directory = testing::NewDirectory() + "/a-b";
  LogFile first;
  LogFile second;
  LogFile beside;
  ASSERT_EQ(first.Open(directory.c_str(), "host", 7, 1000), 0);
  ASSERT_EQ(second.Open(directory.c_str(), "host", 7, 1000), 1);
  EXPECT_EQ(beside.OpenBeside(&first, 1), 2);
  EXPECT_TRUE(std::filesystem::exists(directory + "/host-7-1000-2.jsonl"));
  for (LogFile* log : {&first, &second, &beside}) log->Close(&budget);
}

TEST(LogFile, BesideOneThatWasRemovedMakesNoDirectory) {
  DescriptorBudget budget;
  const std::string directory = testing::NewDirectory() + "/removed";
  LogFile first;
  LogFile beside;
  ASSERT_EQ(first.Open(directory.c_str(), "host", 7, 1000), 0);
  std::filesystem::remove_all(directory);
  EXPECT_EQ(beside.OpenBeside(&first, 1), -1);
  EXPECT_FALSE(std::filesystem::exists(directory));
  first.Close(&budget);
}

TEST(LogFile, TakesTheProcessesStartFromARecorderBeforeIt) {
  DescriptorBudget budget;
  const std::string directory = testing::NewDirectory();
  constexpr std::int64_t kStart = 1795000000123000000;
  constexpr std::int64_t kApart = 1000000;
  const auto as_logged = [&directory](std::int64_t pid, std::int64_t start_ns) {
    return LogFile::StartAsLogged(directory.c_str(), "host", pid, start_ns);
  };
  EXPECT_EQ(as_logged(7, kStart), kStart);
  LogFile first;
  EXPECT_EQ(first.Open(directory.c_str(), "host", 7, kStart), 0);
  EXPECT_EQ(as_logged(7, kStart), kStart);
  EXPECT_EQ(as_logged(7, kStart + kApart), kStart);
  EXPECT_EQ(as_logged(7, kStart - kApart), kStart);
  EXPECT_EQ(as_logged(7, kStart + 10 * kApart), kStart + 10 * kApart);
  EXPECT_EQ(as_logged(8, kStart + kApart), kStart + kApart);
  first.Close(&budget);
}

TEST(LogFile, DoesNotFollowALinkThatIsInItsPlace) {
  DescriptorBudget budget;
  const std::string directory = testing::NewDirectory();
  const std::string target = directory + "/target";
  ASSERT_EQ(symlink(target.c_str(), (directory + "/host-7-1000-0.jsonl").c_str()), 0);
  LogFile log;
  EXPECT_EQ(log.Open(directory.c_str(), "host", 7, 1000), 1);
  EXPECT_FALSE(std::filesystem::exists(target));
  log.Close(&budget);
}

TEST(LogFile, SaysWhyItCannotBeOpened) {
  LogFile log;
  EXPECT_EQ(log.Open("/dev/null/records", "host", 7, 1000), -1);
  EXPECT_EQ(errno, ENOTDIR);
  const std::string too_long = "/" + std::string(5000, 'x');
  EXPECT_EQ(log.Open(too_long.c_str(), "host", 7, 1000), -1);
  EXPECT_EQ(errno, ENAMETOOLONG);
  EXPECT_FALSE(log.is_open());
  EXPECT_FALSE(log.Write("lost\n"));
  EXPECT_EQ(log.dropped(), 1u);
}

TEST(LogFile, AppendsLines) {
  DescriptorBudget budget;
  const std::string directory = testing::NewDirectory();
  LogFile log;
  ASSERT_EQ(log.Open(directory.c_str(), "host", 7, 1000), 0);
  EXPECT_TRUE(log.Write("{}\n"));
  EXPECT_TRUE(log.Write("{\"a\":1}\n"));
  log.Close(&budget);
  EXPECT_EQ(testing::ReadRecordLog(directory + "/host-7-1000-0.jsonl").lines,
            (std::vector<std::string>{"{}", "{\"a\":1}"}));
}

}  // namespace
}  // namespace internal
}  // namespace crema
