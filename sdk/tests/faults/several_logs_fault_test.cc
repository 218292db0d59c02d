// More than eight threads that write at once: the process has a few logs, which together have what one had.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/faked_kernel.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr int kChunks = 60;  // of a thread: it moves after 16 at which others write

class SeveralLogsFault : public ::testing::Test {
  void SetUp() override {
    if (getenv("CREMA_TEST_ALLOCATIONS") != nullptr) GTEST_SKIP() << "a process that counts allocations has one log";
  }
};

/// Threads that record as many chunks each, on a disk so slow that nearly all of them are writing at any time. Calls
/// `before_end` when all have done so and none has ended.
void RecordOnThreads(
    int threads, int chunks = kChunks, const std::function<void()>& before_end = [] {}) {
  Kernel().slow_writes_us = 1000;
  std::atomic<int> done{0};
  std::atomic<bool> go_on{false};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      RecordChunks(chunks);
      ++done;
      while (!go_on) usleep(1000);
    });
  }
  while (done < threads) usleep(1000);
  before_end();
  go_on = true;
  for (std::thread& thread : running) thread.join();
  Kernel().slow_writes_us = 0;
}

/// What the logs of one process have together. Fails the test where one of them is not whole, or of another process.
struct Together {
  std::int64_t lines = 0;   ///< of chunks
  std::int64_t chunks = 0;  ///< by the `end` lines
  std::int64_t summed = 0;
  std::int64_t dropped = 0;
  std::set<std::int64_t> numbers;  ///< of chunks with lines
  std::map<std::int64_t, int> logs_of_thread;
};

Together Add(const std::vector<RecordLog>& logs) {
  Together sum;
  std::set<std::int64_t> recorders;
  std::set<std::pair<std::int64_t, int>> threads;
  for (const RecordLog& log : logs) {
    EXPECT_TRUE(log.malformed.empty()) << log.path;
    if (!log.process.has_value() || !log.end.has_value()) {
      ADD_FAILURE() << log.path << " has no begin, or no end";
      continue;
    }
    EXPECT_EQ(log.process->pid, logs.front().process->pid);
    EXPECT_EQ(log.process->start_ns, logs.front().process->start_ns);
    const bool is_first = log.process->recorder == logs.front().process->recorder;
    EXPECT_EQ(log.lines.front().find(R"(,"first_recorder":0,)") == std::string::npos, is_first);
    recorders.insert(log.process->recorder);
    std::set<std::int64_t> begun;
    for (const BeginLine& begin : log.begins) begun.insert(begin.number);
    for (const ChunkLine& chunk : log.chunks) {
      EXPECT_EQ(begun.count(chunk.number), 1u) << "a chunk's lines are in one log";
      EXPECT_TRUE(sum.numbers.insert(chunk.number).second) << "twice: " << chunk.number;
      threads.insert({chunk.tid, static_cast<int>(log.process->recorder)});
    }
    const std::int64_t summed = SummedChunks(log);
    EXPECT_EQ(log.end->summed_chunks, summed);
    EXPECT_EQ(log.end->chunks, static_cast<std::int64_t>(log.chunks.size()) + summed) << log.path;
    sum.lines += static_cast<std::int64_t>(log.chunks.size());
    sum.chunks += log.end->chunks;
    sum.summed += summed;
    sum.dropped += log.end->dropped;
  }
  EXPECT_EQ(recorders.size(), logs.size());
  for (const auto& [thread, recorder] : threads) ++sum.logs_of_thread[thread];
  return sum;
}

/// The logs of a program of which none goes without `end`.
std::vector<RecordLog> LogsOf(const std::function<void()>& program, const Environment& environment = {}) {
  const FaultRun run = RunWithFault(NewDirectory(), program, environment);
  EXPECT_EQ(run.warning, "");
  return run.logs;
}

/// Fault [threads]: 16 threads end chunks faster than the disk takes lines
/// Program: nothing; threads do not wait for more than seven others
/// Recorded: everything, in two logs of the process, which both end
TEST_F(SeveralLogsFault, SixteenThreadsThatWriteAtOnceHaveTwo) {
  const std::vector<RecordLog> logs = LogsOf([] { RecordOnThreads(16); });
  EXPECT_EQ(logs.size(), 2u);
  const Together sum = Add(logs);
  EXPECT_EQ(sum.lines, 16 * kChunks);
  EXPECT_EQ(sum.chunks, 16 * kChunks);
  EXPECT_EQ(sum.dropped, 0);
  for (const auto& [thread, count] : sum.logs_of_thread) EXPECT_LE(count, 2) << "a thread moves once: " << thread;
}

TEST_F(SeveralLogsFault, SixtyFourThreadsHaveEightAtMostAndNoMoreDescriptorsThanEver) {
  const SharedValue<int> held;
  const std::vector<RecordLog> logs = LogsOf([&] {
    const int before = OpenDescriptors();
    RecordOnThreads(64, kChunks, [&] { *held = OpenDescriptors() - before; });
  });
  EXPECT_GE(logs.size(), 3u);
  EXPECT_LE(logs.size(), 8u);
  EXPECT_LE(*held, 64);
  const Together sum = Add(logs);
  EXPECT_EQ(sum.lines, 64 * kChunks);
  EXPECT_EQ(sum.chunks, 64 * kChunks);
  EXPECT_EQ(sum.dropped, 0);
}

TEST_F(SeveralLogsFault, EightThreadsHaveOne) {
  EXPECT_EQ(LogsOf([] { RecordOnThreads(8); }).size(), 1u);
}

TEST_F(SeveralLogsFault, ThreadsThatWriteAtOnceAFewTimesHaveOne) {
  EXPECT_EQ(LogsOf([] { RecordOnThreads(32, 15); }).size(), 1u);
}

TEST_F(SeveralLogsFault, AProcessOfFewDescriptorsHasOne) {
  const std::vector<RecordLog> logs = LogsOf([] {
    const rlimit limit{64, 64};
    Require(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    RecordOnThreads(16);
  });
  EXPECT_EQ(logs.size(), 1u);
  EXPECT_EQ(Add(logs).lines, 16 * kChunks);
}

/// Fault [disk]: a process with several logs reaches `CREMA_MAX_LOG_BYTES`
/// Program: nothing
/// Recorded: lines in all logs until they are as large together; from then on sums
TEST_F(SeveralLogsFault, TheLargestSizeIsThatOfAllLogs) {
  constexpr std::int64_t kMostBytes = 600000;
  const std::vector<RecordLog> logs =
      LogsOf([] { RecordOnThreads(16); }, {{"CREMA_MAX_LOG_BYTES", std::to_string(kMostBytes)}});
  EXPECT_EQ(logs.size(), 2u);
  const Together sum = Add(logs);
  EXPECT_GT(sum.summed, 0);
  EXPECT_EQ(sum.lines + sum.summed, 16 * kChunks);
  EXPECT_EQ(sum.dropped, 0);
  std::int64_t bytes = 0;
  for (const RecordLog& log : logs) bytes += static_cast<std::int64_t>(std::filesystem::file_size(log.path));
  EXPECT_LE(bytes, kMostBytes);
}

/// Fault [disk]: the disk of a process with several logs is full for a while
/// Program: nothing
/// Recorded: everything; from then on in sums, in the log of each thread
TEST_F(SeveralLogsFault, OnAFullDiskEachLogHasItsSums) {
  const std::vector<RecordLog> logs = LogsOf([] {
    RecordOnThreads(16);
    Kernel().write_error = ENOSPC;
    RecordOnThreads(16, 5);
    Kernel().write_error = 0;
  });
  EXPECT_EQ(logs.size(), 2u);
  const Together sum = Add(logs);
  EXPECT_EQ(sum.summed, 16 * 5);
  EXPECT_EQ(sum.lines + sum.summed, 16 * (kChunks + 5));
  EXPECT_EQ(sum.dropped, 0);
}

/// Fault [directory]: the logs of a process with several are removed in mid-run
/// Program: nothing
/// Recorded: new logs under their names a second after they were missed; their `end` lines count all chunks
TEST_F(SeveralLogsFault, RemovedOnesAreMadeAnew) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    RecordOnThreads(16);
    std::filesystem::remove_all(directory);
    RecordOnThreads(16, 2);
    usleep(1100000);
    RecordOnThreads(16, 2);
  });
  EXPECT_EQ(run.warning, "");
  std::int64_t chunks = 0;
  for (const RecordLog& log : run.logs) chunks += log.end.has_value() ? log.end->chunks : 0;
  EXPECT_EQ(run.logs.size(), 2u);
  EXPECT_EQ(chunks, 16 * (kChunks + 4));
}

/// Whether a process holds the log's lock.
bool IsHeld(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  close(descriptor);
  return is_held;
}

/// Fault [processes]: a process with several logs forks; both sides go on
/// Program: nothing
/// Recorded: the parent's chunks in its logs, the child's in one of its own; the child holds none of the parent's
TEST_F(SeveralLogsFault, AForkedChildHasItsOwn) {
  const std::string directory = NewDirectory();
  const FaultRun run = RunWithFault(directory, [&] {
    RecordOnThreads(16);
    const std::vector<RecordLog> mine = ReadRecordLogs(directory);
    int go_on[2];
    Require(pipe(go_on) == 0);
    const pid_t child = fork();
    if (child == 0) {
      RecordChunks(3);
      char byte = 0;
      Require(read(go_on[0], &byte, 1) == 1);
      std::exit(0);
    }
    for (const RecordLog& log : mine) Require(IsHeld(log.path));
    RecordChunks(2);
    Require(write(go_on[1], "x", 1) == 1);
    Require(waitpid(child, nullptr, 0) == child);
  });
  ASSERT_EQ(run.logs.size(), 3u);
  std::map<std::int64_t, std::int64_t> chunks_of_process;
  for (const RecordLog& log : run.logs) {
    ASSERT_TRUE(log.process.has_value());
    chunks_of_process[log.process->pid] += static_cast<std::int64_t>(log.chunks.size());
  }
  std::multiset<std::int64_t> counts;
  for (const auto& [process, chunks] : chunks_of_process) counts.insert(chunks);
  EXPECT_EQ(counts, (std::multiset<std::int64_t>{3, 16 * kChunks + 2}));
}

/// Fault [ends]: a process with several logs is killed (`SIGKILL`)
/// Program: it is killed as ever
/// Recorded: all chunks that had ended, in their logs; none of the logs has an `end`
TEST_F(SeveralLogsFault, AKilledProcessLeavesAllChunksThatEnded) {
  const SharedValue<std::atomic<std::int64_t>> ended;
  const FaultRun run = RunWithFault(NewDirectory(), [&] {
    ended->store(0);
    Kernel().slow_writes_us = 1000;
    for (int i = 0; i < 16; ++i) {
      std::thread([&] {
        while (true) {
          RecordChunks(1);
          ++*ended;
        }
      }).detach();
    }
    while (*ended < 16L * kChunks) usleep(1000);
    kill(getpid(), SIGKILL);
    pause();
  });
  EXPECT_EQ(run.logs.size(), 2u);
  std::int64_t lines = 0;
  std::int64_t open = 0;
  for (const RecordLog& log : run.logs) {
    EXPECT_FALSE(log.end.has_value());
    EXPECT_FALSE(IsHeld(log.path));
    lines += static_cast<std::int64_t>(log.chunks.size());
    open += static_cast<std::int64_t>(log.begins.size() - log.chunks.size());
  }
  EXPECT_GE(lines, *ended);
  EXPECT_LE(open, 16);
}

}  // namespace
}  // namespace testing
}  // namespace crema
