// The log that a process leaves when it ends: by exit, by a signal, in the middle of a chunk.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

/// The only log of a child that ran `body`, however it ended.
RecordLog LogOfChild(const std::function<void()>& body, ChildResult* child) {
  const std::string directory = NewDirectory();
  *child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, body);
  const std::vector<RecordLog> logs = ReadRecordLogs(directory);
  EXPECT_EQ(logs.size(), 1u);
  return logs.empty() ? RecordLog() : logs[0];
}

void RecordThreeChunks() {
  for (int i = 0; i < 3; ++i) TrackMetrics metrics({"done", "f", i, i + 1});
}

TEST(Exit, InsideAChunkCountsItAsOpen) {
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        RecordThreeChunks();
        TrackMetrics metrics("open");
        std::exit(3);
      },
      &child);
  EXPECT_EQ(child.exit_status, 3);
  EXPECT_EQ(child.errors, "");
  EXPECT_EQ(log.chunks.size(), 3u);
  EXPECT_EQ(log.begins.size(), 4u);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->chunks, 3);
  EXPECT_EQ(log.end->open, 1);
}

TEST(Exit, WhileAnotherThreadIsInAChunkCountsItAsOpen) {
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        std::atomic<bool> open{false};
        std::thread([&] {
          TrackMetrics metrics("open");
          open = true;
          while (true) pause();
        }).detach();
        while (!open) std::this_thread::yield();
        std::exit(0);
      },
      &child);
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(log.end->open, 1);
  EXPECT_EQ(log.begins.size(), 1u);
}

TEST(Exit, ByQuickExitWritesTheEndToo) {
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        RecordThreeChunks();
        std::quick_exit(4);
      },
      &child);
  EXPECT_EQ(child.exit_status, 4);
  EXPECT_TRUE(log.end.has_value());
}

TEST(Exit, GuardsInStaticDestructorsDoNoHarm) {
  struct UsesGuards {
    ~UsesGuards() {
      TrackMetrics metrics("too late");
      TrackSection section("too late");
      TrackMemory memory("too late");
      Span span("too late");
      RecordMetric("too late", 1);
      Flush();
    }
  };
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        static UsesGuards early;  // destroyed after the recorder's end
        thread_local UsesGuards of_thread;
        RecordThreeChunks();
        static UsesGuards late;  // before it
        (void)&early;
        (void)&late;
        (void)&of_thread;
      },
      &child);
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(child.errors, "");
  EXPECT_EQ(log.chunks.size(), 5u);  // the thread's and the later one's, too
  EXPECT_TRUE(log.malformed.empty());
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->dropped, 0);
}

TEST(Kill, InsideAChunkLeavesItsBeginAndAllFinishedChunks) {
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        RecordThreeChunks();
        TrackMetrics metrics({"lost", "f", 3, 4});
        TrackSection section("read");
        kill(getpid(), SIGKILL);
      },
      &child);
  EXPECT_EQ(child.signal, SIGKILL);
  ASSERT_EQ(log.begins.size(), 4u);
  EXPECT_EQ(log.begins[3].dataset, "lost");
  EXPECT_EQ(log.begins[3].entry_start, 3);
  EXPECT_EQ(log.chunks.size(), 3u);
  for (const ChunkLine& chunk : log.chunks) EXPECT_NE(chunk.number, log.begins[3].number);
  EXPECT_FALSE(log.end.has_value());
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_TRUE(log.ends_with_newline);
}

TEST(Kill, WhileManyThreadsWriteTearsTheLastLineAtMost) {
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        std::atomic<int> chunks{0};
        for (int i = 0; i < 4; ++i) {
          std::thread([&] {
            while (true) {
              TrackMetrics metrics("ttbar");
              TrackSection section("read");
              ++chunks;
            }
          }).detach();
        }
        while (chunks < 2000) std::this_thread::yield();
        kill(getpid(), SIGKILL);
      },
      &child);
  EXPECT_EQ(child.signal, SIGKILL);
  // The kernel ends a write between two pages of the file when the process is killed: only the last line can be torn.
  EXPECT_EQ(log.malformed.size(), log.ends_with_newline ? 0u : 1u);
  EXPECT_GE(log.chunks.size(), 1900u);
  EXPECT_LE(log.begins.size() - log.chunks.size(), 4u);
}

TEST(Exit, ByUnderscoreExitLosesOnlyTheEnd) {
  ChildResult child;
  const RecordLog log = LogOfChild(
      [] {
        RecordThreeChunks();
        _exit(0);
      },
      &child);
  EXPECT_EQ(log.chunks.size(), 3u);
  EXPECT_FALSE(log.end.has_value());
}

}  // namespace
}  // namespace testing
}  // namespace crema
