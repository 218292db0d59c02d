// Programs that start other programs, and ends in the middle of a chunk.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/process_usage.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/without_leak_check.h"  // AChunkThatIsNeverEnded

namespace crema {
namespace testing {
namespace {

constexpr const char* kOtherProgram = "sdk/tests/faults/recorded_program";

void WaitFor(pid_t pid, int exit_status) {
  int status = 0;
  Require(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == exit_status);
}

/// The log whose process recorded a chunk of this dataset, or began one.
const RecordLog& LogOf(const std::vector<RecordLog>& logs, const std::string& dataset) {
  for (const RecordLog& log : logs) {
    for (const BeginLine& begin : log.begins) {
      if (begin.dataset == dataset) return log;
    }
  }
  ADD_FAILURE() << "no log of " << dataset;
  return logs.at(0);
}

/// Fault [processes]: `fork` inside and outside a chunk, with guards used on both sides
/// Program: nothing
/// Recorded: the parent's chunk by the parent, the child's in a log of its own
TEST(ProcessFault, ForkInsideAndOutsideAChunk) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    const auto child = [] {
      RecordChunks(2, "child");
      _exit(5);
    };
    {
      TrackMetrics metrics({"parent", "f", 0, 1});
      TrackSection section("forks");
      const pid_t pid = fork();
      if (pid == 0) child();
      WaitFor(pid, 5);
    }
    const pid_t pid = fork();
    if (pid == 0) child();
    WaitFor(pid, 5);
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 3u);
  std::size_t of_children = 0;
  for (const RecordLog& log : run.logs) {
    EXPECT_TRUE(log.malformed.empty());
    for (const ChunkLine& chunk : log.chunks) of_children += chunk.dataset == "child" ? 1 : 0;
  }
  EXPECT_EQ(of_children, 4u);
  const RecordLog& parent = LogOf(run.logs, "parent");
  EXPECT_EQ(parent.chunks.size(), 1u);
  EXPECT_EQ(parent.end->open, 0);
}

/// Fault [processes]: children of `clone`, which no handler of `fork` sees, with guards used on both sides
/// Program: nothing
/// Recorded: the parent's chunks by the parent, the child's in a log of its own
TEST(ProcessFault, CloneInsideAndOutsideAChunk) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    const auto clone_and_exit = [] {
      std::fflush(stdout);
      const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
      if (pid == 0) {
        RecordChunks(2, "child");
        std::exit(5);
      }
      WaitFor(pid, 5);
    };
    {
      TrackMetrics metrics({"parent", "f", 0, 1});
      TrackSection section("clones");
      clone_and_exit();
    }
    clone_and_exit();
    RecordChunks(1, "parent");
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 3u);
  for (const RecordLog& log : run.logs) {
    EXPECT_TRUE(log.malformed.empty());
    EXPECT_EQ(log.chunks.size(), 2u);
    ASSERT_TRUE(log.end.has_value());
    EXPECT_EQ(log.end->chunks, 2);
    EXPECT_EQ(log.end->open, 0);
  }
  EXPECT_EQ(LogOf(run.logs, "parent").process->pid, LogOf(run.logs, "child").process->parent_pid);
}

/// Fault [processes]: 2,000 `popen`s inside a chunk
/// Program: nothing; it keeps its descriptors
/// Recorded: the chunk; the commands leave no logs
TEST(ProcessFault, TwoThousandPopens) {
  const RecordLog log = LogWithFault([] {
    TrackMetrics metrics("ttbar");
    { TrackSection section("first"); }
    const int before = OpenDescriptors();
    int sum = 0;
    for (int i = 0; i < 2000; ++i) {
      TrackSection section("popen");
      FILE* command = popen(": && echo 21", "r");
      int number = 0;
      Require(command != nullptr && std::fscanf(command, "%d", &number) == 1 && pclose(command) == 0);
      sum += number;
    }
    Require(OpenDescriptors() == before);
    std::printf("%d\n", sum);
  });
  ASSERT_EQ(log.chunks.size(), 1u);
  EXPECT_EQ(Section(log.chunks[0].sections, "popen").count, 2000);
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [processes]: another instrumented program started inside a chunk
/// Program: nothing
/// Recorded: the chunk here, the other program's in a log of its own
TEST(ProcessFault, AnotherInstrumentedProgramIsStarted) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    TrackMetrics metrics("starts");
    std::fflush(stdout);
    char* arguments[] = {const_cast<char*>(kOtherProgram), nullptr};
    pid_t pid = 0;
    Require(posix_spawn(&pid, kOtherProgram, nullptr, nullptr, arguments, environ) == 0);
    WaitFor(pid, 3);
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 2u);
  const RecordLog& other = LogOf(run.logs, "main");
  EXPECT_EQ(other.process->parent_pid, LogOf(run.logs, "starts").process->pid);
  EXPECT_TRUE(other.end.has_value());
}

/// Fault [processes]: `exec` of another instrumented program inside a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`, so that it counts as lost; the other program's chunks in a log with the next recorder
/// number
TEST(ProcessFault, ExecInsideAChunk) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    RecordChunks(2, "before");
    TrackMetrics metrics("lost");
    std::fflush(stdout);
    execl(kOtherProgram, kOtherProgram, nullptr);
    Require(false);
  });
  EXPECT_EQ(run.child.exit_status, 3);
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 2u);
  const RecordLog& first = LogOf(run.logs, "lost");
  const RecordLog& second = LogOf(run.logs, "main");
  EXPECT_EQ(first.begins.size(), 3u);
  EXPECT_EQ(first.chunks.size(), 2u);
  EXPECT_FALSE(first.end.has_value());
  EXPECT_TRUE(second.end.has_value());
  EXPECT_EQ(second.process->pid, first.process->pid);
  EXPECT_EQ(second.process->recorder, 1);
}

/// Fault [processes]: `vfork` and `exec` inside a chunk, and `vfork` of a child that only ends
/// Program: nothing
/// Recorded: the chunk by the parent, the other program's in a log of its own
TEST(ProcessFault, Vfork) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    {
      TrackMetrics metrics("parent");
      TrackSection section("vfork");
      std::fflush(stdout);
      pid_t pid = vfork();  // NOLINT: what programs do
      if (pid == 0) {
        execl(kOtherProgram, kOtherProgram, nullptr);
        _exit(1);
      }
      WaitFor(pid, 3);
      pid = vfork();  // NOLINT: what programs do
      if (pid == 0) _exit(4);
      WaitFor(pid, 4);
    }
    RecordChunks(1, "after");
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 2u);
  EXPECT_EQ(LogOf(run.logs, "main").chunks.size(), 3u);
  const RecordLog& parent = LogOf(run.logs, "parent");
  EXPECT_EQ(parent.chunks.size(), 2u);
  EXPECT_EQ(Section(ChunkOf(parent, "parent").sections, "vfork").count, 1);
}

/// A program that ends in the middle of a chunk, after two others.
RecordLog LogOfEnd(const std::function<void()>& end, ChildResult* child) {
  const FaultRun run = RunWithFault(NewDirectory(), [&] {
    RecordChunks(2, "done");
    TrackMetrics metrics({"open", "f", 2, 3});
    TrackSection section("ends in here");
    end();
  });
  *child = run.child;
  EXPECT_EQ(run.warning, "");
  EXPECT_EQ(run.logs.size(), 1u);
  if (run.logs.size() != 1) return {};
  EXPECT_TRUE(run.logs[0].malformed.empty());
  EXPECT_EQ(run.logs[0].chunks.size(), 2u);
  EXPECT_EQ(run.logs[0].begins.size(), 3u);
  return run.logs[0];
}

/// Fault [ends]: `exit` in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; it counts in `end.open`
TEST(EndFault, Exit) {
  ChildResult child;
  const RecordLog log = LogOfEnd([] { std::exit(6); }, &child);
  EXPECT_EQ(child.exit_status, 6);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->open, 1);
}

/// Fault [ends]: `quick_exit` in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; it counts in `end.open`
TEST(EndFault, QuickExit) {
  ChildResult child;
  const RecordLog log = LogOfEnd([] { std::quick_exit(6); }, &child);
  EXPECT_EQ(child.exit_status, 6);
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->open, 1);
}

/// Fault [ends]: `_exit` in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; no `end`, so that the process and the chunk count as lost
TEST(EndFault, UnderscoreExit) {
  ChildResult child;
  EXPECT_FALSE(LogOfEnd([] { _exit(6); }, &child).end.has_value());
  EXPECT_EQ(child.exit_status, 6);
}

/// Fault [ends]: `abort` in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; no `end`, so that the process and the chunk count as lost
TEST(EndFault, Abort) {
  ChildResult child;
  EXPECT_FALSE(LogOfEnd([] { std::abort(); }, &child).end.has_value());
  EXPECT_EQ(child.signal, SIGABRT);
}

/// Fault [ends]: `SIGTERM` in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; no `end`, so that the process and the chunk count as lost
TEST(EndFault, Sigterm) {
  ChildResult child;
  EXPECT_FALSE(LogOfEnd([] { raise(SIGTERM); }, &child).end.has_value());
  EXPECT_EQ(child.signal, SIGTERM);
}

/// Fault [ends]: `SIGKILL` in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; no `end`, so that the process and the chunk count as lost
TEST(EndFault, Sigkill) {
  ChildResult child;
  EXPECT_FALSE(LogOfEnd([] { raise(SIGKILL); }, &child).end.has_value());
  EXPECT_EQ(child.signal, SIGKILL);
}

/// Between the exception and the test framework, which would catch it.
void LetNothingOut(const std::function<void()>& function) noexcept { function(); }

/// Fault [ends]: an exception that nobody catches, in a chunk
/// Program: nothing
/// Recorded: the chunk's `begin`; no `end`, so that the process and the chunk count as lost
TEST(EndFault, UncaughtException) {
  ChildResult child;
  const auto throw_it = [] { throw std::string("nobody catches it"); };
  EXPECT_FALSE(LogOfEnd([&] { LetNothingOut(throw_it); }, &child).end.has_value());
  EXPECT_EQ(child.signal, SIGABRT);
}

/// Fault [ends]: threads that are cancelled while they record (`pthread_cancel`)
/// Program: nothing; they are cancelled in its own code, never in a guard
/// Recorded: everything until then
TEST(EndFault, ThreadsThatAreCancelled) {
  const RecordLog log = LogWithFault([] {
    for (int i = 0; i < 20; ++i) {
      pthread_t thread{};
      const auto record = [](void*) -> void* {
        while (true) {
          RecordChunks(1);
          pthread_testcancel();
        }
      };
      Require(pthread_create(&thread, nullptr, record, nullptr) == 0);
      usleep(1000);
      Require(pthread_cancel(thread) == 0);
      void* result = nullptr;
      Require(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    RecordChunks(1, "after");
  });
  EXPECT_TRUE(log.malformed.empty());
  EXPECT_EQ(ChunkOf(log, "after").status, "ok");
  EXPECT_EQ(log.begins.size(), log.chunks.size());
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->chunks, static_cast<std::int64_t>(log.chunks.size()));
  EXPECT_EQ(log.end->dropped, 0);
}

/// Fault [ends]: a chunk that ends after the log did, on a thread that a static destructor waits for
/// Program: nothing
/// Recorded: the chunk's `begin`; it counts in `end.open`, and nothing follows
TEST(EndFault, AChunkThatEndsAfterTheLog) {
  const RecordLog log = LogWithFault([] {
    static std::atomic<bool> is_open{false};
    static std::atomic<bool> is_ending{false};
    struct Joins {
      std::thread thread;
      ~Joins() {
        is_ending = true;
        thread.join();
      }
    };
    static Joins joins;  // made before recording begins: its end comes after the log's
    joins.thread = std::thread([] {
      TrackMetrics metrics("late");
      is_open = true;
      while (!is_ending) std::this_thread::yield();
    });
    while (!is_open) std::this_thread::yield();
  });
  EXPECT_EQ(log.begins.size(), 1u);
  EXPECT_TRUE(log.chunks.empty());
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->open, 1);
}

/// Fault [ends]: a chunk that is open at the end of `main`
/// Program: nothing
/// Recorded: the chunk's `begin`; it counts in `end.open`
TEST(EndFault, AChunkThatIsNeverEnded) {
  const RecordLog log = LogWithFault([] {
    [[maybe_unused]] static TrackMetrics* never_ended = nullptr;
    never_ended = new TrackMetrics("open");
  });
  ASSERT_EQ(log.begins.size(), 1u);
  EXPECT_TRUE(log.chunks.empty());
  ASSERT_TRUE(log.end.has_value());
  EXPECT_EQ(log.end->open, 1);
}

/// Fault [ends]: static initialisers and destructors that use guards
/// Program: nothing
/// Recorded: what initialisers do, and destructors until the log's `end`: those of objects made since recording began
TEST(EndFault, StaticInitialisersAndDestructors) {
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    std::fflush(stdout);
    execl(kOtherProgram, kOtherProgram, nullptr);
    Require(false);
  });
  EXPECT_EQ(run.child.exit_status, 3);
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), 1u);
  EXPECT_EQ(Section(ChunkOf(run.logs[0], "static initialiser").sections, "early").count, 1);
  EXPECT_EQ(ChunkOf(run.logs[0], "main").status, "ok");
  EXPECT_EQ(Section(ChunkOf(run.logs[0], "static destructor").sections, "late").count, 1);
  EXPECT_EQ(run.logs[0].end->chunks, 3);
  EXPECT_EQ(run.logs[0].end->open, 0);
  EXPECT_EQ(run.logs[0].end->dropped, 0);
}

}  // namespace
}  // namespace testing
}  // namespace crema
