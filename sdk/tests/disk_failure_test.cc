// Disks that fail cost records, never the program.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

void RecordChunks(int chunks, const char* dataset = "ttbar") {
  for (int i = 0; i < chunks; ++i) {
    TrackMetrics metrics({dataset, "/data/file.root", i, i + 1});
    TrackSection section("read");
  }
}

void SetSizeLimit(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) std::abort();
}

TEST(DiskFailure, ADirectoryThatCannotBeMadeIsOneWarning) {
  const ChildResult child = RunInChild({{"CREMA_DIR", "/dev/null/records"}}, [] {
    RecordChunks(3);
    if (Enabled()) std::abort();
    if (Enable(Options())) std::abort();
    RecordChunks(3);
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(child.output, "");
  EXPECT_EQ(child.errors.substr(0, 51), "crema: cannot write record logs to /dev/null/record");
  EXPECT_EQ(std::count(child.errors.begin(), child.errors.end(), '\n'), 1) << child.errors;
}

TEST(DiskFailure, AfterItADirectoryThatWorksCanBeEnabled) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", "/dev/null/records"}}, [&] {
    RecordChunks(1);
    Options options;
    options.directory = directory;
    if (!Enable(options)) std::abort();
    RecordChunks(2);
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(ReadRecordLogs(directory).at(0).chunks.size(), 2u);
}

TEST(DiskFailure, StopsBeforeTheLargestFileSizeWhichWouldKillTheProgram) {
  constexpr rlim_t kLimit = 100000;
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [] {
    SetSizeLimit(kLimit);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([] { RecordChunks(200); });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.errors, "");
  const RecordLog log = ReadRecordLogs(directory).at(0);
  const auto size = std::filesystem::file_size(log.path);
  EXPECT_LE(size, kLimit);
  EXPECT_GT(size, kLimit - kLimit / 4 - 4000);
  EXPECT_TRUE(log.malformed.empty());
  ASSERT_TRUE(log.end.has_value());  // for which there is always room
  EXPECT_EQ(log.end->chunks, 1600);
  EXPECT_EQ(SummedChunks(log) + static_cast<std::int64_t>(log.chunks.size()), 1600);
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(DiskFailure, CountsTheRecordsThatItCostAndSumsChunks) {
  const RecordLog log = Recorded([] {
    RecordChunks(3);
    SetSizeLimit(1);
    Flush();  // its sample is lost, too
    RecordChunks(5);
    SetSizeLimit(RLIM_INFINITY);
    RecordChunks(1);
  });
  EXPECT_EQ(log.chunks.size(), 3u);
  EXPECT_EQ(log.end->chunks, 9);
  EXPECT_EQ(SummedChunks(log), 6);
  if (!RunsWithOptions()) {  // else lines of stacks and allocations are dropped, too
    EXPECT_EQ(log.end->dropped, 1);
  }
}

}  // namespace
}  // namespace testing
}  // namespace crema
