// Programs that close, open, duplicate and inherit descriptors, while recording keeps some in the same table.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"

namespace crema {
namespace testing {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

constexpr int kBeyondOurOwn = 1100;

/// tools/test --long
Seconds StressTime() { return getenv("CREMA_TEST_LONG") != nullptr ? Seconds(120) : Seconds(2); }

void CloseAll() {
  for (int descriptor = 3; descriptor < kBeyondOurOwn; ++descriptor) close(descriptor);
}

/// A chunk that uses every guard that keeps a descriptor.
void RecordWithAllReadings(const char* dataset) {
  TrackMetrics metrics({dataset, "/data/events.root", 0, 1});
  TrackPerfCounters counters("counters");
  TrackIo io("io");
  TrackMemory memory("jets");
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Opens a file of the program and writes the file's name into it, like results.
int OpenResult(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  Require(descriptor >= 0 && write(descriptor, path.data(), path.size()) == static_cast<ssize_t>(path.size()));
  return descriptor;
}

void RequireUntouched(int descriptor, const std::string& path) {
  Require(fcntl(descriptor, F_GETFD) == 0);  // neither closed nor replaced by one of ours
  Require(lseek(descriptor, 0, SEEK_CUR) == static_cast<off_t>(path.size()));  // nobody read from it
  Require(Contents(path) == path);
}

/// Fault [descriptors]: a program closes all descriptors, and reads its input inside guards that count
/// Program: nothing
/// Recorded: everything; chunks of the next second in sums, without what only a descriptor shows
TEST(DescriptorFault, InputOfAProgramThatClosedAll) {
  const std::string input = NewDirectory() + "/input";
  std::ofstream(input) << std::string(100000, 'e');
  const RecordLog log = LogWithFault([&] {
    RecordWithAllReadings("before");
    CloseAll();
    std::vector<int> inputs(12);
    for (int& descriptor : inputs) descriptor = open(input.c_str(), O_RDONLY);
    std::size_t bytes = 0;
    for (int i = 0; i < 100; ++i) {
      TrackMetrics metrics({"after", input, i, i + 1});
      TrackPerfCounters counters("counters");
      char text[1000];
      for (const int descriptor : inputs) bytes += static_cast<std::size_t>(read(descriptor, text, sizeof text));
    }
    Require(bytes == inputs.size() * 100000);
    for (const int descriptor : inputs) close(descriptor);
  });
  EXPECT_EQ(log.chunks.size() + static_cast<std::size_t>(SummedChunks(log)), 101u);
}

/// A descriptor below `kBeyondOurOwn`; -1 if there is none.
int DescriptorOn(const std::string& path) {
  struct stat file {};
  struct stat open_file {};
  if (stat(path.c_str(), &file) != 0) return -1;
  for (int descriptor = 3; descriptor < kBeyondOurOwn; ++descriptor) {
    if (fstat(descriptor, &open_file) == 0 && open_file.st_ino == file.st_ino) return descriptor;
  }
  return -1;
}

/// Fault [descriptors]: a program closes all descriptors, and under the log's number it gets a file with the log's
/// inode, which file systems give to the next file where a log was removed (here it opens the log itself)
/// Program: nothing: the descriptor is its own, also in a forked child
/// Recorded: everything; chunks of the next second in sums
TEST(DescriptorFault, AFileWithTheInodeOfTheLog) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&directory] {
    RecordChunks(2);
    if (Enabled()) {
      const std::string log = std::filesystem::directory_iterator(directory)->path();
      const int number = DescriptorOn(log);
      CloseAll();
      const int file = open(log.c_str(), O_RDWR | O_APPEND);
      Require(dup2(file, number) == number && write(file, "\n", 1) == 1);
      RecordChunks(1);
      const pid_t pid = fork();
      if (pid == 0) _exit(fcntl(number, F_GETFD) < 0 ? 1 : 0);
      int status = 0;
      Require(waitpid(pid, &status, 0) == pid && status == 0 && fcntl(number, F_GETFD) == 0);
    }
    RecordChunks(1);
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(run.logs[0].chunks.size(), 2u);
  ASSERT_TRUE(run.logs[0].end.has_value());
  EXPECT_EQ(run.logs[0].end->chunks, 4);
  EXPECT_EQ(run.logs[0].end->summed_chunks, 2);
}

/// Fault [descriptors]: a program closes all descriptors, and opens pipes that stay empty
/// Program: nothing: no guard reads from them
/// Recorded: everything; chunks of the next second in sums, without what only a descriptor shows
TEST(DescriptorFault, PipesOfAProgramThatClosedAll) {
  const RecordLog log = LogWithFault([] {
    RecordWithAllReadings("before");
    CloseAll();
    int ends[24];
    for (int i = 0; i < 24; i += 2) Require(pipe(ends + i) == 0);
    RecordWithAllReadings("after");
  });
  EXPECT_EQ(log.chunks.size() + static_cast<std::size_t>(SummedChunks(log)), 2u);
}

/// Fault [descriptors]: a program closes all descriptors and opens its results; then threads that recorded end, it
/// forks, and it ends
/// Program: nothing: its results stay open, and nothing else is written into them
/// Recorded: everything
TEST(DescriptorFault, ResultsOfAProgramThatClosedAll) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(NewDirectory(), [&] {
    std::atomic<int> step{0};
    std::thread recording([&] {
      RecordWithAllReadings("thread");
      step = 1;
      while (step != 2) std::this_thread::yield();
      RecordWithAllReadings("thread");
    });
    while (step != 1) std::this_thread::yield();
    RecordWithAllReadings("main");
    CloseAll();
    std::vector<std::string> paths;
    std::vector<int> results;
    for (int i = 0; i < 30; ++i) {
      paths.push_back(directory + "/result " + std::to_string(i));
      results.push_back(OpenResult(paths.back()));
    }
    step = 2;
    recording.join();
    const pid_t child = fork();
    if (child == 0) {
      RecordWithAllReadings("child");
      for (int i = 0; i < 30; ++i) RequireUntouched(results[i], paths[i]);
      std::exit(0);
    }
    int status = 0;
    Require(waitpid(child, &status, 0) == child && status == 0);
    for (int i = 0; i < 30; ++i) RequireUntouched(results[i], paths[i]);
  });
  EXPECT_EQ(run.warning, "");
  EXPECT_EQ(run.logs.size(), 2u);
}

/// Fault [descriptors]: a program closes all descriptors and opens its results, again and again, while threads record
/// Program: nothing: no record line lands in its results, and they stay open
/// Recorded: everything, in lines or in sums
TEST(DescriptorFault, ThreadsThatRecordWhileAllIsClosed) {
  const std::string directory = NewDirectory();
  const RecordLog log = LogWithFault([&] {
    std::atomic<bool> stop{false};
    std::vector<std::thread> recording;
    for (int i = 0; i < 4; ++i) {
      recording.emplace_back([&] {
        while (!stop) RecordWithAllReadings("ttbar");
      });
    }
    std::vector<std::string> paths;
    for (int i = 0; i < 13; ++i) paths.push_back(directory + "/result " + std::to_string(i));
    const auto until = SteadyClock::now() + StressTime();
    for (int round = 0; SteadyClock::now() < until; ++round) {
      CloseAll();
      std::vector<int> results;
      for (const std::string& path : paths) results.push_back(OpenResult(path));
      if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (std::size_t i = 0; i < paths.size(); ++i) RequireUntouched(results[i], paths[i]);
    }
    stop = true;
    for (std::thread& thread : recording) thread.join();
  });
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->chunks, static_cast<std::int64_t>(log.chunks.size()) + log.end->summed_chunks);
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
}

/// Fault [descriptors]: threads open, duplicate and close files of their own, and fork, while others record and end
/// Program: nothing: each number that it is given is its own until it gives it back
/// Recorded: everything, the children's in logs of their own
TEST(DescriptorFault, ThreadsThatOpenAndCloseTheirOwn) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(NewDirectory(), [&] {
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        while (!stop) std::thread([] { RecordWithAllReadings("short thread"); }).join();
      });
      threads.emplace_back([&, i] {
        const std::string path = directory + "/result " + std::to_string(i);
        while (!stop) {
          const int first = OpenResult(path);
          const int second = dup(first);
          close(first);
          RequireUntouched(second, path);
          close(second);
        }
      });
    }
    const auto until = SteadyClock::now() + StressTime();
    while (SteadyClock::now() < until) {
      const pid_t child = fork();
      if (child == 0) {
        RecordWithAllReadings("child");
        _exit(0);
      }
      int status = 0;
      Require(waitpid(child, &status, 0) == child && status == 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_GT(run.logs.size(), 1u);
  for (const RecordLog& log : run.logs) EXPECT_TRUE(log.malformed.empty()) << log.path;
}

/// Fault [descriptors]: a program starts others, which must not have descriptors of ours
/// Program: nothing
/// Recorded: everything
TEST(DescriptorFault, OtherProgramsInheritNone) {
  const RecordLog log = LogWithFault([] {
    RecordWithAllReadings("before");
    Require(std::system("ls /proc/self/fd") == 0);  // what it prints is compared
  });
  EXPECT_EQ(log.chunks.size(), 1u);
}

}  // namespace
}  // namespace testing
}  // namespace crema
