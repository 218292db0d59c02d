// What threads are seen waiting for. Each wait lasts until it was seen often enough, so a busy machine changes nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/child_process.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/recorded.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kMillisecond = 1000000;
constexpr std::int64_t kLongEnough = 500 * kMillisecond;  // some 50 looks; on a busy machine fewer
const Environment kOften = {{"CREMA_WAITS", "100"}};

/// Samples of a section by kind, without those in which it ran.
std::vector<WaitRow> WaitsIn(const ChunkLine& chunk, const std::string& path) {
  std::vector<WaitRow> waits;
  for (const WaitRow& row : chunk.waits) {
    if (row.path == path && row.kind != "running") waits.push_back(row);
  }
  return waits;
}

/// The chunk in which a section waited in this way, again and again until it was long enough.
ChunkLine ChunkThatWaits(const std::function<void()>& wait, const Environment& environment = kOften) {
  return RecordedChunk(
      [&] {
        TrackMetrics metrics("ttbar");
        const std::int64_t until = WallNs() + kLongEnough;
        TrackSection section("wait");
        while (WallNs() < until) wait();
      },
      environment);
}

/// What else was seen is rare: threads that begin and end wait for the kernel, too.
void ExpectMostly(const ChunkLine& chunk, const std::string& kind) {
  std::int64_t of_kind = 0;
  std::int64_t of_others = 0;
  for (const WaitRow& row : WaitsIn(chunk, "wait")) {
    (row.kind == kind ? of_kind : of_others) += row.samples;
    EXPECT_TRUE(row.kind != kind || !row.object.has_value());
  }
  EXPECT_GT(of_kind, of_others);
}

TEST(Waits, OfASleepAreSleep) {
  ExpectMostly(ChunkThatWaits([] { Sleep(100 * kMillisecond); }), "sleep");
}

TEST(Waits, OfAPipeAreReadsOfAPipe) {
  const ChunkLine chunk = ChunkThatWaits([] {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    std::thread writer([&] {
      Sleep(100 * kMillisecond);
      if (write(ends[1], "x", 1) != 1) std::abort();
    });
    char byte = 0;
    if (read(ends[0], &byte, 1) != 1) std::abort();
    writer.join();
    close(ends[0]);
    close(ends[1]);
  });
  std::int64_t reads = 0;
  for (const WaitRow& row : WaitsIn(chunk, "wait")) {
    if (row.kind == "read" && row.object == "pipe") reads += row.samples;
  }
  EXPECT_GE(reads, 1);
}

TEST(Waits, OfAMutexAreLocks) {
  const ChunkLine chunk = ChunkThatWaits([] {
    std::mutex mutex;
    std::atomic<bool> is_held{false};
    std::thread holder([&] {
      const std::lock_guard<std::mutex> lock(mutex);
      is_held = true;
      Sleep(100 * kMillisecond);
    });
    while (!is_held) sched_yield();
    mutex.lock();
    mutex.unlock();
    holder.join();
  });
  ExpectMostly(chunk, "lock or condition");
}

TEST(Waits, OfAChildAreForAChildProcess) {
  const ChunkLine chunk = ChunkThatWaits([] {
    const pid_t child = fork();
    if (child == 0) {
      Sleep(100 * kMillisecond);
      _exit(0);
    }
    if (waitpid(child, nullptr, 0) != child) std::abort();
  });
  ExpectMostly(chunk, "child process");
}

TEST(Waits, StandInTheSectionThatIsOpen) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        {
          TrackSection outer("outer");
          TrackSection inner("a/b");
          Sleep(kLongEnough);
        }
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_EQ(WaitsIn(chunk, "outer/a%2Fb").size(), 1u);
  EXPECT_EQ(WaitsIn(chunk, "").size(), 1u);
  EXPECT_EQ(WaitsIn(chunk, "outer").size(), 0u);
}

TEST(Waits, OfAHelperStandBelowItsChunksSection) {
  const ChunkLine chunk = RecordedChunk(
      [] {
        TrackMetrics metrics("ttbar");
        TrackSection section("infer");
        const ChunkHandle handle = metrics.handle();
        std::thread([&] {
          TrackHelper helper(handle);
          TrackSection part("part");
          Sleep(kLongEnough);
        }).join();
      },
      kOften);
  ASSERT_EQ(WaitsIn(chunk, "infer/part").size(), 1u);
  EXPECT_EQ(WaitsIn(chunk, "infer/part")[0].kind, "sleep");
}

TEST(Waits, AreOffWhereItIsAskedFor) {
  for (const char* off : {"off", "0"}) {
    const ChunkLine chunk = ChunkThatWaits([] { Sleep(100 * kMillisecond); }, {{"CREMA_WAITS", off}});
    EXPECT_TRUE(chunk.waits.empty());
  }
}

TEST(Waits, EndWhenRecordingIsSwitchedOff) {
  const RecordLog log = Recorded(
      [] {
        TrackMetrics metrics("ttbar");
        Disable();
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_NE(log.lines.back().find("\"wait_samples\":0"), std::string::npos) << log.lines.back();
}

TEST(Waits, AreRefusedToAProcessThatIsNotDumpable) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read the file in any case";
  const RecordLog log = Recorded(
      [] {
        prctl(PR_SET_DUMPABLE, 0);
        TrackMetrics metrics("ttbar");
        Sleep(kLongEnough);
      },
      kOften);
  EXPECT_NE(log.lines.back().find("does not let this process see"), std::string::npos) << log.lines.back();
}

}  // namespace
}  // namespace testing
}  // namespace crema
