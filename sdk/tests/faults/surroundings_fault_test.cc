// Changes to the process from outside: it is stopped, gets another scheduling policy, or loses its file system.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "crema/crema.h"
#include "sdk/tests/clocks.h"
#include "sdk/tests/faults/host_program.h"
#include "sdk/tests/faults/record_chunks.h"
#include "sdk/tests/record_log_reader.h"
#include "sdk/tests/shared_value.h"

namespace crema {
namespace testing {
namespace {

constexpr std::int64_t kSecondNs = 1000000000;
constexpr std::int64_t kMillisecondNs = 1000000;

bool IsStopped(pid_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  std::FILE* file = std::fopen(path, "r");
  char state = '?';
  Require(file != nullptr && std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
  std::fclose(file);
  return state == 'T';
}

/// Another process stops this one for a second. Returns for how long it certainly stood still.
void BeStopped(SharedValue<std::int64_t>* stopped_ns) {
  const pid_t host = getpid();
  const pid_t other = fork();
  if (other == 0) {
    kill(host, SIGSTOP);
    while (!IsStopped(host)) Sleep(kMillisecondNs);
    const std::int64_t since = WallNs();
    Sleep(kSecondNs);
    **stopped_ns = WallNs() - since;
    kill(host, SIGCONT);
    _exit(0);
  }
  int status = -1;
  Require(other > 0 && waitpid(other, &status, 0) == other && status == 0);
}

/// Fault [processes]: the process is stopped for a while (Ctrl-Z, `SIGSTOP`), in a chunk, and goes on
/// Program: nothing
/// Recorded: everything; the time is in the chunk's wall time and in no other, and no sample is made up for it
TEST(SurroundingsFault, ItIsStoppedForAWhile) {
  constexpr std::int64_t kIntervalNs = 10 * kMillisecondNs;
  SharedValue<std::int64_t> stopped_ns;
  const RecordLog log = LogWithFault(
      [&] {
        TrackMetrics metrics("ttbar");
        TrackSection section("stopped");
        BeStopped(&stopped_ns);
      },
      {{"CREMA_INTERVAL", "0.01"}});
  ASSERT_EQ(log.chunks.size(), 1u);
  const ChunkLine& chunk = log.chunks[0];
  const std::int64_t duration_ns = chunk.duration_ns();
  EXPECT_GE(duration_ns, *stopped_ns);
  EXPECT_GE(Section(chunk.sections, "stopped").total_ns, *stopped_ns);
  EXPECT_LE(chunk.cpu_ns.value() + chunk.cpu_wait_ns.value_or(0), duration_ns - *stopped_ns + kMillisecondNs);
  // Each sample stands for an interval in which the process ran; the first may come after the stop.
  const std::int64_t running_ns = log.end->time_ns - log.process->start_ns - *stopped_ns;
  EXPECT_LE(static_cast<std::int64_t>(log.samples.size()), running_ns / kIntervalNs + 2);
  EXPECT_EQ(log.end->dropped, 0);
}

bool OnOneCpu(int policy, int priority) {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return false;
  for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus) && found++ != 0) CPU_CLR(cpu, &cpus);
  }
  sched_param parameters{};
  parameters.sched_priority = priority;
  return sched_setaffinity(0, sizeof cpus, &cpus) == 0 && sched_setscheduler(0, policy, &parameters) == 0;
}

/// Runs two threads that always want the same CPU. Returns what they record.
RecordLog LogOfPolicy(int policy, int priority) {
  return LogWithFault(
      [=] {
        Require(OnOneCpu(policy, priority));
        const auto work = [] {
          for (int i = 0; i < 5; ++i) {
            TrackMetrics metrics("ttbar");
            TrackSection section("burn");
            SpinCpu(20 * kMillisecondNs);
          }
        };
        std::thread other(work);
        work();
        other.join();
      },
      {{"CREMA_INTERVAL", "0.01"}});
}

void ExpectTrueTimes(const RecordLog& log) {
  ASSERT_EQ(log.chunks.size(), 10u);
  EXPECT_EQ(log.end->chunks, 10);
  EXPECT_EQ(log.end->dropped, 0);
  std::int64_t cpu_ns = 0;
  std::int64_t start_ns = log.chunks[0].start_ns;
  std::int64_t stop_ns = 0;
  for (const ChunkLine& chunk : log.chunks) {
    EXPECT_GE(chunk.cpu_ns.value(), 20 * kMillisecondNs);
    EXPECT_LE(chunk.cpu_ns.value() + chunk.cpu_wait_ns.value_or(0), chunk.duration_ns() + kMillisecondNs);
    cpu_ns += chunk.cpu_ns.value();
    start_ns = std::min(start_ns, chunk.start_ns);
    stop_ns = std::max(stop_ns, chunk.stop_ns);
  }
  EXPECT_GE(stop_ns - start_ns + kMillisecondNs, cpu_ns);  // there is one CPU
}

/// Fault [processes]: a program that runs only when nobody else does (`SCHED_IDLE`, `SCHED_BATCH`), on one CPU
/// Program: nothing
/// Recorded: everything
TEST(SurroundingsFault, ItRunsWhenNobodyElseDoes) {
  for (const int policy : {SCHED_IDLE, SCHED_BATCH}) ExpectTrueTimes(LogOfPolicy(policy, 0));
}

/// Fault [processes]: a real-time program (`SCHED_FIFO`, `SCHED_RR`) whose threads never leave its one CPU to others
/// Program: nothing
/// Recorded: everything; samples only when its threads wait: the sampler has the policy of the thread that began it
TEST(SurroundingsFault, ItIsARealTimeProgram) {
  const ChildResult allowed = RunInChild({}, [] { _exit(OnOneCpu(SCHED_FIFO, 1) ? 0 : 1); });
  if (allowed.exit_status != 0) GTEST_SKIP() << "real-time policies are not allowed here";
  for (const int policy : {SCHED_FIFO, SCHED_RR}) ExpectTrueTimes(LogOfPolicy(policy, 1));
}

/// Starts the first process of a new pid namespace, without its own /proc.
void RunInNewPidNamespace(int chunks) {
  if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(1);
  const pid_t first = fork();
  if (first == 0) {
    RecordChunks(chunks, "container");
    std::exit(getpid() == 1 ? 0 : 1);
  }
  int status = -1;
  _exit(first > 0 && waitpid(first, &status, 0) == first && status == 0 ? 0 : 1);
}

/// Fault [processes]: containers of one host name, in all of which the program is process 1
/// Program: nothing
/// Recorded: everything, each in a log of its own, distinguished by `pid_namespace` and `start_ns`
TEST(SurroundingsFault, ItIsTheFirstProcessOfManyContainers) {
  constexpr int kContainers = 30;
  if (RunInChild({}, [] { RunInNewPidNamespace(0); }).exit_status != 0) {
    GTEST_SKIP() << "pid namespaces are not allowed here";
  }
  const FaultRun run = RunWithFault(NewDirectory(), [] {
    pid_t children[kContainers];
    for (pid_t& child : children) {
      child = fork();
      if (child == 0) RunInNewPidNamespace(3);
    }
    for (const pid_t child : children) {
      int status = -1;
      Require(waitpid(child, &status, 0) == child && status == 0);
    }
  });
  EXPECT_EQ(run.warning, "");
  ASSERT_EQ(run.logs.size(), static_cast<std::size_t>(kContainers));
  for (const RecordLog& log : run.logs) {
    EXPECT_EQ(log.process->pid, 1);
    EXPECT_EQ(log.chunks.size(), 3u);
    EXPECT_TRUE(log.end.has_value());
    EXPECT_TRUE(log.malformed.empty());
  }
}

/// Mounts `back` at `front` by bindfs. Returns the pid of bindfs, or 0 if this is not possible.
pid_t Serve(const std::string& back, const std::string& front) {
  struct stat before {};
  struct stat now {};
  umount2(front.c_str(), MNT_DETACH);
  Require(stat(front.c_str(), &before) == 0);
  const char* arguments[] = {"bindfs", "-f", back.c_str(), front.c_str(), nullptr};
  pid_t pid = 0;
  if (posix_spawnp(&pid, "bindfs", nullptr, nullptr, const_cast<char**>(arguments), environ) != 0) return 0;
  while (stat(front.c_str(), &now) != 0 || now.st_dev == before.st_dev) {
    if (waitpid(pid, nullptr, WNOHANG) != 0) return 0;
    Sleep(kMillisecondNs);
  }
  return pid;
}

void EndServer(pid_t pid) { Require(pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, nullptr, 0) == pid); }

/// Fault [disk]: the file system of `CREMA_DIR` goes away in mid-run: its server is killed (FUSE)
/// Program: one warning
/// Recorded: what came before; no `end`, so that the process counts as lost if a chunk was open, else as `unreported`
TEST(SurroundingsFault, ItsFileSystemGoesAway) {
  const std::string back = NewDirectory();
  const std::string front = NewDirectory();
  const ChildResult served = RunInChild({}, [&] {
    const pid_t server = Serve(back, front);
    if (server == 0) _exit(1);
    EndServer(server);
  });
  if (served.exit_status != 0) GTEST_SKIP() << "bindfs is not installed, or not allowed here";
  const FaultRun run = RunWithFault(front + "/records", [&] {
    const pid_t server = Serve(back, front);
    RecordChunks(2);
    EndServer(server);
    RecordChunks(3);
  });
  umount2(front.c_str(), MNT_DETACH);
  EXPECT_NE(run.warning.find("records are lost"), std::string::npos) << run.warning;
  const std::vector<RecordLog> logs = ReadRecordLogs(back + "/records");
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_EQ(logs[0].chunks.size(), 2u);
  EXPECT_FALSE(logs[0].end.has_value());
}

}  // namespace
}  // namespace testing
}  // namespace crema
