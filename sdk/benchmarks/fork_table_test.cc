#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <string>

namespace {

using ::testing::HasSubstr;

/// The output of `fork_table`, and its exit status.
std::string RunTable(const std::string& arguments, int* exit_status) {
  std::string output;
  FILE* pipe = popen(("sdk/benchmarks/fork_table " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char part[4096];
  for (std::size_t got; (got = fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, got);
  const int status = pclose(pipe);
  *exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

TEST(ForkTable, HasARowForEachPlaceOfDescriptors) {
  int status = -1;
  const std::string table = RunTable("3", &status);
  EXPECT_EQ(status, 0) << table;
  for (const char* text :
       {"medians of 3 forks in turns", "lowest numbers  ", "below 1,024, as the SDK's  ", "above 16,000  "}) {
    EXPECT_THAT(table, HasSubstr(text));
  }
}

TEST(ForkTable, AsksForANumberOfForks) {
  int status = -1;
  EXPECT_THAT(RunTable("many", &status), HasSubstr("fork_table: many: is not a number of forks"));
  EXPECT_EQ(status, 2);
}

}  // namespace
