// How many descriptors recording holds, and what it does when there are none.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/sanitized.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/without_leak_check.h"

namespace crema {
namespace testing {
namespace {

struct Held {
  int with_all_open;
  int after;
};

/// Opens a chunk on each of so many threads at once.
void OpenChunksAtOnce(int threads, Held* held) {
  const int before = OpenDescriptors();
  std::atomic<int> open{0};
  std::atomic<bool> go_on{false};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      TrackMetrics metrics("ttbar");
      TrackMemory memory("jets");
      ++open;
      while (!go_on) std::this_thread::yield();
    });
  }
  while (open < threads) std::this_thread::yield();
  held->with_all_open = OpenDescriptors() - before;
  go_on = true;
  for (std::thread& thread : running) thread.join();
  held->after = OpenDescriptors() - before;
}

void ExpectFullRecords(const RecordLog& log, std::size_t chunks) {
  EXPECT_EQ(log.chunks.size(), chunks);
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_TRUE(chunk.rss_start_bytes.has_value());
    EXPECT_TRUE(chunk.rss_stop_bytes.has_value());
    EXPECT_EQ(Memory(chunk, "jets").count, 1);
  }
}

TEST(Descriptors, AtMost64AreHeld) {
  const SharedValue<Held> held;
  const RecordLog log = Recorded([&] { OpenChunksAtOnce(60, &*held); });
  EXPECT_LE(held->with_all_open, 64);
  EXPECT_GT(held->with_all_open, 50);
  // The log, the room that is kept for its end, the process's RSS, the list of its children. A sampler that looks a
  // hundred times a second may be opening or closing one.
  EXPECT_NEAR(held->after, 4, RunsWithOptions() ? 1 : 0);
  ExpectFullRecords(log, 60);
}

TEST(Descriptors, AtMostAnEighthOfTheLimitAreHeld) {
  const SharedValue<Held> held;
  const RecordLog log = Recorded([&] {
    const rlimit limit{80, 1000};
    setrlimit(RLIMIT_NOFILE, &limit);
    OpenChunksAtOnce(20, &*held);
  });
  EXPECT_LE(held->with_all_open, 10);
  EXPECT_EQ(held->after, 4);
  ExpectFullRecords(log, 20);
}

TEST(Descriptors, WhatCannotBeReadWithoutOneIsNull) {
  const ChunkLine chunk = RecordedChunk([] {
    { TrackSection section("opens the log"); }
    const rlimit limit{32, 1000};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0) {
    }
    TrackMetrics metrics("ttbar");
    TrackMemory memory("jets");
  });
  EXPECT_EQ(chunk.status, "ok");
  EXPECT_TRUE(chunk.cpu_ns.has_value());
  EXPECT_EQ(chunk.rss_start_bytes, std::nullopt);
  EXPECT_EQ(chunk.cpu_wait_ns, std::nullopt);
  EXPECT_TRUE(chunk.io_read_bytes.has_value());
}

TEST(Descriptors, OfAProgramThatClosedAllAreLeftAlone) {
  const std::string file = NewDirectory() + "/mine";
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [&] {
    std::thread([&] {
      { TrackMetrics metrics("before"); }
      for (int descriptor = 3; descriptor < 100; ++descriptor) close(descriptor);
      int mine[10];
      for (int& descriptor : mine) descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
      if (write(mine[0], "mine\n", 5) != 5) std::abort();
      {
        TrackMetrics metrics("after");
        TrackSection section("read");
        TrackMemory memory("jets");
      }
      // Recording may not write into them now, nor close them when the thread ends.
    }).join();
    for (int descriptor = 3; descriptor < 13; ++descriptor) {
      if (fcntl(descriptor, F_GETFD) < 0) std::abort();
    }
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  const RecordLog mine = ReadRecordLog(file);
  EXPECT_EQ(mine.lines, std::vector<std::string>{"mine"});
  EXPECT_EQ(ReadRecordLogs(directory).at(0).chunks.size(), 2u);  // the log has a higher number
}

TEST(Descriptors, ThousandsOfShortThreadsTakeNoMoreAndNoMemory) {
  struct Growth {
    std::int64_t bytes;
    int descriptors;
  };
  const SharedValue<Growth> growth;
  const RecordLog log = Recorded([&] {
    const auto run_threads = [](int threads) {
      for (int i = 0; i < threads; ++i) {
        std::thread([] {
          TrackSection section("outside");
          TrackMetrics metrics("ttbar");
          TrackSection inside("inside");
        }).join();
      }
    };
    run_threads(500);
    const std::int64_t bytes = ResidentBytes();
    const int descriptors = OpenDescriptors();
    run_threads(9500);
    growth->bytes = ResidentBytes() - bytes;
    growth->descriptors = OpenDescriptors() - descriptors;
  });
  EXPECT_EQ(log.chunks.size(), 10000u);
  EXPECT_EQ(Section(log.end->sections, "outside").count, 10000);
  EXPECT_EQ(growth->descriptors, 0);
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts";
  EXPECT_LT(growth->bytes, 2 << 20);  // a thread's own memory is over 10 kB: 95 MB if it were not used again
}

}  // namespace
}  // namespace testing
}  // namespace crema
