// A relative CREMA_DIR means a directory below the one in which the process started.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "sdk/tests/child_process.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

std::string Absolute(const char* path) {
  char absolute[PATH_MAX];
  return realpath(path, absolute) == nullptr ? std::string() : absolute;
}

/// The one log below `records` in the new directory in which `body` began; it recorded one chunk.
void ExpectRecords(const std::string& records, const std::function<void()>& body) {
  const std::string start = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", "records"}, {"CREMA_INTERVAL", "0"}}, [&] {
    if (chdir(start.c_str()) != 0) std::abort();
    body();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal << child.errors;
  const auto logs = ReadRecordLogs(start + "/" + records);
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].chunks.size(), 1u);
}

void ExpectRecordsOfProgram(const std::string& records, const char* how, const char* name = "moving_program") {
  const std::string program = Absolute("sdk/tests/moving_program");
  ExpectRecords(records, [&] {
    execl(program.c_str(), name, how, nullptr);
    std::abort();
  });
}

TEST(RelativeDirectory, IsBelowTheStartAfterTheProgramMoved) { ExpectRecordsOfProgram("records", "guard"); }
TEST(RelativeDirectory, IsBelowTheStartAfterAnInitialiserMoved) { ExpectRecordsOfProgram("records", "guard", "early"); }
TEST(RelativeDirectory, IsBelowTheStartOnAnotherThread) { ExpectRecordsOfProgram("records", "thread"); }
TEST(RelativeDirectory, IsBelowTheStartInAForkedChildThatMoved) { ExpectRecordsOfProgram("records", "fork"); }
TEST(RelativeDirectory, IsBelowTheStartOfEachProgram) { ExpectRecordsOfProgram("records", "exec"); }
TEST(RelativeDirectory, IsBelowTheStartWhereCodeNamesNone) { ExpectRecordsOfProgram("records", "enable"); }
TEST(RelativeDirectory, OfCodeIsBelowThePresentOne) { ExpectRecordsOfProgram("scratch/records", "enable here"); }

/// The start directory of the process is no longer known.
TEST(RelativeDirectory, OfAPluginIsBelowTheOneInWhichItWasLoaded) {
  const std::string plugin = Absolute("sdk/c_api/recording_plugin.so");
  ExpectRecords("loaded/records", [&plugin] {
    if (mkdir("loaded", 0700) != 0 || chdir("loaded") != 0) std::abort();
    void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr || chdir("..") != 0) std::abort();
    reinterpret_cast<void (*)(const char*)>(dlsym(library, "plugin_chunk"))("moved");
  });
}

}  // namespace
}  // namespace testing
}  // namespace crema
