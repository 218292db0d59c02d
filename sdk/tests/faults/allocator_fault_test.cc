// Other allocators than the C library's. Allocators that this machine lacks are skipped.
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

constexpr const char* kProgram = "sdk/tests/faults/busy_program";
constexpr int kForks = 20;

/// With nothing in the program's own memory.
int RunBusyProgram(const char* allocator) {
  setenv("LD_PRELOAD", allocator, 1);
  char* arguments[] = {const_cast<char*>(kProgram), nullptr};
  pid_t pid = 0;
  int status = -1;
  Require(posix_spawn(&pid, kProgram, nullptr, nullptr, arguments, environ) == 0 && waitpid(pid, &status, 0) == pid);
  return status;
}

class AllocatorFault : public ::testing::TestWithParam<const char*> {};

/// Fault [kernel]: jemalloc, tcmalloc or mimalloc in the place of `malloc`, with threads that come and go, and forks
/// Program: nothing
/// Recorded: everything; memory that the allocator keeps stays in the resident set
TEST_P(AllocatorFault, AnotherAllocator) {
  // If the loader does not find a library, it goes on without it, and prints a line.
  const ChildResult has = RunInChild({}, [] {
    const std::string command = std::string("test -z \"$(LD_PRELOAD=") + GetParam() + " /bin/true 2>&1)\"";
    _exit(std::system(command.c_str()) == 0 ? 0 : 1);
  });
  if (has.exit_status != 0) GTEST_SKIP() << GetParam() << " is not installed: tools/setup test";
  const FaultRun run = RunWithFault(NewDirectory(), [] { Require(RunBusyProgram(GetParam()) == 0); });
  EXPECT_EQ(run.warning, "");
  EXPECT_GE(run.logs.size(), kForks + 1u);  // ten threads of the parent may crowd one log, and open another
  EXPECT_LE(run.logs.size(), kForks + 8u);
  std::map<std::string, int> chunks;
  for (const RecordLog& log : run.logs) {
    EXPECT_TRUE(log.malformed.empty());
    ASSERT_TRUE(log.end.has_value());
    EXPECT_EQ(log.end->dropped, 0);
    EXPECT_EQ(log.end->chunks, static_cast<std::int64_t>(log.chunks.size()));
    for (const ChunkLine& chunk : log.chunks) {
      ++chunks[chunk.dataset.value()];
      if (chunk.dataset != "memory") continue;
      EXPECT_GE(chunk.memory_sections.at(0).delta_bytes, 64 << 20);
    }
  }
  EXPECT_EQ(chunks["child"], 2 * kForks);
  EXPECT_EQ(chunks["thread"], 10 * kForks);
  EXPECT_EQ(chunks["last"], 10 * kForks);
  EXPECT_EQ(chunks["memory"], 1);
}

INSTANTIATE_TEST_SUITE_P(Installed, AllocatorFault,
                         ::testing::Values("libjemalloc.so.2", "libtcmalloc.so.4", "libtcmalloc_minimal.so.4",
                                           "libmimalloc.so.2"));

}  // namespace
}  // namespace testing
}  // namespace crema
