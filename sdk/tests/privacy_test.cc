// Who may read a record log, and which part of the command line is in it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

unsigned Permissions(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777u;
}

TEST(Privacy, LogsAndTheirDirectoriesAreTheUsersAlone) {
  const std::string directory = NewDirectory() + "/a/b";
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {
    umask(0);
    TrackMetrics metrics("ttbar");
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(Permissions(directory), 0700u);
  EXPECT_EQ(Permissions(directory + "/.."), 0700u);
  EXPECT_EQ(Permissions(ReadRecordLogs(directory).at(0).path), 0600u);
}

TEST(Privacy, ADirectoryThatIsThereStaysAsItIs) {
  const std::string directory = NewDirectory();
  ASSERT_EQ(chmod(directory.c_str(), 0755), 0);
  RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] { TrackMetrics metrics("ttbar"); });
  EXPECT_EQ(Permissions(directory), 0755u);
}

TEST(Privacy, ProgramsThatAreStartedDoNotInheritTheLog) {
  const RecordLog log = Recorded([] {
    TrackMetrics metrics("ttbar");
    if (std::system("for f in /proc/self/fd/*; do readlink $f; done | grep -q jsonl") == 0) std::abort();
  });
  EXPECT_EQ(log.chunks.size(), 1u);
}

// Not a separate test: the next test starts this with arguments.
TEST(PrivacyChild, Records) { TrackMetrics metrics("ttbar"); }

std::vector<std::string> RecordedArguments(std::vector<std::string> arguments, const Environment& more = {}) {
  const std::string directory = NewDirectory();
  Environment environment = {{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}};
  environment.insert(environment.end(), more.begin(), more.end());
  arguments.insert(arguments.begin(), {"analysis", "--gtest_filter=PrivacyChild.Records"});
  RunInChild(environment, [&] {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    unsetenv("TESTBRIDGE_TEST_ONLY");
    execv("/proc/self/exe", pointers.data());
  });
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  EXPECT_EQ(logs.size(), 1u);
  if (logs.empty() || !logs[0].process->arguments.has_value()) return {"(none)"};
  for (const std::string& line : logs[0].lines) EXPECT_EQ(line.find("hunter2"), std::string::npos) << line;
  return {logs[0].process->arguments->begin() + 2, logs[0].process->arguments->end()};
}

TEST(Privacy, SecretsOnTheCommandLineAreMasked) {
  EXPECT_EQ(RecordedArguments({"--input=a.root", "--token=hunter2", "--Password", "hunter2", "AWS_SECRET=hunter2",
                               "--url=https://host/file?authKey=hunter2", "-o", "out.root"}),
            (std::vector<std::string>{"--input=a.root", "--token=***", "--Password", "***", "AWS_SECRET=***",
                                      "--url=https://host/file?authKey=***", "-o", "out.root"}));
}

TEST(Privacy, DirectoriesAreLeftOutWithTheCommandLine) {
  const RecordLog log = Recorded(
      [] {
        if (mkdir("hunter2", 0700) != 0 || chdir("hunter2") != 0) std::abort();
        TrackMetrics metrics("ttbar");
      },
      {{"CREMA_NO_ARGUMENTS", "1"}});
  rmdir("hunter2");
  EXPECT_EQ(log.lines.at(0).find("hunter2"), std::string::npos) << log.lines[0];
  EXPECT_NE(log.lines.at(0).find("\"working_directory\":null"), std::string::npos) << log.lines[0];
}

TEST(Privacy, TheCommandLineCanBeLeftOut) {
  EXPECT_EQ(RecordedArguments({"--name=hunter2"}, {{"CREMA_NO_ARGUMENTS", "1"}}), std::vector<std::string>{"(none)"});
}

}  // namespace
}  // namespace testing
}  // namespace crema
