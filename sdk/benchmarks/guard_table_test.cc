#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <string>

namespace crema_benchmarks {
namespace {

using ::testing::HasSubstr;

struct Finished {
  int status = -1;
  std::string output;
};

Finished RunTable(const std::string& arguments) {
  Finished finished;
  const std::string command =
      "sdk/benchmarks/guard_table --directory=" + std::string(getenv("TEST_TMPDIR")) + " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return finished;
  char part[4096];
  for (std::size_t got; (got = fread(part, 1, sizeof part, pipe)) > 0;) finished.output.append(part, got);
  const int status = pclose(pipe);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return finished;
}

TEST(GuardTable, ComparesEveryGuardWithItsLimit) {
  const Finished table = RunTable("--benchmark_repetitions=1");
  EXPECT_EQ(table.status, 0) << table.output;
  for (const char* row :
       {"section ", "two threads at once", "8 siblings", "three nested", "200 names in turn", "200 names at random",
        "section with CPU time", "memory guard", "helper scope", "task ", "task that was marked", "event without lines",
        "RecordMetric", "whole chunk ", "recording off", "two threads to one"}) {
    EXPECT_THAT(table.output, HasSubstr(row));
  }
}

TEST(GuardTable, SaysHowManyAllocationsAChunkMakes) {
  EXPECT_THAT(RunTable("--benchmark_repetitions=1 --benchmark_filter=section_off").output,
              HasSubstr(" 0 heap allocations in 100 chunks"));
}

TEST(GuardTable, SaysWhereItCannotWrite) {
  const Finished table = RunTable("--directory=/dev/null");
  EXPECT_EQ(table.status, 1);
  EXPECT_THAT(table.output, HasSubstr("guard_table: cannot make a directory in /dev/null"));
}

}  // namespace
}  // namespace crema_benchmarks
