// Recording across a fork.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "crema/crema.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/recorded.h"
#include "sdk/tests/shared_value.h"
#include "sdk/tests/without_leak_check.h"

namespace crema {
namespace testing {
namespace {

/// Forks; the child runs `body` and exits. Waits for it, and dies if it failed.
template <class Body>
void InFork(Body body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    std::exit(0);
  }
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) std::abort();
}

/// The logs of a process that ran `body`, and of its children; the process's own first.
std::vector<RecordLog> RecordedLogs(const std::function<void()>& body, const char* interval = "0",
                                    Environment environment = {}) {
  const std::string directory = NewDirectory();
  const SharedValue<std::int64_t> pid;
  environment.insert(environment.end(), {{"CREMA_DIR", directory}, {"CREMA_INTERVAL", interval}});
  const ChildResult child = RunInChild(environment, [&] {
    *pid = getpid();
    body();
  });
  EXPECT_EQ(child.exit_status, 0) << "signal " << child.signal;
  EXPECT_EQ(child.errors, "");
  EXPECT_EQ(child.output, "");
  std::vector<RecordLog> logs = ReadRecordLogs(directory);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    EXPECT_TRUE(logs[i].malformed.empty());
    if (logs[i].process->pid == *pid) std::swap(logs[0], logs[i]);
  }
  return logs;
}

TEST(Fork, OutsideAChunkTheChildHasItsOwnLog) {
  const std::vector<RecordLog> logs = RecordedLogs([] {
    { TrackMetrics metrics("before"); }
    InFork([] { TrackMetrics metrics("child"); });
    TrackMetrics metrics("after");
  });
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0].chunks.size(), 2u);
  ASSERT_EQ(logs[1].chunks.size(), 1u);
  EXPECT_EQ(logs[1].chunks[0].dataset, "child");
  EXPECT_EQ(logs[1].process->parent_pid, logs[0].process->pid);
  EXPECT_TRUE(logs[1].end.has_value());
  EXPECT_EQ(logs[1].end->chunks, 1);
  // The kernel counts the start in hundredths of a second.
  EXPECT_GE(logs[1].process->start_ns, logs[0].process->start_ns - 10000000);
}

/// If a thread of the parent holds something when the process forks, nobody releases it in the child.
TEST(Fork, TheChildDoesNotWaitForTheListOfLoadedFiles) {
  const auto body = [] {
    { TrackMetrics metrics("before"); }
    static std::atomic<bool> is_held{false}, is_over{false};
    std::thread holder([] {
      const auto hold = [](dl_phdr_info*, std::size_t, void*) {
        is_held = true;
        while (!is_over) std::this_thread::yield();
        return 1;
      };
      dl_iterate_phdr(hold, nullptr);
    });
    while (!is_held) std::this_thread::yield();
    InFork([] {
      alarm(60);
      { TrackMetrics metrics("child"); }
      _exit(0);
    });
    is_over = true;
    holder.join();
  };
  const Environment with_gpu = {{"CREMA_GPU", "1"}, {"CUDA_INJECTION64_PATH", "/nowhere/libcrema_gpu.so"}};
  for (const Environment& environment : {Environment(), with_gpu}) {
    const std::vector<RecordLog> logs = RecordedLogs(body, "0", environment);
    ASSERT_EQ(logs.size(), 2u);
    EXPECT_EQ(ChunkOf(logs[1], "child").status, "ok");
  }
}

TEST(Fork, InsideAChunkTheChunkStaysTheParents) {
  const std::vector<RecordLog> logs = RecordedLogs([] {
    TrackMetrics metrics("parent");
    TrackSection section("read");
    TrackMemory memory("buffer");
    InFork([&] {
      metrics.SetEvents(99);
      RecordMetric("jets", 1);
      TrackSection inner("child's section");
    });
    metrics.SetEvents(5);
  });
  ASSERT_GE(logs.size(), 1u);
  ASSERT_EQ(logs[0].chunks.size(), 1u);
  EXPECT_EQ(logs[0].chunks[0].events, 5);
  EXPECT_EQ(Paths(logs[0].chunks[0].sections), std::vector<std::string>{"read"});
  EXPECT_TRUE(logs[0].chunks[0].metrics.empty());
  EXPECT_EQ(logs[0].begins.size(), 1u);
  EXPECT_EQ(logs[0].end->open, 0);
  if (logs.size() > 1) {
    EXPECT_TRUE(logs[1].chunks.empty());
    EXPECT_EQ(logs[1].end->open, 0);
  }
}

/// Leaves the function, so that all guards of the parent end in the child, too.
void ForkInsideEveryGuard(bool* is_child) {
  Span span("process");
  TrackMetrics metrics({"parent", "f", 0, 1});
  TrackSection section("read");
  TrackMemory memory("buffer");
  *is_child = fork() == 0;
}

TEST(Fork, GuardsOfTheParentEndQuietlyInTheChild) {
  const std::vector<RecordLog> logs = RecordedLogs([] {
    bool is_child = false;
    ForkInsideEveryGuard(&is_child);
    if (is_child) {
      TrackMetrics metrics("child");
      return;
    }
    int status = 0;
    if (wait(&status) < 0 || status != 0) std::abort();
  });
  ASSERT_EQ(logs.size(), 2u);
  ASSERT_EQ(logs[0].chunks.size(), 1u);
  EXPECT_EQ(logs[0].spans.size(), 1u);
  ASSERT_EQ(logs[1].chunks.size(), 1u);
  EXPECT_EQ(logs[1].chunks[0].dataset, "child");
  EXPECT_TRUE(logs[1].spans.empty());
  EXPECT_EQ(logs[1].end->dropped, 0);
}

TEST(Fork, GuardsOfTheParentEndQuietlyAfterTheChildsOwn) {
  const std::vector<RecordLog> logs = RecordedLogs([] {
    bool is_child = false;
    {
      TrackMetrics metrics({"parent", "f", 0, 1});
      TrackSection section("read");
      is_child = fork() == 0;
      if (is_child) {
        TrackMetrics own({"child", "f", 1, 2});
        TrackSection inner("select");
      }
    }
    if (is_child) return;
    int status = 0;
    if (wait(&status) < 0 || status != 0) std::abort();
  });
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0].chunks.size(), 1u);
  ASSERT_EQ(logs[1].chunks.size(), 1u);
  EXPECT_EQ(Paths(logs[1].chunks[0].sections), std::vector<std::string>{"select"});
  EXPECT_EQ(logs[1].chunks[0].status, "ok");
}

TEST(Fork, AChildThatUsesNoGuardWritesNothing) {
  const std::vector<RecordLog> logs = RecordedLogs([] {
    TrackMetrics metrics("parent");
    InFork([] {});
  });
  EXPECT_EQ(logs.size(), 1u);
}

// TSan refuses to start threads, here the child's sampler, after a fork of a program that has several.
#ifdef __SANITIZE_THREAD__
constexpr const char* kInterval = "0";
#else
constexpr const char* kInterval = "0.01";
#endif

TEST(Fork, ChildrenOfChildrenAndOfThreadsHaveTheirLogs) {
  const std::vector<RecordLog> logs = RecordedLogs(
      [] {
        TrackSection section("set up");
        std::thread([] {
          TrackMetrics metrics("thread");
          InFork([] {
            TrackMetrics child("child");
            InFork([] { TrackMetrics grandchild("grandchild"); });
          });
        }).join();
      },
      kInterval);
  EXPECT_EQ(logs.size(), 3u);
  for (const RecordLog& log : logs) {
    EXPECT_EQ(log.chunks.size(), 1u);
    EXPECT_EQ(log.begins.size(), 1u);
  }
}

TEST(Fork, HandlesOfTheParentsChunkDoNothingInTheChild) {
  const std::vector<RecordLog> logs = RecordedLogs([] {
    TrackMetrics metrics("parent");
    const ChunkHandle handle = metrics.handle();
    InFork([&] {
      TrackHelper helper(handle);
      TrackSection section("work");
    });
  });
  ASSERT_GE(logs.size(), 1u);
  EXPECT_EQ(logs[0].chunks.at(0).helper_scope_ns, 0);
  EXPECT_TRUE(logs[0].chunks.at(0).sections.empty());
}

bool IsLocked(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  close(descriptor);
  return locked;
}

TEST(Fork, TheParentsLockIsHeldWhileItLivesAndNotByItsChildren) {
  const std::string directory = NewDirectory();
  struct State {
    bool locked_while_alive;
    pid_t survivor;
    std::atomic<bool> survivor_runs;
  };
  const SharedValue<State> state;
  int done[2];
  ASSERT_EQ(pipe2(done, O_CLOEXEC), 0);
  const ChildResult child = RunInChild({{"CREMA_DIR", directory}, {"CREMA_INTERVAL", "0"}}, [&] {
    { TrackMetrics metrics("parent"); }
    state->survivor = fork();
    if (state->survivor == 0) {  // lives on after its parent, until the test says so
      char byte;
      state->survivor_runs = true;
      close(done[1]);
      _exit(read(done[0], &byte, 1) == 0 ? 0 : 1);
    }
    InFork([] {});
    while (!state->survivor_runs) sched_yield();  // until then it has its parent's descriptor too
    state->locked_while_alive = IsLocked(ReadRecordLogs(directory).at(0).path);
  });
  EXPECT_EQ(child.exit_status, 0);
  EXPECT_TRUE(state->locked_while_alive);
  EXPECT_EQ(kill(state->survivor, 0), 0);
  EXPECT_FALSE(IsLocked(ReadRecordLogs(directory).at(0).path));
  close(done[1]);
  close(done[0]);
}

}  // namespace
}  // namespace testing
}  // namespace crema
