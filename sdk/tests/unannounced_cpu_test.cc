// Which chunk gets the CPU time of threads without guards and of child processes. The kernel's clocks measure the
// loads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kLoad = 100000000;  // ns
constexpr std::int64_t kNoise = 5000000;   // threads also begin and end
constexpr std::int64_t kTick = 10000000;   // RUSAGE_CHILDREN may be as coarse

void ExpectNear(MaybeInteger value, std::int64_t expected, std::int64_t tolerance) {
  ASSERT_TRUE(value.has_value());
  EXPECT_GE(*value, expected - tolerance / 10);
  EXPECT_LE(*value, expected + tolerance);
}

void ComputeOnThreads(int threads) {
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back([] { SpinCpu(kLoad); });
  for (std::thread& thread : pool) thread.join();
}

TEST(UnannouncedCpu, IsTheOnlyChunks) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    ComputeOnThreads(2);
  });
  ExpectNear(chunk.unannounced_cpu_ns, 2 * kLoad, kNoise);
  ExpectNear(chunk.children_cpu_ns, 0, kTick);
}

TEST(UnannouncedCpu, IsNotThatOfTheChunksThread) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    SpinCpu(kLoad);
  });
  ExpectNear(chunk.unannounced_cpu_ns, 0, kNoise);
}

TEST(UnannouncedCpu, IsNotThatOfAHelper) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    const ChunkHandle handle = metrics.handle();
    std::thread([&] {
      TrackHelper helper(handle);
      SpinCpu(kLoad);
    }).join();
  });
  ExpectNear(chunk.unannounced_cpu_ns, 0, kNoise);
}

TEST(UnannouncedCpu, IsNotWhatThreadsUsedBetweenChunks) {
  const RecordLog log = Recorded([] {
    for (int i = 0; i < 3; ++i) {
      ComputeOnThreads(1);
      TrackMetrics metrics("ttbar");
    }
  });
  ASSERT_EQ(log.chunks.size(), 3u);
  for (const ChunkLine& chunk : log.chunks) ExpectNear(chunk.unannounced_cpu_ns, 0, kNoise);
}

/// The number after this key in the log's last line.
std::int64_t OfEnd(const RecordLog& log, const std::string& key) {
  const std::string& line = log.lines.back();
  const std::size_t at = line.find("\"" + key + "\":");
  return at == std::string::npos ? -1 : std::strtoll(line.c_str() + at + key.size() + 3, nullptr, 10);
}

TEST(UnannouncedCpu, IsNotThatOfAThreadThatAlsoRunsBetweenChunks) {
  const RecordLog log = Recorded([] {
    std::atomic<bool> is_over{false};
    std::thread logger([&] {
      while (!is_over) {
      }
    });
    for (int i = 0; i < 10; ++i) {
      { TrackMetrics metrics("short"); }
      Sleep(kLoad / 2);
      TrackMetrics metrics("ttbar");
      Sleep(kLoad / 2);
    }
    is_over = true;
    logger.join();
  });
  std::int64_t given = 0;
  for (const ChunkLine& chunk : log.chunks) given += chunk.unannounced_cpu_ns.value_or(0);
  EXPECT_GT(OfEnd(log, "alone_cpu_ns"), kLoad / 10);  // a busy machine gives the thread a part of a CPU
  EXPECT_LT(given, OfEnd(log, "alone_cpu_ns") / 2);   // and its rate varies
}

/// What chunks of 20 ms were given of a library's thread that computes in them, and spins for 25 ms after each, of what
/// it used in them. Pauses take `pause_ns`.
double GivenOfASpinningThread(std::int64_t pause_ns) {
  const SharedValue<std::int64_t> used_ns;
  const RecordLog log = Recorded([&] {
    std::atomic<std::int64_t> until_ns{0};
    std::atomic<bool> is_over{false};
    std::atomic<clockid_t> clock{0};
    std::thread library([&] {
      clockid_t own = 0;
      pthread_getcpuclockid(pthread_self(), &own);
      clock = own;
      while (!is_over) {
        if (WallNs() > until_ns) Sleep(100000);
      }
    });
    while (clock == 0) Sleep(1000000);
    for (int i = 0; i < 30; ++i) {
      {
        TrackMetrics metrics("ttbar");
        const std::int64_t before_ns = ClockNs(clock);
        until_ns = WallNs() + 45000000;
        Sleep(20000000);
        *used_ns += ClockNs(clock) - before_ns;
      }
      Sleep(pause_ns);
    }
    is_over = true;
    library.join();
  });
  std::int64_t given_ns = 0;
  for (const ChunkLine& chunk : log.chunks) given_ns += chunk.unannounced_cpu_ns.value_or(0);
  return static_cast<double>(given_ns) / static_cast<double>(*used_ns);
}

TEST(UnannouncedCpu, OfAThreadThatSpinsAfterItsWorkIsTheChunks) {
  for (const std::int64_t pause_ns : {0, 3000000, 60000000, 150000000}) {
    const double given = GivenOfASpinningThread(pause_ns);
    EXPECT_GT(given, 0.8) << pause_ns;
    EXPECT_LT(given, 1.1) << pause_ns;
  }
}

TEST(UnannouncedCpu, IsNobodysWhileSeveralChunksAreOpen) {
  const RecordLog log = Recorded([] {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = false;
    bool is_over = false;
    std::thread other([&] {
      TrackMetrics metrics("zjets");
      std::unique_lock<std::mutex> lock(mutex);
      is_open = true;
      changed.notify_all();
      changed.wait(lock, [&] { return is_over; });
    });
    {
      TrackMetrics metrics("ttbar");
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return is_open; });
      }
      ComputeOnThreads(2);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex);
      is_over = true;
      changed.notify_all();
    }
    other.join();
  });
  for (const ChunkLine& chunk : log.chunks) EXPECT_LE(chunk.unannounced_cpu_ns.value_or(0), kNoise);
}

TEST(UnannouncedCpu, IsNotThatOfAThreadThatHadAChunkBefore) {
  const RecordLog log = Recorded([] {
    std::mutex mutex;
    std::condition_variable changed;
    bool had_chunk = false;
    bool is_open = false;
    std::thread other([&] {
      { TrackMetrics metrics("zjets"); }
      std::unique_lock<std::mutex> lock(mutex);
      had_chunk = true;
      changed.notify_all();
      changed.wait(lock, [&] { return is_open; });
      lock.unlock();
      SpinCpu(kLoad);  // no chunk of this thread is open
    });
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return had_chunk; });
    }
    TrackMetrics metrics("ttbar");
    {
      const std::lock_guard<std::mutex> lock(mutex);
      is_open = true;
      changed.notify_all();
    }
    other.join();
  });
  ExpectNear(ChunkOf(log, "ttbar").unannounced_cpu_ns, 0, kNoise);
}

TEST(UnannouncedCpu, IsNotThatOfThreadsWhoseChunksTakeTurns) {
  const RecordLog log = Recorded([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([] {
        for (int chunk = 0; chunk < 100; ++chunk) {
          TrackMetrics metrics("ttbar");
          for (volatile int step = 0; step < 2000000; step = step + 1) {  // it reads no clock
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  std::int64_t given = 0;
  for (const ChunkLine& chunk : log.chunks) given += chunk.unannounced_cpu_ns.value_or(0);
  EXPECT_LE(given, kNoise);
}

TEST(ChildrensCpu, IsTheOnlyChunks) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    const pid_t child = fork();
    if (child == 0) {
      SpinCpu(kLoad);
      _exit(0);
    }
    if (waitpid(child, nullptr, 0) != child) std::abort();
  });
  ExpectNear(chunk.children_cpu_ns, kLoad, kTick);
  ExpectNear(chunk.unannounced_cpu_ns, 0, kNoise);
}

/// A child that lives on: it computes when it is asked to.
class Companion {
 public:
  Companion() {
    if (pipe(asked_) != 0 || pipe(answered_) != 0) std::abort();
    child_ = fork();
    if (child_ != 0) return;
    char byte = 0;
    while (read(asked_[0], &byte, 1) == 1 && byte != 0) {
      SpinCpu(kLoad);
      if (write(answered_[1], &byte, 1) != 1) break;
    }
    _exit(0);
  }
  ~Companion() {
    const char byte = 0;
    if (write(asked_[1], &byte, 1) != 1) std::abort();
    waitpid(child_, nullptr, 0);
    for (const int end : {asked_[0], asked_[1], answered_[0], answered_[1]}) close(end);
  }
  void Compute() {
    char byte = 1;
    if (write(asked_[1], &byte, 1) != 1 || read(answered_[0], &byte, 1) != 1) std::abort();
  }

 private:
  int asked_[2];
  int answered_[2];
  pid_t child_ = 0;
};

TEST(ChildrensCpu, OfAChildThatLivesOnIsThatOfTheChunkInWhichItComputed) {
  const RecordLog log = Recorded([] {
    { TrackMetrics metrics("before"); }
    std::optional<Companion> companion(std::in_place);
    companion->Compute();  // for no chunk
    for (const char* dataset : {"first", "second"}) {
      TrackMetrics metrics(dataset);
      companion->Compute();
    }
    { TrackMetrics metrics("idle"); }
    TrackMetrics metrics("waits for its end");
    companion.reset();
  });
  for (const char* dataset : {"first", "second"}) ExpectNear(ChunkOf(log, dataset).children_cpu_ns, kLoad, kTick);
  for (const char* dataset : {"before", "idle", "waits for its end"}) {
    ExpectNear(ChunkOf(log, dataset).children_cpu_ns, 0, kTick);
  }
}

TEST(ChildrensCpu, IsKnownOfAChildThatTheChunkBegan) {
  const RecordLog log = Recorded([] {
    std::optional<Companion> companion;
    {
      TrackMetrics metrics("begins it");
      companion.emplace();
      companion->Compute();
    }
    TrackMetrics metrics("waits for its end");
    companion.reset();
  });
  ExpectNear(ChunkOf(log, "begins it").children_cpu_ns, kLoad, kTick);
  ExpectNear(ChunkOf(log, "waits for its end").children_cpu_ns, 0, kTick);
}

TEST(ChildrensCpu, NeedsNoFileThatIsOpenedAnew) {
  const RecordLog log = Recorded([] {
    { TrackMetrics metrics("before"); }
    RefuseCalls({SYS_openat}, EPERM);  // as a filter that may as well kill
    std::optional<Companion> companion;
    {
      TrackMetrics metrics("begins it");
      companion.emplace();
      companion->Compute();
    }
    TrackMetrics metrics("waits for its end");
    companion.reset();
  });
  ExpectNear(ChunkOf(log, "begins it").children_cpu_ns, kLoad, kTick);
  ExpectNear(ChunkOf(log, "waits for its end").children_cpu_ns, 0, kTick);
}

TEST(ChildrensCpu, OfAChildForWhichNobodyWaitsIsNotLost) {
  const RecordLog log = Recorded([] {
    signal(SIGCHLD, SIG_IGN);
    std::optional<Companion> companion;
    {
      TrackMetrics metrics("begins it");
      companion.emplace();
      companion->Compute();
    }
    {
      TrackMetrics metrics("sees its end");
      companion.reset();
    }
    TrackMetrics metrics("begins another");
    companion.emplace();
    companion->Compute();
  });
  for (const char* dataset : {"begins it", "begins another"}) {
    ExpectNear(ChunkOf(log, dataset).children_cpu_ns, kLoad, kTick);
  }
  ExpectNear(ChunkOf(log, "sees its end").children_cpu_ns, 0, kTick);
}

TEST(KernelsPeak, IsThatOfAChunkThatRaisesIt) {
  const ChunkLine chunk = RecordedChunk([] {
    TrackMetrics metrics("ttbar");
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    void* const mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    auto* const memory = static_cast<volatile char*>(mapped);
    for (std::size_t i = 0; i < kBytes; i += 4096) memory[i] = 1;
    munmap(mapped, kBytes);
  });
  EXPECT_GE(chunk.rss_peak_bytes.value_or(0) - chunk.rss_stop_bytes.value_or(0), 60 << 20);
  EXPECT_GE(chunk.minor_faults.value_or(0), 1);
}

}  // namespace
}  // namespace testing
}  // namespace crema
