#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <string>

namespace crema_benchmarks {
namespace {

using ::testing::HasSubstr;

TEST(ReadingTable, HasEveryReaderSeeTheSameRecords) {
  const std::string command =
      "collector/benchmarks/reading_table --records=2000 --directory=" + std::string(getenv("TEST_TMPDIR")) + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char part[4096];
  for (size_t got; (got = fread(part, 1, sizeof(part), pipe)) > 0;) output.append(part, got);
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output;
  EXPECT_THAT(output, HasSubstr("all readers saw the same"));
  for (const char* row : {"read(2)", "newline scan", "simdjson, the same fields", "crema: any valid line",
                          "crema: parse", "crema: the whole measurement", "Python: json"}) {
    EXPECT_THAT(output, HasSubstr(row));
  }
}

}  // namespace
}  // namespace crema_benchmarks
