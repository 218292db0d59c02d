// Disks that fail cost records, never the program.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
  EXPECT_GT(size, kLimit - 2000);
  EXPECT_TRUE(log.malformed.empty());
}

TEST(DiskFailure, CountsTheRecordsThatItCost) {
  const RecordLog log = Recorded([] {
    RecordChunks(3);
    SetSizeLimit(1);
    Flush();  // looks at the limit again; its sample is lost, too
    RecordChunks(5);
    SetSizeLimit(RLIM_INFINITY);
    Flush();
    RecordChunks(1);
  });
  EXPECT_EQ(log.chunks.size(), 4u);
  EXPECT_EQ(log.end->chunks, 9);
  EXPECT_EQ(log.end->dropped, 1 + 2 * 5);
}

TEST(DiskFailure, AfterATornLineTheNextBeginsOnANewOne) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [&] {
    RecordChunks(2);
    const auto size = std::filesystem::file_size(ReadRecordLogs(directory).at(0).path);
    SetSizeLimit(size + 50);  // unseen by the recorder: the kernel takes the 50 bytes that fit
    auto* torn = new TrackMetrics("torn");
    SetSizeLimit(RLIM_INFINITY);
    delete torn;
    RecordChunks(2, "after");
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  const RecordLog log = ReadRecordLogs(directory).at(0);
  EXPECT_EQ(log.malformed.size(), 1u);
  EXPECT_EQ(log.malformed.at(0).size(), 50u);
  EXPECT_EQ(log.chunks.size(), 5u);
  EXPECT_EQ(ChunkOf(log, "torn").status, "ok");
  EXPECT_EQ(log.end->dropped, 1);
}

/// A file system of 64 kB that only the calling process sees; false where that is not allowed.
bool MountSmallDisk(const std::string& directory) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=64k") == 0;
}

TEST(DiskFailure, AFullDiskCostsRecordsUntilThereIsRoom) {
  constexpr int kNotAllowed = 77;
  const std::string disk = NewDirectory();
  const std::string saved = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", disk + "/records"}, {"CREMA_INTERVAL", "0"}}, [&] {
    if (!MountSmallDisk(disk)) std::_Exit(kNotAllowed);
    const std::string filler = disk + "/filler";
    const int descriptor = open(filler.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::vector<char> bytes(32768, 'x');
    if (write(descriptor, bytes.data(), bytes.size()) != 32768) std::abort();
    RecordChunks(200);  // some 150 kB
    close(descriptor);
    unlink(filler.c_str());
    RecordChunks(10, "after");
    Disable();
    std::filesystem::copy_file(ReadRecordLogs(disk + "/records").at(0).path, saved + "/log.jsonl");
  });
  if (child.exit_status == kNotAllowed) GTEST_SKIP() << "not allowed to mount a small tmpfs";
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.errors, "");
  const RecordLog log = ReadRecordLog(saved + "/log.jsonl");
  EXPECT_EQ(log.malformed.size(), 1u);  // the one that filled the disk
  std::size_t after = 0;
  for (const ChunkLine& chunk : log.chunks) after += chunk.dataset == "after" ? 1 : 0;
  EXPECT_EQ(after, 10u);
  EXPECT_GT(log.chunks.size(), 20u);
  EXPECT_LT(log.chunks.size(), 100u);
}

}  // namespace
}  // namespace testing
}  // namespace crema
