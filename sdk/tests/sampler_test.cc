// The thread that writes a sample at each interval.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/child_process.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/refused_calls.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

/// Waits until the log below CREMA_DIR has so many samples; gives up after 20 s.
void WaitForSamples(std::size_t samples) {
  const std::int64_t until = WallNs() + 20000000000;
  while (WallNs() < until) {
    const std::vector<RecordLog> logs = ReadRecordLogs(std::getenv("CREMA_DIR"));
    if (!logs.empty() && logs[0].samples.size() >= samples) return;
    Sleep(5000000);
  }
  std::abort();
}

/// The line of `/proc/self/task/*/status` that begins with `key`, of the thread of this name; empty if there is none.
std::string StatusOfThread(const std::string& name, const std::string& key) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string line;
    bool is_it = false;
    while (std::getline(status, line)) {
      if (line == "Name:\t" + name) is_it = true;
      if (is_it && line.compare(0, key.size(), key) == 0) return line;
    }
  }
  return {};
}

TEST(Sampler, WritesTheProcessAtEachInterval) {
  const SharedValue<std::int64_t> threads;
  const RecordLog log = Recorded(
      [&] {
        TrackSection section("set up");
        *threads = Threads();
        WaitForSamples(4);
        TrackMetrics metrics("ttbar");
        WaitForSamples(7);
      },
      {{"CREMA_INTERVAL", "0.02"}});
  ASSERT_GE(log.samples.size(), 7u);
  EXPECT_EQ(log.samples[0].open_chunks, 0);
  EXPECT_EQ(log.samples.back().open_chunks, 1);
  std::int64_t setup_ns = 0;
  for (std::size_t i = 1; i < log.samples.size(); ++i) {
    EXPECT_GT(log.samples[i].time_ns, log.samples[i - 1].time_ns);
    EXPECT_GE(log.samples[i].cpu_ns, log.samples[i - 1].cpu_ns);
    if (setup_ns == 0 && !HasSection(log.samples[i].sections, "set up")) continue;  // not yet begun
    EXPECT_GT(Section(log.samples[i].sections, "set up").total_ns, setup_ns);
    setup_ns = Section(log.samples[i].sections, "set up").total_ns;
  }
  EXPECT_GT(setup_ns, 0);
  EXPECT_EQ(log.samples.back().threads, *threads);
  EXPECT_GT(log.samples[0].rss_bytes, 0);
}

TEST(Sampler, WritesOneWhereTheIntervalIsBeyondAllClocks) {
  for (const char* interval : {"1e300", "1e18", "9223372036"}) {
    const RecordLog log = Recorded(
        [] {
          TrackMetrics metrics("ttbar");
          WaitForSamples(1);
          Sleep(20000000);
        },
        {{"CREMA_INTERVAL", interval}});
    EXPECT_EQ(log.samples.size(), 1u) << interval;
  }
}

TEST(Sampler, ReadsSectionsWhileOtherThreadsAreInThem) {
  const RecordLog log = Recorded(
      [] {
        TrackSection all("all");
        const std::int64_t until = WallNs() + 300000000;
        for (int i = 0; WallNs() < until; ++i) {
          TrackSection section("step " + std::to_string(i % 700));
          TrackSection inner("inner");
        }
      },
      {{"CREMA_INTERVAL", "0.01"}});
  EXPECT_GT(log.samples.size(), 1u);
  for (const SampleLine& sample : log.samples) {
    for (const SectionRow& row : sample.sections) {
      EXPECT_GE(row.self_ns, 0) << row.path;
      EXPECT_LE(row.self_ns, row.total_ns) << row.path;
    }
  }
}

TEST(Sampler, BlocksAllSignals) {
  Recorded(
      [] {
        TrackSection section("set up");
        const std::string blocked = StatusOfThread("crema", "SigBlk:");
        for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGPROF, SIGCHLD}) {
          const unsigned long long mask = std::strtoull(blocked.c_str() + sizeof "SigBlk:", nullptr, 16);
          if ((mask >> (signal - 1) & 1) == 0) std::abort();
        }
        if (StatusOfThread("crema", "SigBlk:") == StatusOfThread("sampler_test", "SigBlk:")) std::abort();
      },
      {{"CREMA_INTERVAL", "10"}});
}

TEST(Sampler, MayHaveItsCallsTrappedByTheProgram) {
  const SharedValue<bool> is_over;
  Recorded(
      [&] {
        struct sigaction action = {};
        action.sa_handler = [](int) {};  // the call's result is its number
        sigaction(SIGSYS, &action, nullptr);
        TrackSection section("set up");
        WaitForSamples(2);
        TrapCalls({SYS_getrusage, SYS_pread64});
        Sleep(100000000);
        *is_over = true;
      },
      {{"CREMA_INTERVAL", "0.01"}});
  EXPECT_TRUE(*is_over);
}

TEST(Sampler, IsNotThereWhenTheIntervalIsZero) {
  const RecordLog log = Recorded(
      [] {
        TrackSection section("set up");
        if (!StatusOfThread("crema", "Name:").empty()) std::abort();
      },
      {{"CREMA_INTERVAL", "0"}, {"CREMA_WAITS", "off"}});
  EXPECT_TRUE(log.samples.empty());
}

// ThreadSanitizer has a thread of its own, which keeps such a process alive for ever, with and without crema.
#ifdef __SANITIZE_THREAD__
constexpr bool kEndsWithItsLastThread = false;
#else
constexpr bool kEndsWithItsLastThread = true;
#endif

/// Ends the first thread of a child that records, as pthread_exit(3) in `main` does, and waits for its process.
std::vector<RecordLog> LogsOfChildWhoseFirstThreadEnds(const char* interval, const std::function<void()>& body) {
  const std::string directory = NewDirectory();
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", interval}}, [&] {
    { TrackMetrics metrics("ttbar"); }
    body();
    syscall(SYS_exit, 0);
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_EQ(child.errors, "");
  return ReadRecordLogs(directory);
}

TEST(Sampler, EndsWhereAllOtherThreadsHaveEnded) {
  if (!kEndsWithItsLastThread) GTEST_SKIP() << "ThreadSanitizer keeps the process alive";
  for (const char* interval : {"0.01", "1e9"}) {
    const std::vector<RecordLog> logs = LogsOfChildWhoseFirstThreadEnds(interval, [] {});
    ASSERT_EQ(logs.size(), 1u);
    EXPECT_EQ(logs[0].chunks.size(), 1u);
  }
}

TEST(Sampler, LetsOtherThreadsWorkOnAfterTheFirstOne) {
  if (!kEndsWithItsLastThread) GTEST_SKIP() << "ThreadSanitizer keeps the process alive";
  const std::vector<RecordLog> logs = LogsOfChildWhoseFirstThreadEnds("0.1", [] {
    std::thread([] {
      Sleep(1000000000);
      TrackMetrics metrics("later");
    }).detach();
  });
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].chunks.size(), 2u);
}

TEST(Sampler, DoesNotHoldUpTheExit) {
  const std::int64_t before = WallNs();
  Recorded([] { TrackSection section("set up"); }, {{"CREMA_INTERVAL", "3600"}});
  EXPECT_LT(WallNs() - before, 60000000000);  // not an hour
}

}  // namespace
}  // namespace testing
}  // namespace crema
