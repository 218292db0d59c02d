// What is wrong with CREMA_DIR.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/without_leak_check.h"

namespace crema {
namespace testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Root may write anywhere, by these two capabilities (capabilities(7)).
void ObeyFileModes() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  Require(syscall(SYS_capget, &header, data) == 0);
  data[0].effective &= ~((1U << CAP_DAC_OVERRIDE) | (1U << CAP_DAC_READ_SEARCH));
  Require(syscall(SYS_capset, &header, data) == 0);
}

/// Keeps recording until the removed log is made again.
void RecordUntilThereIsALogIn(const std::string& directory) {
  std::error_code error;
  while (std::filesystem::directory_iterator(directory, error) == std::filesystem::directory_iterator()) {
    RecordChunks(1, "lost");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::size_t ChunksOf(const RecordLog& log, const std::string& dataset) {
  std::size_t chunks = 0;
  for (const ChunkLine& chunk : log.chunks) chunks += chunk.dataset == dataset ? 1 : 0;
  return chunks;
}

/// Checks an unusable directory: one line says why, and that nothing is recorded.
void ExpectOneWarning(const FaultRun& run, const std::string& directory, const std::string& reason) {
  EXPECT_THAT(run.warning, StartsWith("crema: cannot write record logs to " + directory));
  EXPECT_THAT(run.warning, HasSubstr(reason + "; this process is not recorded\n"));
  EXPECT_TRUE(run.logs.empty());
}

void RecordAndAskWhetherItIsOn() {
  RecordChunks(3);
  Require(!Enabled());
  RecordChunks(3);
}

/// Fault [directory]: `CREMA_DIR` cannot be written
/// Program: one warning
/// Recorded: nothing; the warning says that the process is not recorded
TEST(DirectoryFault, UnwritableIsOneWarning) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    Require(chmod(directory.c_str(), 0500) == 0);
    ObeyFileModes();
    RecordAndAskWhetherItIsOn();
  });
  ExpectOneWarning(run, directory, "Permission denied");
}

/// Fault [directory]: `CREMA_DIR` does not exist
/// Program: nothing
/// Recorded: everything: the directory is made, with those above it
TEST(DirectoryFault, MissingIsMade) {
  const std::string directory = NewDirectory() + "/not/there/yet";
  const FaultRun run = RunWithFault(directory, [] { RecordChunks(3); });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(run.logs[0].chunks.size(), 3u);
}

/// Fault [directory]: `CREMA_DIR` does not exist and cannot be made
/// Program: one warning
/// Recorded: nothing; the warning says that the process is not recorded
TEST(DirectoryFault, ThatCannotBeMadeIsOneWarning) {
  ExpectOneWarning(RunWithFault("/proc/records", RecordAndAskWhetherItIsOn), "/proc/records",
                   "No such file or directory");
}

/// Fault [directory]: a file in the place of `CREMA_DIR`
/// Program: one warning
/// Recorded: nothing; the warning says that the process is not recorded, and the file stays as it was
TEST(DirectoryFault, AFileInItsPlaceIsOneWarning) {
  const std::string file = NewDirectory() + "/file";
  std::ofstream(file) << "the user's";
  ExpectOneWarning(RunWithFault(file, RecordAndAskWhetherItIsOn), file, "Not a directory");
  std::string text;
  std::getline(std::ifstream(file), text);
  EXPECT_EQ(text, "the user's");
}

/// Fault [directory]: `/dev/full` in the place of `CREMA_DIR`
/// Program: one warning
/// Recorded: nothing; the warning says that the process is not recorded
TEST(DirectoryFault, DevFullInItsPlaceIsOneWarning) {
  ExpectOneWarning(RunWithFault("/dev/full", RecordAndAskWhetherItIsOn), "/dev/full", "Not a directory");
}

/// Fault [directory]: `CREMA_DIR` vanishes in mid-run, with the log in it
/// Program: nothing
/// Recorded: a new log in a directory made anew a second after it was missed; its `end` counts all chunks of the
/// process, so those that went with the old log are the difference; chunks of that second are in `sums`
TEST(DirectoryFault, VanishingInMidRunIsMadeAnew) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    RecordChunks(5, "gone");
    std::filesystem::remove_all(directory);
    if (Enabled()) RecordUntilThereIsALogIn(directory);
    RecordChunks(3, "after");
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 1u);
  const RecordLog& log = run.logs[0];
  EXPECT_TRUE(log.malformed.empty());
  ASSERT_TRUE(log.process.has_value());
  EXPECT_EQ(ChunksOf(log, "gone"), 0u);
  EXPECT_EQ(ChunksOf(log, "after"), 3u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_GT(log.end->summed_chunks, 0);
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
  const auto lost_chunks_kept = static_cast<std::int64_t>(ChunksOf(log, "lost"));
  EXPECT_EQ(log.end->chunks, 5 + lost_chunks_kept + log.end->summed_chunks + 3);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [directory]: the program removes `CREMA_DIR` and everything in it while threads record
/// Program: nothing: what it removed stays away while it does so
/// Recorded: nothing more; where the process ends within that second, one warning says that the log was removed
TEST(DirectoryFault, RemovedByTheProgramWhileThreadsRecord) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    { TrackSection section("opens the log"); }
    std::atomic<bool> removed{false};
    std::thread recording([&] {
      while (!removed) RecordChunks(1);
      RecordChunks(1);
    });
    std::filesystem::remove_all(directory);  // throws where something came into it meanwhile
    removed = true;
    recording.join();
  });
  EXPECT_THAT(run.warning, EndsWith("was removed\n"));
  EXPECT_TRUE(run.logs.empty());
}

/// Fault [directory]: `CREMA_DIR` vanishes again and again while several threads record
/// Program: nothing
/// Recorded: the last log, in whole lines behind its first one; `end` counts all chunks of the process
TEST(DirectoryFault, VanishingWhileThreadsRecord) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    { TrackSection section("opens the log"); }
    std::atomic<bool> recording{Enabled()};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        while (recording) RecordChunks(1);
      });
    }
    for (int i = 0; i < 2 && recording; ++i) {
      std::filesystem::remove_all(directory);
      RecordUntilThereIsALogIn(directory);
    }
    recording = false;
    for (std::thread& thread : threads) thread.join();
    RecordChunks(1, "last");
  });
  ASSERT_EQ(run.logs.size(), 1u);
  const RecordLog& log = run.logs[0];
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_EQ(log.lines.at(0).substr(0, 17), R"({"type":"process")");
  EXPECT_EQ(ChunkOf(log, "last").status, "ok");
  ASSERT_TRUE(log.end.has_value());
  EXPECT_GT(log.end->chunks, static_cast<std::int64_t>(log.chunks.size()));
  EXPECT_GT(log.end->summed_chunks, 0);
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
}

/// Fault [directory]: the log alone is removed in mid-run
/// Program: nothing
/// Recorded: a new log under its name a second after it was missed; its `end` counts all chunks of the process
TEST(DirectoryFault, TheLogAloneIsRemoved) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    RecordChunks(5, "gone");
    for (const auto& entry : std::filesystem::directory_iterator(directory)) std::filesystem::remove(entry.path());
    if (Enabled()) RecordUntilThereIsALogIn(directory);
    RecordChunks(3, "after");
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(ChunksOf(run.logs[0], "gone"), 0u);
  EXPECT_EQ(ChunksOf(run.logs[0], "after"), 3u);
  ASSERT_TRUE(run.logs[0].end.has_value());
  EXPECT_GE(run.logs[0].end->chunks, 5 + 3 + 1);
}

/// Fault [directory]: the log is removed after recording was switched off
/// Program: nothing
/// Recorded: nothing; what the program removed stays removed
TEST(DirectoryFault, RemovedAfterRecordingItStaysRemoved) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    RecordChunks(5, "gone");
    Disable();
    std::filesystem::remove_all(directory);
  });
  EXPECT_EQ(run.warning, "");
  EXPECT_TRUE(run.logs.empty());
}

/// Fault [directory]: `CREMA_DIR` vanishes for good in mid-run
/// Program: one warning
/// Recorded: nothing from then on; where the directory can be made again, chunks of the time between are in `sums`
TEST(DirectoryFault, VanishingForGoodIsOneWarning) {
  const std::string parent = NewDirectory();
  const std::string directory = parent + "/records";
  const FaultRun run = RunWithFault(directory, [&] {
    RecordChunks(5, "gone");
    std::filesystem::remove_all(directory);
    std::ofstream(directory) << "now a file";
    RecordChunks(3, "lost");
    if (Enabled()) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    RecordChunks(3, "lost");  // cannot make it anew
    std::filesystem::remove(directory);
    if (Enabled()) RecordUntilThereIsALogIn(directory);
    RecordChunks(2, "after");
  });
  EXPECT_THAT(run.warning, HasSubstr("was removed and cannot be made anew: Not a directory"));
  ASSERT_EQ(run.logs.size(), 1u);
  const RecordLog& log = run.logs[0];
  EXPECT_EQ(ChunksOf(log, "after"), 2u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_GE(SummedChunks(log), 6);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [directory]: no descriptor is free when recording would begin
/// Program: one warning
/// Recorded: nothing; the warning says that the process is not recorded
TEST(DirectoryFault, NoDescriptorToBeginWithIsOneWarning) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [] {
    const rlimit limit{32, 1000};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    RecordAndAskWhetherItIsOn();
  });
  ExpectOneWarning(run, directory, "Too many open files");
}

}  // namespace
}  // namespace testing
}  // namespace crema
