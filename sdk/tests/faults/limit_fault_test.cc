// The limits of a process (getrlimit(2)) that are reached in mid-run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr rlim_t kLargestFile = 64 << 10;

/// Mounts a file system of 64 kB that only the calling process sees; false if this is not allowed.
bool MountSmallDisk(const std::string& directory) {
  return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=64k") == 0;
}

std::int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

std::string g_disk;
std::string g_saved;

/// The small disk ends with the process that mounted it.
void SaveLogsFromDisk() {
  for (const RecordLog& log : ReadRecordLogs(g_disk + "/records")) {
    std::filesystem::copy_file(log.path, g_saved + "/log.jsonl");
  }
}

/// Fault [disk]: a small disk that the program itself fills in mid-run, until it makes room again
/// Program: nothing
/// Recorded: lines of the first chunks; from then on sums, and its end
TEST(LimitFault, ASmallDiskIsFull) {
  const std::string disk = g_disk = NewDirectory();
  g_saved = NewDirectory();
  if (RunInChild({}, [&] { Require(MountSmallDisk(disk)); }).exit_status != 0) {
    GTEST_SKIP() << "not allowed to mount a small tmpfs";
  }
  const FaultRun run = RunWithFault(disk + "/records", [&] {
    Require(MountSmallDisk(disk));
    Require(std::atexit(SaveLogsFromDisk) == 0);  // registered before recording begins, so it runs after its end
    const std::string filler = disk + "/filler";
    const int descriptor = open(filler.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::vector<char> bytes(32768, 'x');
    Require(write(descriptor, bytes.data(), bytes.size()) == 32768);
    RecordChunks(200);  // some 150 kB
    close(descriptor);
    unlink(filler.c_str());
    RecordChunks(10, "after");
  });
  EXPECT_EQ(run.warning, "");
  const RecordLog log = ReadRecordLog(g_saved + "/log.jsonl");
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_GE(log.chunks.size(), 1u);
  EXPECT_LT(log.chunks.size(), 20u);  // a tenth of what is free
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
  EXPECT_EQ(log.end->summed_chunks + static_cast<std::int64_t>(log.chunks.size()), 210);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [disk]: the log reaches `RLIMIT_FSIZE`, beyond which the kernel kills a program that writes
/// Program: nothing
/// Recorded: lines of the first chunks; from then on sums, for which room is kept
TEST(LimitFault, TheLogReachesTheLargestFileSize) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1);  // the log is open, and its limit was another one then
    const rlimit limit{kLargestFile, kLargestFile};
    Require(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([] { RecordChunks(100); });
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_GT(log.chunks.size(), 20u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->chunks, 401);
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
  EXPECT_EQ(log.end->summed_chunks + static_cast<std::int64_t>(log.chunks.size()), 401);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [disk]: the program sets `RLIMIT_FSIZE` while threads that record are between two chunks
/// Program: nothing
/// Recorded: lines until the log is as large; from then on sums, for which room is kept
TEST(LimitFault, TheLargestFileSizeIsSetBetweenChunksOfSeveralThreads) {
  constexpr int kThreads = 4;
  const RecordLog log = LogWithFault([] {
    std::atomic<int> waiting{0};
    std::atomic<bool> is_set{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        RecordChunks(5);
        ++waiting;
        while (!is_set) std::this_thread::yield();
        RecordChunks(95);
      });
    }
    while (waiting < kThreads) std::this_thread::yield();
    const rlimit limit{kLargestFile, kLargestFile};
    Require(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    is_set = true;
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_GT(log.chunks.size(), 20u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
  EXPECT_EQ(log.end->summed_chunks + static_cast<std::int64_t>(log.chunks.size()), 400);
  EXPECT_EQ(log.end->dropped, 0);
}

/// What a program did before it is killed.
struct DoneChunks {
  std::int64_t all = 0;
  std::int64_t old = 0;  ///< that ended 10 s before the last one, or earlier
};

/// Fault [disk]: a process that sums its chunks is killed
/// Program: nothing else
/// Recorded: the lines, and what was summed until 10 s before the last chunk ended
TEST(LimitFault, AKilledProcessLosesTheSumsOfTenSeconds) {
  const SharedValue<DoneChunks> done;
  const FaultRun run =
      RunWithFault(NewDirectory(),
                   [&] {
                     std::vector<std::int64_t> ends_ns;
                     const std::int64_t begin_ns = NowNs();
                     const std::int64_t lasts_ns = Enabled() ? std::int64_t{12} * 1000000000 : 1;
                     for (std::int64_t i = 0; ends_ns.empty() || ends_ns.back() < begin_ns + lasts_ns; ++i) {
                       if (i > 200) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                       RecordChunks(1);
                       ends_ns.push_back(NowNs());
                     }
                     for (const std::int64_t end_ns : ends_ns)
                       done->old += end_ns + std::int64_t{10} * 1000000000 < ends_ns.back();
                     done->all = static_cast<std::int64_t>(ends_ns.size());
                     raise(SIGKILL);
                   },
                   {{"CREMA_MAX_LOG_BYTES", "60000"}});
  EXPECT_EQ(run.child.signal, SIGKILL);
  ASSERT_EQ(run.logs.size(), 1u);
  const auto recorded = SummedChunks(run.logs[0]) + static_cast<std::int64_t>(run.logs[0].chunks.size());
  EXPECT_GT(done->old, 200);
  EXPECT_GE(recorded, done->old);
  EXPECT_LE(recorded, done->all);
  EXPECT_GT(run.logs[0].sums.size(), 1u);
}

/// Fault [disk]: a process that sums its chunks calls `Flush` and is killed
/// Program: nothing else
/// Recorded: all chunks that had ended before
TEST(LimitFault, AKilledProcessThatFlushedLosesNothing) {
  const FaultRun run = RunWithFault(NewDirectory(),
                                    [&] {
                                      RecordChunks(500);
                                      Flush();
                                      RecordChunks(500);
                                      Flush();
                                      raise(SIGKILL);
                                    },
                                    {{"CREMA_MAX_LOG_BYTES", "60000"}});
  EXPECT_EQ(run.child.signal, SIGKILL);
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_GT(SummedChunks(run.logs[0]), 0);
  EXPECT_EQ(SummedChunks(run.logs[0]) + static_cast<std::int64_t>(run.logs[0].chunks.size()), 1000);
}

/// Fault [disk]: a process that sums its chunks calls `Flush` after each of them
/// Program: nothing else
/// Recorded: everything; the sums leave room for the end
TEST(LimitFault, FlushesLeaveRoomForTheEnd) {
  const FaultRun run = RunWithFault(NewDirectory(),
                                    [] {
                                      for (int i = 0; i < 1000; ++i) {
                                        RecordChunks(1);
                                        Flush();
                                      }
                                    },
                                    {{"CREMA_MAX_LOG_BYTES", "60000"}});
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(SummedChunks(run.logs[0]) + static_cast<std::int64_t>(run.logs[0].chunks.size()), 1000);
  EXPECT_LE(std::filesystem::file_size(run.logs[0].path), 60000u);
}

/// Fault [disk]: the program itself goes beyond `RLIMIT_FSIZE`
/// Program: nothing; `SIGXFSZ` kills it as ever
/// Recorded: what came before
TEST(LimitFault, TheProgramItselfGoesBeyondTheLargestFileSize) {
  const std::string file = NewDirectory() + "/large";
  const FaultRun run = RunWithFault(NewDirectory(), [&] {
    RecordChunks(3);
    const rlimit limit{kLargestFile, kLargestFile};
    Require(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
    const std::vector<char> bytes(1000, 'x');
    while (write(descriptor, bytes.data(), bytes.size()) > 0) {
    }
  });
  EXPECT_EQ(run.child.signal, SIGXFSZ);
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(run.logs[0].chunks.size(), 3u);
}

/// Fault [disk]: no descriptor is left in mid-run
/// Program: nothing
/// Recorded: all lines; what cannot be read without a descriptor is null
TEST(LimitFault, NoDescriptorIsLeft) {
  const RecordLog log = LogWithFault([] {
    RecordChunks(1, "before");
    const rlimit limit{32, 1000};
    Require(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    std::vector<int> held;
    for (int descriptor; (descriptor = open("/dev/null", O_RDONLY)) >= 0;) held.push_back(descriptor);
    std::thread([] {
      TrackMetrics metrics("without");
      TrackSection section("work", kCpuTime);
      TrackMemory memory("jets");
    }).join();
    for (const int descriptor : held) close(descriptor);
    std::thread([] { RecordChunks(1, "after"); }).join();
  });
  ASSERT_EQ(log.chunks.size(), 3u);
  const ChunkLine without = ChunkOf(log, "without");
  EXPECT_TRUE(without.rss_start_bytes.has_value()) << "the process has its descriptor from the first chunk";
  EXPECT_EQ(without.cpu_wait_ns, std::nullopt);
  EXPECT_TRUE(without.cpu_ns.has_value());
  EXPECT_EQ(Section(without.sections, "work").count, 1);
  EXPECT_TRUE(ChunkOf(log, "after").rss_start_bytes.has_value());
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [kernel]: the program has taken all keys of thread-specific data
/// Program: nothing
/// Recorded: everything
TEST(LimitFault, NoKeyIsLeft) {
  const RecordLog log = LogWithFault([] {
    pthread_key_t key{};
    while (pthread_key_create(&key, nullptr) == 0) {
    }
    for (int i = 0; i < 3; ++i) std::thread([] { RecordChunks(1); }).join();
  });
  EXPECT_EQ(log.chunks.size(), 3u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [kernel]: memory is refused to the program (`RLIMIT_AS`)
/// Program: nothing; it gets its own `bad_alloc`
/// Recorded: what memory was there for; what is missing is in `end.dropped`, or in `sums`
TEST(LimitFault, MemoryIsRefused) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end a program that gets no memory";
#endif
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    RecordChunks(1, "before");
    const rlimit limit{1, RLIM_INFINITY};
    Require(setrlimit(RLIMIT_AS, &limit) == 0);
    std::vector<std::vector<char>> held;
    try {
      for (;;) held.emplace_back(100000);
    } catch (const std::bad_alloc&) {
    }
    for (int i = 0; i < 100; ++i) {
      TrackMetrics metrics("in need");
      for (int j = 0; j < 50; ++j) {
        char name[32];
        std::snprintf(name, sizeof name, "section %d", i * 50 + j);
        TrackSection section(name);
        RecordMetric(name, 1);
      }
    }
    std::puts("survived");
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_TRUE(run.logs[0].malformed.empty());
  const RecordLog& log = run.logs[0];
  EXPECT_EQ(ChunkOf(log, "before").status, "ok");
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->chunks, 101);
  EXPECT_GE(log.end->dropped + log.end->summed_chunks, 101 - static_cast<std::int64_t>(log.chunks.size()));
  EXPECT_EQ(log.end->summed_chunks, SummedChunks(log));
}

}  // namespace
}  // namespace testing
}  // namespace crema
